"""Kernels on the k-mers of sequences and texts of any length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.numbers import is_whole
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.string.string_columns import read_column, warn_of_unknown
from kernelweave.model.files.registry import stored
from kernelweave.sequences import Sequences
from kernelweave.sequences.alphabets import Alphabet, as_alphabet

STORES = ["auto", "rows", "table", "sorted", "hash", "trie", "suffix"]
MOST_PLACES = 1 << 28  # of a table
LONGEST = _core.LONGEST_KMER


@dataclass(frozen=True)
class Texts:
    """The view of a spectrum kernel: one column of sequences of any length."""

    columns: Columns
    alphabet: Alphabet
    unknown: str

    def table(self, X: Any, training: bool) -> SequenceTable:
        """Return the sequences in X."""
        sequences = read_column(X, self.columns, self.alphabet, self.unknown)
        if training:
            warn_of_unknown(sequences)
        return SequenceTable(sequences)


@stored("SequenceTable")
@dataclass(frozen=True, eq=False)
class SequenceTable:
    """Sequences of any length, whose k-mers the core reads off as they are."""

    sequences: Sequences

    def take(self, index: np.ndarray) -> SequenceTable:
        return SequenceTable(self.sequences.take(index))

    def reference(self) -> SequenceTable:
        return self

    def add_to(self, side: _core.Side) -> None:
        _core.add_sequences(side, self.sequences.packed)


@dataclass(frozen=True)
class SpectrumQuantity:
    """What the core computes for a spectrum kernel; equal ones are shared."""

    k: int
    alphabet: Alphabet
    both_strands: bool
    store: str

    def source(self) -> _core.Source:
        """Return the quantity for the core."""
        partner = self.alphabet.strand_codes if self.both_strands else None
        return _core.spectrum(self.k, len(self.alphabet.letters), partner, self.store)


@stored("Spectrum")
@dataclass(frozen=True)
class Spectrum(OnColumns):
    """How often each k-mer occurs in both: sum_u #u(x) #u(y) (Leslie, Eskin and Noble, 2002).

    K-mers are counted at all positions; those with an unknown letter do not count.

    Parameters
    ----------
    k : length of the k-mers, or a sequence of lengths, which makes a family.
    both_strands : whether a k-mer and its reverse complement are the same.
    store : {"auto", "rows", "table", "sorted", "hash", "trie", "suffix"}, how sums over many
        examples are computed.
    alphabet, unknown, columns, name : as for `WeightedDegree`.

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

    k: Any = 3
    both_strands: bool = field(default=False, kw_only=True)
    store: str = field(default="auto", kw_only=True)
    alphabet: Any = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        several = np.ndim(self.k) == 1
        found = tuple(self.k) if several else (self.k,)
        if not found or not all(is_whole(k) and self._countable(k) for k in found):
            raise ValueError(
                f"{type(self).__name__}: {self.parameter} must be an integer >= 1 or a sequence of "
                f"them, at most {LONGEST} and with fewer than 2^64 possible k-mers, not {self.k!r}"
            )
        object.__setattr__(self, "k", tuple(map(int, found)) if several else int(self.k))
        if self.both_strands:
            _ = self.alphabet.strand_codes  # refuses alphabets without complement
        self._check_store()

    def _check_store(self) -> None:
        name, letters = type(self).__name__, len(self.alphabet.letters)
        if self.store not in STORES:
            raise ValueError(f"{name}: store must be one of {STORES}, not {self.store!r}")
        if self.store == "suffix" and self.both_strands:
            raise ValueError(f"{name}: store='suffix' cannot go with both_strands=True")
        if self.store == "table" and letters ** max(self.lengths) > MOST_PLACES:
            raise ValueError(
                f"{name}: store='table' has room for 2^28 different k-mers, here there can be "
                f"{letters}^{max(self.lengths)}; take 'hash'"
            )

    def _countable(self, k: int) -> bool:
        return 1 <= k <= LONGEST and _core.kmers_fit(int(k), len(self.alphabet.letters))

    @property
    def parameter(self) -> str:
        """What names and messages call k."""
        return "k"

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of the k-mers of each member."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = choose(self.columns, X, self.name)
        if len(columns.indices) != 1:
            raise ValueError(f"{type(self).__name__}: columns must pick one column of X")
        return replace(self, columns=columns)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label({self.parameter: k}) for k in self.lengths)

    @property
    def is_family(self) -> bool:
        return isinstance(self.k, tuple)

    @property
    def quantities(self) -> tuple[SpectrumQuantity, ...]:
        """What the core computes, one for each member."""
        return tuple(
            SpectrumQuantity(k, self.alphabet, self.both_strands, self.store) for k in self.lengths
        )

    def expressions(self, layout: Layout) -> list[Expression]:
        view = Texts(found(self, Columns), self.alphabet, self.unknown)
        return [(("copy", layout.source(quantity, view)),) for quantity in self.quantities]


@stored("NGram")
@dataclass(frozen=True)
class NGram(Spectrum):
    """How often each run of n bytes occurs in both texts (Damashek, 1995).

    Parameters
    ----------
    k : the length n of the runs, or a sequence of lengths, which makes a family.
    store : as for `Spectrum`.
    alphabet : "bytes" by default: all letters, spaces and punctuation count.
    columns : the column of texts.

    Examples
    --------
    >>> from kernelweave.kernels import NGram
    >>> print(NGram(3)(["the cat", "the hat", "a dog"]))
    [[5. 2. 0.]
     [2. 5. 0.]
     [0. 0. 3.]]
    """

    alphabet: Any = field(default="bytes", kw_only=True)

    @property
    def parameter(self) -> str:
        return "n"
