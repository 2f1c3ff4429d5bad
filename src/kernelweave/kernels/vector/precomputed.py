"""Precomputed kernel matrices."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.cached_property import cached_property
from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel, TableKernel
from kernelweave.kernels.compile.examples import Given, Table
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.encoding import Encoded, encode
from kernelweave.kernels.data.inputs import as_input, column
from kernelweave.kernels.data.views import Grams
from kernelweave.kernels.parameters import Parameter
from kernelweave.kernels.vector.matrix_repair import (
    check_repair,
    find_negative,
    repaired,
    repaired_table,
)
from kernelweave.model.files.registry import registered


@registered("Matrix")
@dataclass(frozen=True, eq=False)
class Matrix:
    """A kernel matrix that several kernels may share; compared by identity, not by values.

    Attributes
    ----------
    values : array of shape (n, n)
        The matrix, of finite numbers.
    """

    values: np.ndarray

    @classmethod
    def of(cls, values: Any) -> Matrix:
        """Return the matrix of an array-like; raise ValueError unless it is square and finite."""
        try:
            array = values.toarray() if sp.issparse(values) else np.asarray(values, np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "Precomputed: matrix must be a square array of numbers, not a "
                f"{type(values).__name__}"
            ) from None
        if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
            raise ValueError(f"Precomputed: matrix must be square, but its shape is {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError("Precomputed: matrix must be finite, but contains NaN or infinity")
        return cls(np.ascontiguousarray(array, np.float64))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values.astype(dtype or np.float64, copy=bool(copy))

    @cached_property
    def negative(self) -> np.ndarray | None:
        """Eigenvectors of the r negative eigenvalues, shape (n, r), or None."""
        return find_negative(self.values, "clip", "Precomputed")

    def __getstate__(self) -> dict[str, object]:
        return {"values": self.values}


@registered("Precomputed")
@dataclass(frozen=True)
class Precomputed(TableKernel):
    """A precomputed kernel matrix.

    With `matrix`, X contains row numbers of the matrix: one column of integers, as in
    ``fit(np.arange(n), y)``, or the column ``columns="drug"`` of a data frame, in which row numbers
    may repeat. Cross-validation splits such an X like any other. An example with a missing row
    number is placed at the mean of the others in feature space.

    Without `matrix`, X itself is the matrix. The training data are the square matrix of the
    training examples, and new data are rows of similarities, shape (n, n_train). Several matrices
    are passed as `Grams`, which scikit-learn splits on both axes. They can also be passed side by
    side, ``np.hstack([K1, K2])``; each kernel then selects its matrix by
    ``columns=slice(0, n_train)`` and so on.

    Parameters
    ----------
    matrix : array of shape (n, n), or None
        Similarities of all objects, including those of new examples.
    repair : {"clip", "error"}
        Treatment of a matrix that is not symmetric or has negative eigenvalues beyond rounding
        error (of single precision, if its values have that precision). "clip" warns, averages the
        matrix with its transpose and projects out the eigenvectors of negative eigenvalues, also
        from the similarities of new examples. "error" raises an error. `matrix` is repaired as a
        whole.
    columns : the column of row numbers, or the columns of X that contain the matrix; all by default
    name : str, optional
        Name of the kernel.
    negative : array of shape (n_train, r), or None
        The r eigenvectors of negative eigenvalues, which are projected out; determined by
        `resolve`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import Precomputed
    >>> rng = np.random.default_rng(0)
    >>> features = rng.normal(size=(40, 3))
    >>> y = features[:, 0] > 0
    >>> similarities = features @ features.T
    >>> rows = np.arange(40)
    >>> model = MKLClassifier(Precomputed(similarities)).fit(rows[:30], y[:30])
    >>> print(f"{model.score(rows[30:], y[30:]):.1f}")
    0.9
    """

    quantity = "given"

    matrix: Parameter = field(default=None, repr=False)
    repair: str = "clip"
    negative: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.matrix, Matrix | None):
            object.__setattr__(self, "matrix", Matrix.of(self.matrix))
        check_repair("Precomputed", self.repair)

    def resolve(self, X: Data) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        if self.matrix is not None:
            return self._on_row_numbers(X)
        if isinstance(X, Grams) and self.columns is None and self.name not in X:
            each = [replace(self, columns=name, name=name).resolve(X) for name in X.names]
            return Stack(tuple(each)) if len(each) > 1 else each[0]
        kernel = replace(self, columns=encode(self.columns, X, self.name))
        matrix = kernel._similarities(X, training=True)
        return replace(kernel, negative=find_negative(matrix, self.repair, self._title(kernel)))

    def _on_row_numbers(self, X: Tabular) -> Kernel:
        """Return the kernel on the column of X that contains row numbers."""
        kernel = replace(self, columns=choose(self.columns, X, self.name))
        if len(kernel.columns.indices) != 1:
            raise ValueError(
                "Precomputed(matrix): columns must select the one column of X that contains row "
                f"numbers of the matrix, but selects {len(kernel.columns.indices)}"
            )
        kernel._row_numbers(X)
        if self.repair == "error":
            find_negative(self.matrix.values, "error", self._title(kernel))
        return replace(kernel, negative=self.matrix.negative)

    @staticmethod
    def _title(kernel: Kernel) -> str:
        return f"kernel {kernel.labels[0]!r}"

    @property
    def pairwise(self) -> bool:
        return self.matrix is None and isinstance(self.columns, str | None)

    @property
    def selection(self) -> object:
        raise ValueError(self._without_columns())

    @property
    def size(self) -> int | None:
        several = self.matrix is None and self.columns is None  # one member per matrix
        return None if several else 1

    def table(self, X: Tabular, training: bool) -> Table:
        if self.matrix is not None:
            numbers = self._row_numbers(X)
            return Given(self._repaired, numbers, numbers)
        return repaired_table(self._similarities(X, training), self.negative, training)

    @cached_property
    def _repaired(self) -> np.ndarray:
        return np.ascontiguousarray(repaired(self.matrix.values, self.negative))

    def _row_numbers(self, X: Tabular) -> np.ndarray:
        """Return the row numbers in X, shape (n,); 0 for absent examples."""
        part, rows = self.columns.present(X)
        numbers = np.zeros(X.shape[0], dtype=np.int64)
        if part is None:
            return numbers
        label, size = self.columns.label_of(0), len(self.matrix.values)
        given = np.asarray(column(part, self.columns.locate(part)[0]))
        try:
            whole = given.astype(np.int64)
            right = np.array_equal(whole, given.astype(np.float64))
        except (TypeError, ValueError):
            right = False
        if not right or whole.min() < 0 or whole.max() >= size:
            raise ValueError(
                f"Precomputed(matrix): column {label} of X must contain row numbers of the "
                f"matrix, integers from 0 to {size - 1}"
            )
        numbers[slice(None) if rows is None else rows] = whole
        return numbers

    def _similarities(self, X: Tabular, training: bool) -> np.ndarray:
        """Return X as a matrix of similarities to the training examples, (n, n_train)."""
        if training and self.columns.absent(X) is not None:
            raise ValueError(
                f"{self._title(self)}: the training matrix contains rows of NaN; for absent "
                "examples pass the matrix as Precomputed(K), and NaN as their row number in X"
            )
        values = found(self, Encoded).values(X)
        if training and values.shape[0] != values.shape[1]:
            raise ValueError(
                f"{self._title(self)}: the training matrix must be square, but its shape is "
                f"{values.shape}; evaluate rows of new examples by kernel(X_new, X_train), or pass "
                "the matrix of all examples as Precomputed(K), and row numbers as X"
            )
        return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_repaired"}
