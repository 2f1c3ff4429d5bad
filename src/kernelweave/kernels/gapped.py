"""Kernels that compare all words of two sequences by their number of mismatches.

    k(x, y) = sum over words u of x and v of y of h(mismatches of u and v)

A family shares its words; its members differ in h. `hamming` says what h is.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from kernelweave.alphabets import Alphabet, as_alphabet
from kernelweave.core import _core
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.columns import Columns, choose, found
from kernelweave.kernels.hamming import FILTERS, Values, cut, mismatch_values, spectrum
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.parameters import frozen, label, members, whole
from kernelweave.kernels.program import Expression, Layout
from kernelweave.kernels.spectrum import LONGEST, MOST_PLACES, SequenceTable, Texts
from kernelweave.numeric import as_number, is_whole
from kernelweave.stored import stored

STORES = ["auto", "rows", "table"]
HEAVIEST = 255  # the largest weight of a word in the middle


class Member(NamedTuple):
    """One kernel of a family.

    Attributes
    ----------
    length : letters of a word.
    values : what words with 0, 1, ... mismatches count.
    parameters : what tells it from the others.
    """

    length: int
    values: Values
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Words(Texts):
    """The view of these kernels: one column of sequences, in which words of `length` are read."""

    length: int

    def table(self, X: Any, training: bool) -> SequenceTable:
        """Return the sequences in X; warn of those that are too short to have a word."""
        table = super().table(X, training)
        short = int(np.count_nonzero(table.sequences.lengths < self.length))
        if short:
            warnings.warn(
                f"X: {short} of {table.sequences.n} sequences are shorter than the words of "
                f"{self.length} letters that a kernel compares: its values for them are 0",
                UserWarning,
                stacklevel=2,
            )
        return table


@dataclass(frozen=True)
class HammingQuantity:
    """What the core computes for members with words of one length; equal ones are shared."""

    length: int
    values: tuple[Values, ...]
    alphabet: Alphabet
    both_strands: bool
    centre: tuple[float, float] | None
    store: str

    def source(self) -> _core.Source:
        """Return the quantity for the core."""
        letters = len(self.alphabet.letters)
        peak, half_life = self.centre or (0.0, 1.0)
        return _core.hamming(
            self.length,
            letters,
            self.alphabet.strand_codes if self.both_strands else None,
            [float(value) for values in self.values for value in values],
            [float(value) for values in self.values for value in spectrum(values, letters)],
            peak,
            half_life,
            self.store,
        )


@dataclass(frozen=True)
class HammingKernel(OnColumns):
    """What these kernels share; subclasses say which members there are."""

    both_strands: bool = field(default=False, kw_only=True)
    store: str = field(default="auto", kw_only=True)
    alphabet: Any = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)
    columns: Any = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def members(self) -> tuple[Member, ...]:
        """The kernels of the family."""

    @property
    def position_weights(self) -> tuple[float, float] | None:
        """Weight of words in the middle, and distance at which it is half; None: all count 1."""
        return None

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        object.__setattr__(self, "columns", frozen(self.columns))
        if self.both_strands:
            _ = self.alphabet.strand_codes  # refuses alphabets without complement
        if self.store not in STORES:
            raise ValueError(f"{name}: store must be one of {STORES}, not {self.store!r}")

    def _check_length(self, length: int) -> None:
        name, letters = type(self).__name__, len(self.alphabet.letters)
        if not _core.kmers_fit(length, letters):
            raise ValueError(
                f"{name}: there must be fewer than 2^63 possible words, here there are "
                f"{letters}^{length}"
            )
        if self.store == "table" and letters**length > MOST_PLACES:
            fits = max(n for n in range(1, LONGEST) if letters**n <= MOST_PLACES)
            raise ValueError(
                f"{name}: store='table' would take {8 * letters**length / 2**30:,.0f} GB for "
                f"{letters}^{length} words, more than {8 * MOST_PLACES / 2**30:.0f} GB; take words "
                f"of at most {fits} letters, or store='auto'"
            )

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        columns = choose(self.columns, as_input(X))
        if len(columns.indices) != 1:
            raise ValueError(f"{type(self).__name__}: columns must pick one column of X")
        return replace(self, columns=columns)

    @property
    def labels(self) -> tuple[str, ...]:
        name = type(self).__name__
        return tuple(label(name, member.parameters, self.columns) for member in self.members)

    @property
    def may_vanish(self) -> bool:
        return True

    @property
    def quantities(self) -> tuple[HammingQuantity, ...]:
        """What the core computes, one for each length of words."""
        by_length: dict[int, list[Values]] = {}
        for member in self.members:
            by_length.setdefault(member.length, []).append(member.values)
        return tuple(
            HammingQuantity(
                length,
                tuple(values),
                self.alphabet,
                self.both_strands,
                self.position_weights,
                self.store,
            )
            for length, values in by_length.items()
        )

    def expressions(self, layout: Layout) -> list[Expression]:
        columns = found(self, Columns)
        planes: dict[int, int] = {}  # the next plane of each length
        for quantity in self.quantities:
            view = Words(columns, self.alphabet, self.unknown, quantity.length)
            planes[quantity.length] = layout.source(quantity, view, len(quantity.values))
        expressions: list[Expression] = []
        for member in self.members:
            expressions.append((("copy", planes[member.length]),))
            planes[member.length] += 1
        return expressions


@stored("GappedKmer")
@dataclass(frozen=True)
class GappedKmer(HammingKernel):
    """Words of l letters that agree in k of them (gkm-SVM: Ghandi et al., 2014; Lee, 2016).

    The sum over words u of x, v of y (and of its other strand) of h(mismatches of u and v).

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
    alphabet, unknown, columns : as for all kernels on sequences.

    Sequences for l, k, d or filter, of equal length, make a family.
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
                warnings.warn(
                    f"{label('GappedKmer', member.parameters, None)} is not positive semidefinite: "
                    f"its smallest eigenvalue on words is {share:.1g} of the largest, so that "
                    "certificates and self-similarities may fail; with d=None there is none",
                    UserWarning,
                    stacklevel=4,
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
    it; the kernel is the dot product of these numbers.

    Parameters
    ----------
    k : letters of a word.
    m : mismatches that are allowed.
    both_strands, store, alphabet, unknown, columns : as for `GappedKmer`.

    Sequences for k or m, of equal length, make a family.
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
