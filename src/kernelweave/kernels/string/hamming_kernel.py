"""What kernels that compare words by their number of mismatches share.

    k(x, y) = sum over words u of x and v of y of h(mismatches of u and v)

A family shares its words; its members differ in h. `hamming` says what h is, `gapped` has the
kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.warnings import warn
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.string.hamming import Values, spectrum
from kernelweave.kernels.string.spectrum import LONGEST, MOST_PLACES, SequenceTable, Texts
from kernelweave.sequences.alphabets import Alphabet, as_alphabet

STORES = ["auto", "rows", "table"]


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
        absent = self.columns.absent(X)
        shorter = table.sequences.lengths < self.length
        short = int(np.count_nonzero(shorter if absent is None else shorter & ~absent))
        if short:
            warn(
                f"X: {short} of {table.sequences.n} sequences are shorter than the words of "
                f"{self.length} letters that a kernel compares: its values for them are 0",
                UserWarning,
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

    @property
    def planes(self) -> int:
        """The number of members."""
        return len(self.values)

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

    @property
    @abstractmethod
    def members(self) -> tuple[Member, ...]:
        """The kernels of the family."""

    @property
    def position_weights(self) -> tuple[float, float] | None:
        """Weight of words in the middle, and distance at which it is half; None: all count 1."""
        return None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        if self.both_strands:
            _ = self.alphabet.strand_codes  # refuses alphabets without complement
        if self.store not in STORES:
            raise ValueError(f"{self.kind}: store must be one of {STORES}, not {self.store!r}")

    def _check_length(self, length: int) -> None:
        name, letters = self.kind, len(self.alphabet.letters)
        if not _core.kmers_fit(length, letters):
            raise ValueError(
                f"{name}: there must be fewer than 2^64 possible words, here there are "
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
        columns = choose(self.columns, as_input(X), self.name)
        if len(columns.indices) != 1:
            raise ValueError(f"{self.kind}: columns must pick one column of X")
        return replace(self, columns=columns)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label(member.parameters) for member in self.members)

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
