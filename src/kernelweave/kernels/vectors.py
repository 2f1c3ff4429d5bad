"""Kernels on vectors. Parameters mean what they mean in scikit-learn's pairwise functions.

Every kernel takes ``columns=``, the part of X it sees (see `kernelweave.kernels.columns.choose`);
columns of categories are one-hot encoded. A sequence in place of a parameter makes a family.
Several sequences must have the same length: member i takes the i-th value of each.

``gamma`` is a positive number, None (1 / n_features, counted after encoding), or "scale"
(1 / (n_features * variance of all values), as in scikit-learn's SVC).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import scipy.sparse as sp

from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.columns import Columns, found
from kernelweave.kernels.encoding import Encoded, NonNegative, encode
from kernelweave.kernels.examples import View
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.parameters import checked, frozen, label, members
from kernelweave.kernels.program import Expression, Instruction, Layout
from kernelweave.stored import stored


@dataclass(frozen=True)
class VectorKernel(OnColumns):
    """A function of one shared quantity of two vectors."""

    columns: Any = field(default=None, kw_only=True)

    quantity: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns))
        for name, value in self.parameters.items():
            object.__setattr__(self, name, checked(type(self).__name__, name, value))
        members(type(self).__name__, self.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters but the columns."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "columns"}

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = encode(self.columns, X)
        parameters = self.parameters
        if "gamma" in parameters:
            parameters["gamma"] = concrete_gamma(parameters["gamma"], columns, X)
        return replace(self, columns=self.placed(columns, X), **parameters)

    def placed(self, columns: Encoded, X: Any) -> Encoded:
        """Return columns of X in the coordinates that suit the shared quantity."""
        return columns

    @property
    def is_family(self) -> bool:
        return any(isinstance(value, tuple) for value in self.parameters.values())

    @property
    def members(self) -> list[dict[str, Any]]:
        """The parameters of each member."""
        return members(type(self).__name__, self.parameters)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label(type(self).__name__, one, self.columns) for one in self.members)

    def expressions(self, layout: Layout) -> list[Expression]:
        source = layout.source(self.quantity, self.view)
        return [(self.instruction(source, one),) for one in self.members]

    @property
    def view(self) -> View:
        """What the kernel looks at."""
        return found(self, Encoded)

    def instruction(self, source: int, member: dict[str, Any]) -> Instruction:
        """Return what turns the shared quantity into the value of a member."""
        return ("copy", source)


@stored("Linear")
@dataclass(frozen=True)
class Linear(VectorKernel):
    """The dot product x . y.

    Parameters
    ----------
    columns : the part of X to use; all of it by default.
    """

    quantity = "dot"


@stored("Polynomial")
@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """(gamma x . y + coef0) ^ degree.

    Parameters
    ----------
    degree : integer >= 1, or a sequence of them.
    gamma : factor of the dot product, None, "scale", or a sequence of numbers.
    coef0 : number >= 0, or a sequence of them.
    columns : the part of X to use; all of it by default.
    """

    degree: Any = 3
    gamma: Any = None
    coef0: Any = 1.0

    quantity = "dot"

    def instruction(self, source: int, member: dict[str, Any]) -> Instruction:
        return ("power", source, member["gamma"], member["coef0"], member["degree"])


@dataclass(frozen=True)
class Exponential(VectorKernel):
    """exp(-gamma distance), for the distances that make it positive semidefinite."""

    gamma: Any = None

    def instruction(self, source: int, member: dict[str, Any]) -> Instruction:
        return ("exp", source, member["gamma"])

    @property
    def unit_diagonal(self) -> bool:
        return True


@stored("RBF")
@dataclass(frozen=True)
class RBF(Exponential):
    """exp(-gamma ||x - y||^2).

    A family costs least where each gamma is exactly twice the one before it: such a run needs one
    exponential and then squarings.

    Parameters
    ----------
    gamma : positive number, None, "scale", or a sequence of numbers.
    columns : the part of X to use; all of it by default.
    """

    quantity = "sqdist"

    def placed(self, columns: Encoded, X: Any) -> Encoded:
        return columns.shifted(X)


@stored("Laplacian")
@dataclass(frozen=True)
class Laplacian(Exponential):
    """exp(-gamma sum_f |x_f - y_f|).

    Parameters
    ----------
    gamma : positive number, None, "scale", or a sequence of numbers.
    columns : the part of X to use; all of it by default.
    """

    quantity = "l1"


@stored("ChiSquared")
@dataclass(frozen=True)
class ChiSquared(Exponential):
    """exp(-gamma sum_f (x_f - y_f)^2 / (x_f + y_f)) of non-negative vectors, with 0 / 0 = 0.

    Parameters
    ----------
    gamma : positive number, None, "scale", or a sequence of numbers.
    columns : the part of X to use; all of it by default.
    """

    gamma: Any = 1.0

    quantity = "chi2"

    @property
    def view(self) -> View:
        return NonNegative(found(self, Encoded))


@stored("Intersection")
@dataclass(frozen=True)
class Intersection(VectorKernel):
    """sum_f min(x_f, y_f) of non-negative vectors, such as histograms.

    Parameters
    ----------
    columns : the part of X to use; all of it by default.
    """

    quantity = "min"

    @property
    def view(self) -> View:
        return NonNegative(found(self, Encoded))


def concrete_gamma(gamma: Any, columns: Encoded, X: Any) -> Any:
    """Return what None and "scale" mean for some columns of X; other values are concrete."""
    if isinstance(gamma, tuple):
        return tuple(concrete_gamma(one, columns, X) for one in gamma)
    if gamma is None:
        return 1.0 / columns.n_features
    if gamma != "scale":
        return gamma
    spread = variance(columns.values(X))
    return 1.0 / (columns.n_features * spread) if spread > 0 else 1.0


def variance(values: Any) -> float:
    """Return the variance of all values of an array or sparse matrix."""
    if sp.issparse(values):
        return float(values.power(2).mean() - values.mean() ** 2)
    return float(values.var())
