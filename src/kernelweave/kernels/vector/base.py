"""Base classes of kernels that are functions of one quantity of two vectors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.examples import View
from kernelweave.kernels.compile.program import Expression, Instruction, Layout
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.data.encoding import Encoded, encode
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.parameters import Parameter, Parameters, checked, members
from kernelweave.kernels.vector.gamma import concrete_gamma


@dataclass(frozen=True)
class VectorKernel(OnColumns):
    """A kernel that is a function of one quantity of two vectors, such as their dot product.

    Columns of categories are one-hot encoded.
    """

    quantity: ClassVar[str]  # name of the quantity in the compiled core, such as "dot"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.parameters.items():
            object.__setattr__(self, name, checked(self.kind, name, value))
        members(self.kind, self.parameters)

    @property
    def parameters(self) -> Parameters:
        """The kernel parameters by name; a tuple has one value for each member of a family."""
        names = [f.name for f in fields(self) if f.name not in ("columns", "name")]
        return {name: getattr(self, name) for name in names}

    def resolve(self, X: Data) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = encode(self.columns, X, self.name)
        parameters = self.parameters
        if "gamma" in parameters:
            parameters["gamma"] = concrete_gamma(parameters["gamma"], columns, X, self.quantity)
        return replace(self, columns=self.placed(columns, X), **parameters)

    def placed(self, columns: Encoded, X: Tabular) -> Encoded:
        """Return the columns, with offsets subtracted if that makes the quantity more accurate.

        Parameters
        ----------
        columns : Encoded
            The columns that the kernel reads.
        X : n training examples

        Returns
        -------
        Encoded
        """
        return columns

    @property
    def is_family(self) -> bool:
        return any(isinstance(value, tuple) for value in self.parameters.values())

    @property
    def members(self) -> list[Parameters]:
        """The parameters of each kernel of the family."""
        return members(self.kind, self.parameters)

    @property
    def n_kernels(self) -> int:
        return len(self.members)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label(one) for one in self.members)

    def expressions(self, layout: Layout) -> list[Expression]:
        source = layout.source(self.quantity, self.view)
        return [(self.instruction(source, one),) for one in self.members]

    @property
    def view(self) -> View:
        """The columns that the kernel reads, as an object that returns them as a table."""
        return found(self, Encoded)

    def instruction(self, source: int, member: Parameters) -> Instruction:
        """Return the instruction of the core that computes the values of a member.

        Parameters
        ----------
        source : int
            Number of the plane of the quantity (its value for each pair of examples).
        member : dict
            Parameters of one kernel of the family.

        Returns
        -------
        tuple of the name of the instruction and its arguments
        """
        return ("copy", source)


@dataclass(frozen=True)
class ExponentialOfDistance(VectorKernel):
    """exp(-gamma d(x, y)) for a distance d that makes it positive semidefinite."""

    gamma: Parameter = None

    def instruction(self, source: int, member: Parameters) -> Instruction:
        return ("exp", source, member["gamma"])

    @property
    def unit_diagonal(self) -> bool:
        return True
