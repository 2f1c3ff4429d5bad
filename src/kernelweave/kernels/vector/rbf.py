"""Kernels on vectors. Parameters mean what they mean in scikit-learn's pairwise functions.

Every kernel takes ``columns=``, the part of X it sees (see `kernelweave.kernels.columns.choose`);
columns of categories are one-hot encoded. A sequence in place of a parameter makes a family.
Several sequences must have the same length: member i takes the i-th value of each.

``gamma`` is a positive number or one of these, each of which is taken from the training data:

* None or "auto": 1 / n_features, counted after encoding;
* "scale": 1 / (n_features * variance of all values), as in scikit-learn's SVC;
* "median": 1 / the median distance of two examples, so that half of all pairs have values above
  exp(-1). For kernels that are functions of a distance only, and over 1,000 examples at most.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.examples import Dense, Reading, View, vector_table
from kernelweave.kernels.compile.program import Expression, Instruction, Layout
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.data.encoding import Encoded, encode
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.parameters import checked, members
from kernelweave.model.files.registry import stored

PAIRED = 1000  # examples whose distances the median is taken over


@dataclass(frozen=True)
class VectorKernel(OnColumns):
    """A function of one shared quantity of two vectors."""

    quantity: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.parameters.items():
            object.__setattr__(self, name, checked(self.kind, name, value))
        members(self.kind, self.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers that make one member of a family or another."""
        names = [f.name for f in fields(self) if f.name not in ("columns", "name")]
        return {name: getattr(self, name) for name in names}

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = encode(self.columns, X, self.name)
        parameters = self.parameters
        if "gamma" in parameters:
            parameters["gamma"] = concrete_gamma(parameters["gamma"], columns, X, self.quantity)
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
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> print(Linear()(X))
    [[1. 2.]
     [2. 5.]]
    >>> print(Linear(columns=[0])(X))
    [[1. 2.]
     [2. 4.]]
    """

    quantity = "dot"

    def filled(self, present: Reading) -> Kernel:
        _, mean = self._vectors_and_mean(present)
        columns = found(self, Encoded)
        return replace(self, columns=replace(columns, fill=tuple(mean.tolist())))

    def centred(self, present: Reading) -> Kernel | None:
        columns = found(self, Encoded)
        vectors, mean = self._vectors_and_mean(present)
        if columns.categories or not isinstance(vectors, np.ndarray):  # with zeros to be kept
            return None
        before = columns.offsets or (0.0,) * len(mean)
        offsets = tuple((np.array(before) + mean).tolist())
        return replace(self, columns=replace(columns, offsets=offsets))

    def _vectors_and_mean(self, reading: Reading) -> tuple[Any, np.ndarray]:
        """Return the vectors of all examples, which are their own features, and their mean."""
        table: Any = reading.table(found(self, Encoded))
        vectors = table.values if isinstance(table, Dense) else table.to_csr()
        return vectors, np.ravel(reading.shares @ vectors)


@stored("Polynomial")
@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """(gamma x . y + coef0) ^ degree.

    Parameters
    ----------
    degree : integer >= 1, or a sequence of them.
    gamma : factor of the dot product, None, "auto", "scale", or a sequence of them.
    coef0 : number >= 0, or a sequence of them.
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Polynomial
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> print(Polynomial(2, gamma=1.0)(X))
    [[ 4.  9.]
     [ 9. 36.]]
    >>> Polynomial([1, 2, 3], gamma=1.0)(X).shape
    (3, 2, 2)
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
    gamma : positive number, None, "auto", "scale", "median", or a sequence of them.
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> print(RBF(0.5)(X).round(2))
    [[1.   0.61 0.01]
     [0.61 1.   0.14]
     [0.01 0.14 1.  ]]
    >>> RBF(gamma=[0.1, 1.0, 10.0])(X).shape
    (3, 3, 3)
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
    gamma : positive number, None, "auto", "scale", "median", or a sequence of them.
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Laplacian
    >>> print(Laplacian(0.5)(np.array([[0.0], [1.0], [3.0]])).round(2))
    [[1.   0.61 0.22]
     [0.61 1.   0.37]
     [0.22 0.37 1.  ]]
    """

    quantity = "l1"


def concrete_gamma(gamma: Any, columns: Encoded, X: Any, quantity: str = "dot") -> Any:
    """Return what words for gamma mean for some columns of X; other values are concrete."""
    if isinstance(gamma, tuple):
        return tuple(concrete_gamma(one, columns, X, quantity) for one in gamma)
    if gamma in (None, "auto"):
        return 1.0 / columns.n_features
    if gamma == "median":
        return 1.0 / median(quantity, columns.present_values(X))
    if gamma != "scale":
        return gamma
    spread = variance(columns.present_values(X))
    return 1.0 / (columns.n_features * spread) if spread > 0 else 1.0


def median(quantity: str, values: Any) -> float:
    """Return the median of a shared quantity of two different examples; 1 where that is 0."""
    some = np.linspace(0, values.shape[0] - 1, min(values.shape[0], PAIRED)).astype(np.int64)
    program, side = _core.Program(), _core.Side(len(some))
    program.copy(program.source(quantity))
    program.out()
    program.end_group()
    vector_table(values[some]).add_to(side)
    with single_threaded_blas():
        pairs = _core.evaluate(program, side, side)[0][np.triu_indices(len(some), 1)]
    found = float(np.median(pairs)) if len(pairs) else 0.0
    return found if found > 0 else 1.0


def variance(values: Any) -> float:
    """Return the variance of all values of an array or sparse matrix."""
    if sp.issparse(values):
        return float(values.power(2).mean() - values.mean() ** 2)
    return float(values.var())
