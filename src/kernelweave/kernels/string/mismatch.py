"""The mismatch kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernelweave.kernels.parameters import Parameter, Parameters, as_family, members, whole
from kernelweave.kernels.string.hamming import mismatch_values
from kernelweave.kernels.string.hamming_kernel import HammingKernel, HammingMember
from kernelweave.kernels.string.spectrum import LONGEST
from kernelweave.model.files.registry import registered


@registered("Mismatch")
@dataclass(frozen=True)
class Mismatch(HammingKernel):
    """Mismatch kernel: k-mers with up to m mismatches (Leslie et al., 2004).

    The features of a sequence are indexed by all possible k-mers. A feature is the number of k-mers
    of the sequence that are within m mismatches of its index. The kernel is the dot product of the
    features. Sequences for k or m, of equal length, make a family.

    Parameters
    ----------
    k : int, or a sequence of ints
        Length of the k-mers.
    m : int, or a sequence of ints
        Largest number of mismatches, at most k.
    both_strands : bool
        Whether words of the reverse complement are compared, too.
    store : {"auto", "rows", "table"}
        How sums of kernel values over many examples are computed: from each value ("rows"), from a
        table with a weight for every possible word ("table"), or by the cheaper of both ("auto").
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> from kernelweave.kernels import Mismatch, Spectrum
    >>> sequences = ["GATTACA", "GATTTCA", "CCCCCCC"]
    >>> print(Spectrum(5)(sequences))
    [[3. 0. 0.]
     [0. 3. 0.]
     [0. 0. 9.]]
    >>> print(Mismatch(5, 1)(sequences))
    [[ 48.  12.   0.]
     [ 12.  48.   0.]
     [  0.   0. 144.]]
    """

    k: Parameter = 5
    m: Parameter = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("k", "m"):
            object.__setattr__(self, name, as_family("Mismatch", name, getattr(self, name)))
        for one in self._parameters:
            self._check_length(whole("Mismatch", "k", one["k"], 1, LONGEST))
            whole("Mismatch", "m, which is at most k,", one["m"], 0, one["k"])

    @property
    def _parameters(self) -> list[Parameters]:
        return members("Mismatch", {"k": self.k, "m": self.m})

    @property
    def is_family(self) -> bool:
        return isinstance(self.k, tuple) or isinstance(self.m, tuple)

    @property
    def members(self) -> tuple[HammingMember, ...]:
        letters = len(self.alphabet.letters)
        return tuple(_mismatch(one["k"], one["m"], letters) for one in self._parameters)


@cache
def _mismatch(k: int, m: int, letters: int) -> HammingMember:
    return HammingMember(k, mismatch_values(k, m, letters), {"k": k, "m": m})
