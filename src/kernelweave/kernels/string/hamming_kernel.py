"""The base class of kernels that compare words by their number of mismatches.

    k(x, y) = sum over words u of x and v of y of h(number of mismatches of u and v)

One object may describe several kernels (a family): they read the same sequences and differ in the
length of the words or in h, which the module `hamming` computes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.types import Tabular
from kernelweave.common.warnings import warn
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.parameters import Parameters, one_of
from kernelweave.kernels.string.base import StringKernel
from kernelweave.kernels.string.hamming import Values, spectrum
from kernelweave.kernels.string.spectrum import LONGEST, TABLE_SIZE
from kernelweave.kernels.string.string_columns import SequenceTable, Texts
from kernelweave.sequences.alphabets import Alphabet

STORES = ["auto", "rows", "table"]


class HammingMember(NamedTuple):
    """One kernel of a family.

    Attributes
    ----------
    length : int
        Length l of the words.
    values : tuple of l + 1 fractions
        h(0), ..., h(l): contribution of two words with 0, ..., l mismatches.
    parameters : dict
        The parameters that distinguish the kernel by name.
    """

    length: int
    values: Values
    parameters: Parameters


@dataclass(frozen=True)
class Words(Texts):
    """One column of sequences, from which kernels read words of one length."""

    length: int

    def table(self, X: Tabular, training: bool) -> SequenceTable:
        """Return the sequences of X; warn if some are shorter than the words."""
        table = super().table(X, training)
        absent = self.columns.absent(X)
        shorter = table.sequences.lengths < self.length
        short = int(np.count_nonzero(shorter if absent is None else shorter & ~absent))
        if short:
            warn(
                f"X: {short} of {table.sequences.n} sequences are shorter than {self.length} "
                "letters, the length of the words of a kernel; its values for them are 0",
                UserWarning,
            )
        return table


@dataclass(frozen=True)
class HammingQuantity:
    """Kernels with words of one length, which the compiled core computes together.

    Attributes
    ----------
    length : int
        Length l of the words.
    values : tuple of tuples of l + 1 fractions
        For each kernel, the contributions h(0), ..., h(l) of two words with 0, ..., l mismatches.
    alphabet : Alphabet
        The letters of the sequences.
    both_strands : bool
        Whether words of the reverse complement are compared, too.
    centre : (M, H) or None
        Weight M of words in the middle of a sequence, and distance H at which it is halved; None if
        all weights are 1.
    store : {"auto", "rows", "table"}
        How sums over many examples are computed: from each value ("rows"), from a table of weights
        of all words ("table"), or by the cheaper of both ("auto").
    """

    length: int
    values: tuple[Values, ...]
    alphabet: Alphabet
    both_strands: bool
    centre: tuple[float, float] | None
    store: str

    @property
    def planes(self) -> int:
        """Number of values for each pair of examples: one per kernel."""
        return len(self.values)

    def source(self) -> _core.Source:
        """Return the compiled object that computes the quantity for a pair of examples."""
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
class HammingKernel(StringKernel):
    """A family of kernels that compare words by their number of mismatches."""

    both_strands: bool = field(default=False, kw_only=True)
    store: str = field(default="auto", kw_only=True)

    @property
    @abstractmethod
    def members(self) -> tuple[HammingMember, ...]:
        """The kernels of the family."""

    @property
    def position_weights(self) -> tuple[float, float] | None:
        """Weight of words at the centre, and distance at which it is halved; None if all are 1."""
        return None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.both_strands:
            _ = self.alphabet.strand_codes  # raises for alphabets without complement
        one_of(self.kind, "store", self.store, STORES)

    def _check_length(self, length: int) -> None:
        name, letters = self.kind, len(self.alphabet.letters)
        if not _core.kmers_fit(length, letters):
            raise ValueError(
                f"{name}: words of {length} letters have {letters}^{length} possible values, but "
                "fewer than 2^64 are supported; take shorter words"
            )
        if self.store == "table" and letters**length > TABLE_SIZE:
            fits = max(n for n in range(1, LONGEST) if letters**n <= TABLE_SIZE)
            raise ValueError(
                f"{name}: store='table' would take {8 * letters**length / 2**30:,.0f} GB for "
                f"{letters}^{length} words, more than {8 * TABLE_SIZE / 2**30:.0f} GB; take words "
                f"of at most {fits} letters, or store='auto'"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        centre = {"centre": self.position_weights}
        return tuple(self.label(member.parameters | centre) for member in self.members)

    @property
    def may_vanish(self) -> bool:
        return True

    @property
    def quantities(self) -> tuple[HammingQuantity, ...]:
        """The kernels in groups of equal word length, which the core computes together."""
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
        # The next plane (value of each pair of examples) of each length of words.
        planes: dict[int, int] = {}
        for quantity in self.quantities:
            view = Words(columns, self.alphabet, self.unknown, quantity.length)
            planes[quantity.length] = layout.source(quantity, view, quantity.planes)
        expressions: list[Expression] = []
        for member in self.members:
            expressions.append((("copy", planes[member.length]),))
            planes[member.length] += 1
        return expressions
