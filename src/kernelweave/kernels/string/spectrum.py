"""The spectrum and n-gram kernels, which count the k-mers of sequences and texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelweave.common.core import _core
from kernelweave.kernels.parameters import Parameter, as_family, one_of, whole
from kernelweave.kernels.string.base import StringKernel
from kernelweave.model.files.registry import registered
from kernelweave.sequences.alphabets import Alphabet

STORES = ["auto", "rows", "table", "sorted", "hash", "suffix"]
FORMER_STORES = {"trie": "hash"}  # values of `store` of version 0.2, and what replaces them
TABLE_SIZE = 1 << 28  # largest number of k-mers in a table: 2 GB of float64
LONGEST = _core.LONGEST_SUBSTRING  # letters
LONG_STORES = ["auto", "rows", "suffix"]  # for k-mers that do not fit into 64 bits


@dataclass(frozen=True)
class SpectrumQuantity:
    """The dot product of k-mer counts, which the core computes.

    Attributes
    ----------
    k : int
        Length of the k-mers.
    alphabet : Alphabet
        The letters of the sequences.
    both_strands : bool
        Whether a k-mer and its reverse complement count as the same.
    store : str
        How sums over many examples are computed, one of `STORES`.
    """

    k: int
    alphabet: Alphabet
    both_strands: bool
    store: str

    def source(self) -> _core.Source:
        """Return the compiled object that computes the quantity for a pair of examples."""
        letters = len(self.alphabet.letters)
        if not _core.kmers_fit(self.k, letters):
            return _core.substring(letters, [0.0] * (self.k - 1) + [1.0], self.store)
        complement = self.alphabet.strand_codes if self.both_strands else None
        return _core.spectrum(self.k, letters, complement, self.store)


@registered("Spectrum")
@dataclass(frozen=True)
class Spectrum(StringKernel):
    """Spectrum kernel: the dot product of k-mer counts (Leslie, Eskin and Noble, 2002).

    k-mers are counted at all positions. k-mers with an unknown letter are not counted.

    Parameters
    ----------
    k : int, or a sequence of ints, which makes a family
        Length of the k-mers.
    both_strands : bool
        Whether a k-mer and its reverse complement count as the same.
    store : {"auto", "rows", "table", "sorted", "hash", "suffix"}
        How sums of kernel values over many examples are computed: from each value ("rows"), from
        one weight per k-mer in a data structure of that name (see
        `kernelweave.sequences.weight_stores`), or by the cheaper of both ("auto"). k-mers
        that do not fit into 64 bits (of DNA for k > 31, of proteins for k > 14, of bytes for
        k > 8) are served by "suffix" and "rows", without `both_strands`.
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> from kernelweave.kernels import Spectrum
    >>> sequences = ["GATTACA", "TGTAATC", "CCCCCCC"]
    >>> print(Spectrum(2)(sequences))
    [[ 6.  2.  0.]
     [ 2.  6.  0.]
     [ 0.  0. 36.]]
    >>> print(Spectrum(2, both_strands=True)(sequences))
    [[ 6.  6.  0.]
     [ 6.  6.  0.]
     [ 0.  0. 36.]]
    """

    k: Parameter = 3
    both_strands: bool = field(default=False, kw_only=True)
    store: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", as_family(self.kind, self.parameter, self.k))
        for k in self.lengths:
            whole(self.kind, self.parameter, k, 1, LONGEST)
        if self.both_strands:
            _ = self.alphabet.strand_codes  # raises for alphabets without complement
        self._check_store()

    def _check_store(self) -> None:
        name, letters = self.kind, len(self.alphabet.letters)
        if isinstance(self.store, str):
            object.__setattr__(self, "store", FORMER_STORES.get(self.store, self.store))
        one_of(name, "store", self.store, STORES)
        if self.store == "suffix" and self.both_strands:
            raise ValueError(
                f"{name}: store='suffix' does not support both_strands=True; take store='auto'"
            )
        if not _core.kmers_fit(max(self.lengths), letters):
            self._check_long()
        if self.store == "table" and letters ** max(self.lengths) > TABLE_SIZE:
            raise ValueError(
                f"{name}: store='table' supports 2^28 different k-mers, but there are "
                f"{letters}^{max(self.lengths)}; take store='hash'"
            )

    def _check_long(self) -> None:
        """Raise ValueError for options that require k-mers which fit into 64 bits."""
        name, letters, k = self.kind, len(self.alphabet.letters), max(self.lengths)
        if self.store not in LONG_STORES:
            raise ValueError(
                f"{name}: store={self.store!r} requires fewer than 2^64 possible k-mers, but there "
                f"are {letters}^{k}; take store='suffix' or 'auto'"
            )
        if self.both_strands:
            raise ValueError(
                f"{name}: both_strands=True requires fewer than 2^64 possible k-mers, but there "
                f"are {letters}^{k}; take a smaller {self.parameter}"
            )

    @property
    def parameter(self) -> str:
        """The name of k in messages and in the names of kernels."""
        return "k"

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of the k-mers of each member."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label({self.parameter: k}) for k in self.lengths)

    @property
    def is_family(self) -> bool:
        return isinstance(self.k, tuple)

    @property
    def quantities(self) -> tuple[SpectrumQuantity, ...]:
        """The dot products of k-mer counts that the core computes, one for each k."""
        return tuple(
            SpectrumQuantity(k, self.alphabet, self.both_strands, self.store) for k in self.lengths
        )


@registered("NGram")
@dataclass(frozen=True)
class NGram(Spectrum):
    """n-gram kernel: the dot product of the counts of n consecutive bytes (Damashek, 1995).

    Parameters
    ----------
    k : int, or a sequence of ints, which makes a family
        Length n of the n-grams.
    both_strands, store, unknown, name : as for `Spectrum`
    alphabet : "bytes", or as for `Spectrum`
        By default all bytes count, including spaces and punctuation.
    columns : the column of texts, if X has several

    Examples
    --------
    >>> from kernelweave.kernels import NGram
    >>> print(NGram(3)(["the cat", "the hat", "a dog"]))
    [[5. 2. 0.]
     [2. 5. 0.]
     [0. 0. 3.]]
    """

    alphabet: Parameter = field(default="bytes", kw_only=True)

    @property
    def parameter(self) -> str:
        return "n"
