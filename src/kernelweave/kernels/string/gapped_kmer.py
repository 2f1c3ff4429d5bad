"""The gapped k-mer kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from kernelweave.common.numbers import as_number
from kernelweave.common.warnings import warn
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.parameters import (
    Parameter,
    Parameters,
    as_family,
    label,
    members,
    whole,
)
from kernelweave.kernels.string.hamming import FILTERS, cut, spectrum
from kernelweave.kernels.string.hamming_kernel import HammingKernel, HammingMember
from kernelweave.kernels.string.spectrum import LONGEST
from kernelweave.model.files.registry import registered

LARGEST_WEIGHT = 255  # largest weight of a word at the centre, as in LS-GKM (8 bits)


@registered("GappedKmer")
@dataclass(frozen=True)
class GappedKmer(HammingKernel):
    """Gapped k-mer kernel of gkm-SVM (Ghandi et al., 2014) and LS-GKM (Lee, 2016).

    k(x, y) is the sum of h(number of mismatches of u and v) over the words u of x and v of y of
    length l. The function h depends on `filter`. Sequences for l, k, d or filter, of equal length,
    make a family.

    Parameters
    ----------
    l : int, or a sequence of ints
        Length of the words.
    k : int, or a sequence of ints
        Number of letters of a word that a gapped k-mer compares, at most l.
    d : int or None, or a sequence of them
        Word pairs with more than d mismatches are ignored; None for no limit. With a limit the
        kernel need not be positive semidefinite. The filter "count", and "truncated" for most l
        and k, ignore pairs with more than l - k mismatches in any case.
    filter : {"truncated", "full", "count"}, or a sequence of them
        The function h. "count": the number of gapped k-mers that two words share. "full": estimates
        word counts from the counts of gapped k-mers and takes the dot product of the estimates.
        "truncated": as "full", but an estimate uses only words whose coefficient is positive.
    both_strands : bool
        Whether words of the reverse complement are compared, too.
    centre : (M, H) or None
        Weights of words by their position, as in LS-GKM: M in the middle of a sequence, halved with
        every H letters of distance and rounded up, at least 1. None for equal weights.
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

    Warns
    -----
    UserWarning
        If `d` makes the kernel indefinite.

    Examples
    --------
    >>> from kernelweave.kernels import GappedKmer
    >>> sequences = ["GATTACAGATT", "GATTTCAGATT", "CCCCCCCCCCC"]
    >>> kernel = GappedKmer(l=6, k=4, filter="count", both_strands=False)
    >>> print(kernel(sequences))
    [[ 90.  40.   0.]
     [ 40.  90.   0.]
     [  0.   0. 540.]]
    """

    l: Parameter = 11  # noqa: E741  # the name in all papers
    k: Parameter = 7
    d: Parameter = None
    filter: Parameter = "truncated"
    both_strands: bool = field(default=True, kw_only=True)
    centre: Parameter = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("l", "k", "d", "filter"):
            object.__setattr__(self, name, as_family("GappedKmer", name, getattr(self, name)))
        object.__setattr__(self, "centre", self._checked_centre())
        for one in self._parameters:
            check = partial(whole, "GappedKmer")
            self._check_length(check("l", one["l"], 1, LONGEST))
            check("k, which is at most l,", one["k"], 1, one["l"])
            if one["d"] is not None:
                check("d, which is at most l,", one["d"], 0, one["l"])
            if one["filter"] not in FILTERS:
                raise ValueError(
                    f"GappedKmer: filter must be one of {list(FILTERS)}, got {one['filter']!r}"
                )
        if not isinstance(self.columns, Columns):  # `resolve` would repeat the warning
            self._warn_if_indefinite()

    @property
    def _parameters(self) -> list[Parameters]:
        names = {"l": self.l, "k": self.k, "d": self.d, "filter": self.filter}
        return members("GappedKmer", names)

    def _checked_centre(self) -> tuple[float, float] | None:
        if self.centre is None:
            return None
        numbers = tuple(map(as_number, self.centre)) if np.ndim(self.centre) == 1 else ()
        if len(numbers) != 2 or not (1 <= numbers[0] <= LARGEST_WEIGHT and 0 < numbers[1] < np.inf):
            raise ValueError(
                f"GappedKmer: centre must be None or (M, H), a weight from 1 to {LARGEST_WEIGHT} "
                f"and a distance > 0, got {self.centre!r}"
            )
        return float(numbers[0]), float(numbers[1])

    def _warn_if_indefinite(self) -> None:
        for member in self.members if self.d is not None else ():
            eigenvalues = spectrum(member.values, len(self.alphabet.letters))
            if min(eigenvalues) < 0:
                ratio = float(min(eigenvalues) / max(map(abs, eigenvalues)))
                warn(
                    f"{label('GappedKmer', member.parameters, None)} is not positive semidefinite: "
                    f"its smallest eigenvalue on words is {ratio:.1g} of the largest, so that "
                    "duality gaps may be invalid and k(x, x) negative; d=None avoids this",
                    UserWarning,
                )

    @property
    def is_family(self) -> bool:
        return any(isinstance(value, tuple) for value in (self.l, self.k, self.d, self.filter))

    @property
    def position_weights(self) -> tuple[float, float] | None:
        return self.centre

    @property
    def members(self) -> tuple[HammingMember, ...]:
        letters = len(self.alphabet.letters)
        return tuple(_gapped(*one.values(), letters) for one in self._parameters)


@cache
def _gapped(length: int, k: int, d: int | None, kind: str, letters: int) -> HammingMember:
    values = cut(FILTERS[kind](length, k, letters), d)
    parameters: Parameters = {"l": length, "k": k}
    parameters |= {} if d is None else {"d": d}
    parameters |= {} if kind == "truncated" else {"filter": kind}
    return HammingMember(length, values, parameters)
