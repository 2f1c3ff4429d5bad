"""Gapped k-mers and mismatch kernels: words that need not be equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from kernelweave.common.numbers import as_number, is_whole
from kernelweave.common.warnings import warn
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.parameters import label, members, whole
from kernelweave.kernels.string.hamming import FILTERS, cut, mismatch_values, spectrum
from kernelweave.kernels.string.hamming_kernel import HammingKernel, Member
from kernelweave.kernels.string.spectrum import LONGEST
from kernelweave.model.files.registry import stored

HEAVIEST = 255  # the largest weight of a word in the middle


@stored("GappedKmer")
@dataclass(frozen=True)
class GappedKmer(HammingKernel):
    """Words of l letters that agree in k of them (gkm-SVM: Ghandi et al., 2014; Lee, 2016).

    The sum over words u of x, v of y (and of its other strand) of h(mismatches of u and v).
    Sequences for l, k, d or filter, of equal length, make a family.

    Parameters
    ----------
    l : letters of a word.
    k : letters of it that a gapped k-mer reads.
    d : words with more mismatches count nothing. None: no such bound, the only choice for which
        the kernel is positive semidefinite for certain. Filter "count", and "truncated" for most
        l and k, count up to l - k mismatches in any case.
    filter : {"truncated", "full", "count"}. "count": the gapped k-mers that two words share.
        "full": words are estimated from the counts of gapped k-mers, and those estimates compared.
        "truncated": the same with a filter that ends where it would become negative.
    both_strands : whether words of either strand are compared.
    centre : (M, H): words in the middle of a sequence weigh M, words H letters away half of it;
        None: all weigh the same.
    store : {"auto", "rows", "table"}: how sums over many examples are computed, as pairs of
        sequences ("rows") or from a table of all words.
    alphabet, unknown, columns, name : as for `WeightedDegree`.

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

    l: Any = 11  # noqa: E741  # the name in all papers
    k: Any = 7
    d: Any = None
    filter: Any = "truncated"
    both_strands: bool = field(default=True, kw_only=True)
    centre: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("l", "k", "d", "filter"):
            object.__setattr__(self, name, _frozen("GappedKmer", name, getattr(self, name)))
        object.__setattr__(self, "centre", self._checked_centre())
        for one in self._parameters:
            check = partial(whole, "GappedKmer")
            self._check_length(check("l", one["l"], 1, LONGEST))
            check("k, which is at most l,", one["k"], 1, one["l"])
            if one["d"] is not None:
                check("d, which is at most l,", one["d"], 0, one["l"])
            if one["filter"] not in FILTERS:
                raise ValueError(
                    f"GappedKmer: filter must be one of {list(FILTERS)}, not {one['filter']!r}"
                )
        if not isinstance(self.columns, Columns):  # a kernel that was resolved has warned before
            self._warn_of_negative_eigenvalues()

    @property
    def _parameters(self) -> list[dict[str, Any]]:
        names = {"l": self.l, "k": self.k, "d": self.d, "filter": self.filter}
        return members("GappedKmer", names)

    def _checked_centre(self) -> tuple[float, float] | None:
        if self.centre is None:
            return None
        numbers = tuple(map(as_number, self.centre)) if np.ndim(self.centre) == 1 else ()
        if len(numbers) != 2 or not (1 <= numbers[0] <= HEAVIEST and 0 < numbers[1] < np.inf):
            raise ValueError(
                f"GappedKmer: centre must be None or (M, H), a weight from 1 to {HEAVIEST} and a "
                f"distance > 0, not {self.centre!r}"
            )
        return float(numbers[0]), float(numbers[1])

    def _warn_of_negative_eigenvalues(self) -> None:
        for member in self.members if self.d is not None else ():
            eigenvalues = spectrum(member.values, len(self.alphabet.letters))
            if min(eigenvalues) < 0:
                share = float(min(eigenvalues) / max(map(abs, eigenvalues)))
                warn(
                    f"{label('GappedKmer', member.parameters, None)} is not positive semidefinite: "
                    f"its smallest eigenvalue on words is {share:.1g} of the largest, so that "
                    "certificates and self-similarities may fail; with d=None there is none",
                    UserWarning,
                )

    @property
    def is_family(self) -> bool:
        return any(isinstance(value, tuple) for value in (self.l, self.k, self.d, self.filter))

    @property
    def position_weights(self) -> tuple[float, float] | None:
        weights: tuple[float, float] | None = self.centre
        return weights

    @property
    def members(self) -> tuple[Member, ...]:
        letters = len(self.alphabet.letters)
        return tuple(_gapped(*one.values(), letters) for one in self._parameters)


@stored("Mismatch")
@dataclass(frozen=True)
class Mismatch(HammingKernel):
    """Words of k letters with up to m mismatches (Leslie et al., 2004).

    A sequence has, for each word there can be, the number of its own words within m mismatches of
    it; the kernel is the dot product of these numbers. Sequences for k or m, of equal length, make
    a family.

    Parameters
    ----------
    k : letters of a word.
    m : mismatches that are allowed.
    both_strands, store, alphabet, unknown, columns, name : as for `GappedKmer`.

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

    k: Any = 5
    m: Any = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("k", "m"):
            object.__setattr__(self, name, _frozen("Mismatch", name, getattr(self, name)))
        for one in self._parameters:
            self._check_length(whole("Mismatch", "k", one["k"], 1, LONGEST))
            whole("Mismatch", "m, which is at most k,", one["m"], 0, one["k"])

    @property
    def _parameters(self) -> list[dict[str, Any]]:
        return members("Mismatch", {"k": self.k, "m": self.m})

    @property
    def is_family(self) -> bool:
        return isinstance(self.k, tuple) or isinstance(self.m, tuple)

    @property
    def members(self) -> tuple[Member, ...]:
        letters = len(self.alphabet.letters)
        return tuple(_mismatch(one["k"], one["m"], letters) for one in self._parameters)


@cache
def _gapped(length: int, k: int, d: int | None, kind: str, letters: int) -> Member:
    values = cut(FILTERS[kind](length, k, letters), d)
    parameters: dict[str, Any] = {"l": length, "k": k}
    parameters |= {} if d is None else {"d": d}
    parameters |= {} if kind == "truncated" else {"filter": kind}
    return Member(length, values, parameters)


@cache
def _mismatch(k: int, m: int, letters: int) -> Member:
    return Member(k, mismatch_values(k, m, letters), {"k": k, "m": m})


def _frozen(kernel: str, name: str, value: Any) -> Any:
    """Return a parameter, or the tuple of those of a family."""
    if not isinstance(value, list | tuple | range | np.ndarray):
        return int(value) if is_whole(value) else value
    if len(value) == 0:
        raise ValueError(f"{kernel}: {name} is an empty sequence; a family has at least one member")
    return tuple(int(one) if is_whole(one) else one for one in value)
