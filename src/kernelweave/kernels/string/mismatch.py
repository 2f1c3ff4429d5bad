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
    both_strands, store : as for `GappedKmer`
    alphabet, unknown, columns, name : as for `Spectrum`

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
