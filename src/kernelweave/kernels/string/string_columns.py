"""The column of sequences that a string kernel reads, as a table of the core."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.types import Tabular
from kernelweave.common.warnings import warn
from kernelweave.kernels.data.columns import Columns
from kernelweave.model.files.registry import registered
from kernelweave.sequences import Sequences, as_sequences
from kernelweave.sequences.alphabets import Alphabet

T = TypeVar("T", bound="_Sequences")
CHECKED = 100  # number of sequences in which unknown letters are counted


@dataclass(frozen=True)
class Texts:
    """One column of sequences of any length, as the table that a kernel reads.

    Attributes
    ----------
    columns : Columns
        The column.
    alphabet : Alphabet
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters match nothing or raise an error.
    """

    columns: Columns
    alphabet: Alphabet
    unknown: str

    def table(self, X: Tabular, training: bool) -> SequenceTable:
        """Return the sequences of X; warn if most letters of training data are unknown."""
        sequences = read_column(X, self.columns, self.alphabet, self.unknown)
        if training:
            warn_of_unknown(sequences)
        return SequenceTable(sequences)


@dataclass(frozen=True)
class Strings:
    """One column of sequences of equal length, as the table that a kernel reads.

    Attributes
    ----------
    columns : Columns
        The column.
    alphabet : Alphabet
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters match nothing or raise an error.
    length : int
        Number of letters of each sequence.
    """

    columns: Columns
    alphabet: Alphabet
    unknown: str
    length: int

    def table(self, X: Tabular, training: bool) -> PlaneTable:
        """Return the sequences of X; raise ValueError if their lengths differ."""
        sequences = read_column(X, self.columns, self.alphabet, self.unknown, self.length)
        check_length(sequences, self.length)
        if training:
            warn_of_unknown(sequences)
        return PlaneTable(sequences)


@dataclass(frozen=True, eq=False)
class _Sequences(ABC):
    """The base class of tables of sequences that the compiled core reads.

    Attributes
    ----------
    sequences : Sequences
        One sequence per example.
    """

    sequences: Sequences

    def take(self: T, index: np.ndarray) -> T:
        return replace(self, sequences=self.sequences.take(index))

    def reference(self: T) -> T:
        return self

    @abstractmethod
    def add_to(self, side: _core.Side) -> None:
        """Append this table to a side: the rows or the columns of a kernel matrix to compute."""

    @property
    def side(self) -> _core.Side:
        """The rows or columns of a kernel matrix, for a kernel that reads this table only."""
        side = _core.Side(self.sequences.n)
        self.add_to(side)
        return side


@registered("SequenceTable")
class SequenceTable(_Sequences):
    """Sequences of any length, from which the core reads k-mers."""

    def add_to(self, side: _core.Side) -> None:
        _core.add_sequences(side, self.sequences.packed)


@registered("PlaneTable")
class PlaneTable(_Sequences):
    """Sequences of equal length, which the core compares as packed bits."""

    def add_to(self, side: _core.Side) -> None:
        _core.add_planes(side, self.sequences.packed)


def read_column(
    X: Tabular, columns: Columns, alphabet: Alphabet, unknown: str, length: int = 1
) -> Sequences:
    """Return the sequences in one column of X.

    The result has a placeholder for each absent example: the first sequence that is present, or a
    sequence of `length` letters if all are absent.
    """
    part, rows = columns.present(X)
    found: object = part
    if part is None:
        found = [chr(alphabet.letters[0]) * length]
    elif not isinstance(part, Sequences):
        found = columns.strings(part)
    sequences = as_sequences(found, alphabet, unknown=unknown)
    if rows is None:
        return sequences
    positions = np.zeros(X.shape[0], dtype=np.int64)
    positions[rows] = np.arange(len(rows))
    return sequences.take(positions)


def warn_of_unknown(sequences: Sequences) -> None:
    """Warn if most letters of the first sequences are not in the alphabet."""
    letters, first = sequences.alphabet.letters, range(min(CHECKED, len(sequences)))
    codes = [np.frombuffer(sequences.packed.codes(i), dtype=np.uint8) for i in first]
    unknown = np.mean(np.concatenate(codes) >= len(letters))
    if unknown > 0.5:
        warn(
            f"sequences ({sequences.alphabet.name}): {unknown:.0%} of the letters are not among "
            f"{letters.decode('latin-1')}, and match nothing; pass the right alphabet, such as "
            "alphabet='protein'",
            UserWarning,
        )


def check_length(sequences: Sequences, length: int) -> None:
    """Raise ValueError unless all sequences have a given length."""
    odd = np.flatnonzero(sequences.lengths != length)
    if len(odd):
        raise ValueError(
            f"X: sequence {odd[0]} has {sequences.lengths[odd[0]]} letters, but weighted degree "
            "and locality-improved kernels require sequences of equal length, here "
            f"{length} (the length of the first training sequence); Spectrum, GappedKmer and NGram "
            "accept any length"
        )
