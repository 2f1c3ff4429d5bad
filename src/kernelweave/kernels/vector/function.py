"""Kernels given as functions of two sets of vectors, and the sigmoid.

Nothing is known of such a function, so that its matrix on the training examples is treated as a
given one (`kernelweave.kernels.repair`): it is made symmetric, and where it has negative
eigenvalues their part is removed, there and from the values of new examples. Duality gaps then
certify the problem of the repaired kernel. The kernel keeps all training examples.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.examples import Given, Table
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.encoding import Encoded, encode
from kernelweave.kernels.data.inputs import as_input, column, items_or_none
from kernelweave.kernels.parameters import checked, members
from kernelweave.kernels.vector.matrix_repair import (
    check_repair,
    find_negative,
    projected,
    repaired,
)
from kernelweave.kernels.vector.rbf import concrete_gamma
from kernelweave.model.files.registry import stored


@dataclass(frozen=True)
class Evaluated(OnColumns):
    """A kernel whose matrices are evaluated by a function, and repaired."""

    repair: str = field(default="clip", kw_only=True)
    negative: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)
    reference: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_repair(self.kind, self.repair)

    @abstractmethod
    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return the values of all pairs of vectors, shape (n, m)."""

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        kernel = self.found_in(X)
        training = kernel._read(X)
        kernel = replace(kernel, reference=training)
        title = f"kernel {kernel.labels[0]!r}"
        negative = find_negative(kernel._matrix(training), self.repair, title)
        return replace(kernel, negative=negative)

    def found_in(self, X: Any) -> Evaluated:
        """Return the kernel on columns of X, with parameters that are numbers."""
        return replace(self, columns=encode(self.columns, X, self.name))

    def _read(self, X: Any) -> np.ndarray:
        """Return what the function is given of X: vectors, or the texts of one column."""
        columns = found(self, Columns)
        if not isinstance(columns, Encoded):
            return np.array(columns.texts(X), dtype=object)
        values: Any = columns.values(X)
        return np.asarray(values.toarray() if sp.issparse(values) else values)

    def expressions(self, layout: Layout) -> list[Expression]:
        _ = found(self, Columns)
        return [(("copy", layout.source("given", self)),)]

    def table(self, X: Any, training: bool) -> Table:
        """Return the repaired values of X and the training examples."""
        matrix = self._matrix(self._read(X))
        if not training:
            return Given(np.ascontiguousarray(projected(matrix, self.negative)), np.arange(0))
        matrix = repaired(matrix, self.negative)
        return Given(np.ascontiguousarray(matrix), np.arange(len(matrix)))

    def _matrix(self, X: np.ndarray) -> np.ndarray:
        reference = self.reference
        assert reference is not None  # the kernel is resolved
        values = np.asarray(self.evaluate(X, reference), dtype=np.float64)
        if values.shape != (len(X), len(reference)):
            raise ValueError(
                f"kernel {self.labels[0]!r} gave values of shape {values.shape} for {len(X)} and "
                f"{len(reference)} examples; it must give a matrix of these numbers"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"kernel {self.labels[0]!r} gave values that are not finite")
        return values


@dataclass(frozen=True)
class Function(Evaluated):
    """Any function ``f(X, Y)`` of vectors, shapes (n, d) and (m, d), that gives a matrix (n, m).

    Where X is a list of texts, or `columns` names one column of them, the function is given arrays
    of texts, shapes (n,) and (m,); categories among several columns are encoded.

    A function in place of a kernel is made one: ``kernels=[RBF(), f]``. Models that have one cannot
    be saved.

    Parameters
    ----------
    function : callable
    columns : the part of X to use; all of it by default.
    name : what to call the kernel; by default as the function is called.
    repair : {"clip", "error"}, what to do where its matrix on the training examples is not positive
        semidefinite: see `Precomputed`.
    negative, reference : found by `resolve`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import cosine_similarity
    >>> from kernelweave.kernels import Function
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> kernel = Function(cosine_similarity)
    >>> print(kernel(X).round(2))
    [[1.   0.71 0.  ]
     [0.71 1.   0.71]
     [0.   0.71 1.  ]]
    >>> kernel.names
    ('cosine_similarity',)
    """

    function: Callable[[np.ndarray, np.ndarray], Any]

    def found_in(self, X: Any) -> Evaluated:
        columns = choose(self.columns, X, self.name)
        return replace(self, columns=columns) if _are_texts(columns, X) else super().found_in(X)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ValueError(f"Function: function must be callable, not {self.function!r}")

    @property
    def kind(self) -> str:
        return str(getattr(self.function, "__name__", "Function"))

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        values: np.ndarray = self.function(X, Y)
        return values


@stored("Sigmoid")
@dataclass(frozen=True)
class Sigmoid(Evaluated):
    """tanh(gamma x . y + coef0), which is no kernel before it is repaired.

    It has negative eigenvalues for most parameters and data: what is certified is the problem of
    the repaired matrix.

    Parameters
    ----------
    gamma : positive number, None or "auto" (1 / n_features), "scale" (1 / (n_features * variance of
        all values)), or a sequence of them.
    coef0 : number, or a sequence of them.
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.
    repair : {"clip", "error"}, as for `Precomputed`.
    negative, reference : found by `resolve`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Sigmoid
    >>> X = np.array([[0.5], [1.0], [2.0]])
    >>> print(Sigmoid(gamma=0.5)(X).round(2))
    [[0.17 0.29 0.41]
     [0.29 0.5  0.71]
     [0.41 0.71 1.02]]
    """

    gamma: Any = None
    coef0: Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gamma", checked("Sigmoid", "gamma", self.gamma))
        object.__setattr__(self, "coef0", checked("Sigmoid", "offset", self.coef0))
        _ = self.members

    @property
    def members(self) -> list[dict[str, Any]]:
        """The parameters of each member."""
        return members("Sigmoid", {"gamma": self.gamma, "coef0": self.coef0})

    @property
    def is_family(self) -> bool:
        return isinstance(self.gamma, tuple) or isinstance(self.coef0, tuple)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label(one) for one in self.members)

    def resolve(self, X: Any) -> Kernel:
        if not self.is_family:
            return super().resolve(X)
        return Stack(tuple(replace(self, **one).resolve(X) for one in self.members))

    def found_in(self, X: Any) -> Evaluated:
        columns = encode(self.columns, X, self.name)
        return replace(self, columns=columns, gamma=concrete_gamma(self.gamma, columns, X))

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        values: np.ndarray = np.tanh(self.gamma * (X @ Y.T) + self.coef0)
        return values


def _are_texts(columns: Columns, X: Any) -> bool:
    """Return whether columns of X are a single one, of strings."""
    part, _ = columns.present(X)
    if part is None or sp.issparse(part) or len(columns.indices) > 1:
        return False
    values = column(part, columns.locate(part)[0])
    return all(isinstance(value, str) for value in items_or_none(values))
