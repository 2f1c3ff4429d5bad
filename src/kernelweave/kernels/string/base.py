"""Base classes of kernels on one column of sequences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kernelweave.common.types import Data
from kernelweave.kernels.base import OnColumns
from kernelweave.kernels.compile.examples import View
from kernelweave.kernels.compile.program import Expression, Layout, Quantity
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.parameters import Parameter
from kernelweave.kernels.string.string_columns import Strings, Texts, read_column
from kernelweave.sequences.alphabets import as_alphabet

Same = TypeVar("Same", bound="StringKernel")
SameLength = TypeVar("SameLength", bound="EqualLengthKernel")


@dataclass(frozen=True)
class StringKernel(OnColumns):
    """A kernel on one column of sequences of any length.

    Parameters
    ----------
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.
    """

    alphabet: Parameter = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))

    @property
    @abstractmethod
    def quantities(self) -> Sequence[Quantity]:
        """The functions of two sequences that the compiled core computes, such as match counts."""

    @property
    def view(self) -> View:
        """The column of sequences, as an object that returns it as a table."""
        return Texts(found(self, Columns), self.alphabet, self.unknown)

    def resolve(self: Same, X: Data) -> Same:
        if isinstance(self.columns, Columns):
            return self
        columns = choose(self.columns, as_input(X), self.name)
        if len(columns.indices) != 1:
            raise ValueError(
                f"{self.kind}: columns must select one column of X, got {len(columns.indices)}"
            )
        return replace(self, columns=columns)

    def expressions(self, layout: Layout) -> list[Expression]:
        view = self.view
        return [(("copy", layout.source(quantity, view)),) for quantity in self.quantities]


@dataclass(frozen=True)
class EqualLengthKernel(StringKernel):
    """A kernel on one column of sequences of equal length.

    Parameters
    ----------
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.
    length : int or None
        Length of the sequences; None before it is taken from the training data.
    """

    length: int | None = field(default=None, kw_only=True, repr=False)

    @property
    def view(self) -> View:
        columns = found(self, Columns)
        return Strings(columns, self.alphabet, self.unknown, self.resolved_length)

    @property
    def resolved_length(self) -> int:
        """The attribute `length`; raises ValueError before `resolve` has determined it."""
        if self.length is None:
            raise ValueError(f"{self.kind} can be compiled only after resolve(X)")
        return self.length

    def resolve(self: SameLength, X: Data) -> SameLength:
        if self.length is not None:
            return self
        kernel, X = super().resolve(X), as_input(X)
        sequences = read_column(X, kernel.columns, kernel.alphabet, kernel.unknown)
        resolved = replace(kernel, length=int(sequences.lengths[0]))
        resolved.check_length(resolved.resolved_length)
        return resolved

    def check_length(self, length: int) -> None:
        """Raise ValueError if the kernel's parameters are invalid for the length of the sequences.

        Parameters
        ----------
        length : int
            Number of letters of each sequence.
        """
