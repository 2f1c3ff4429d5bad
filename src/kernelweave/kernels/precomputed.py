"""Kernels given as matrices of similarities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.columns import Columns, found
from kernelweave.kernels.encoding import Encoded, encode
from kernelweave.kernels.examples import Given, Table
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.parameters import frozen, label
from kernelweave.kernels.program import Expression, Layout
from kernelweave.stored import stored

RELATIVE_TOLERANCE = 1e-10  # times the largest value: smaller negative eigenvalues are roundings


@stored("Precomputed")
@dataclass(frozen=True)
class Precomputed(Kernel):
    """A matrix of similarities to the training examples.

    The training data are the square matrix of the training examples; new data are rows of
    similarities, shape (n, n_train). Several matrices stand side by side, ``np.hstack([K1, K2])``,
    and each kernel picks its own with ``columns=slice(0, n_train)`` and so on.

    Parameters
    ----------
    repair : {"clip", "error"}
        What to do with a training matrix that is not symmetric or has negative eigenvalues (beyond
        roundings): warn, average it with its transpose and remove the negative part, or raise. The
        negative part is the projection on the eigenvectors of negative eigenvalues; it is also
        removed from the similarities of new examples.
    columns : the columns of X that hold the matrix; all of them by default.
    negative : (n_train, r) eigenvectors that are projected out; found by `resolve`.
    """

    repair: str = "clip"
    columns: Any = field(default=None, kw_only=True)
    negative: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns))
        if self.repair not in ("clip", "error"):
            raise ValueError(f'Precomputed: repair must be "clip" or "error", not {self.repair!r}')

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        kernel = replace(self, columns=encode(self.columns, X))
        matrix = kernel._similarities(X, training=True)
        tolerance = _relative_tolerance(X) * np.abs(matrix).max()
        kernel._settle(_asymmetry(matrix, tolerance))
        values, vectors = _negative_part(_symmetric(matrix), tolerance)
        if values.size == 0:
            return kernel
        kernel._settle(f"is not positive semidefinite: its smallest eigenvalue is {values[0]:.6g}")
        return replace(kernel, negative=vectors)

    def _settle(self, problem: str) -> None:
        """Say what is wrong with the training matrix, if anything, in the way of `repair`."""
        if problem and self.repair == "error":
            raise ValueError(f"{self.labels[0]} {problem}")
        if problem:
            warnings.warn(f"{self.labels[0]} {problem}; it was repaired", UserWarning, stacklevel=4)

    @property
    def labels(self) -> tuple[str, ...]:
        return (label("Precomputed", {}, self.columns),)

    @property
    def is_family(self) -> bool:
        return False

    def expressions(self, layout: Layout) -> list[Expression]:
        _ = found(self, Encoded)
        return [(("copy", layout.source("given", self)),)]

    def table(self, X: Any, training: bool) -> Table:
        """Return the repaired similarities of X to the training examples."""
        matrix = self._similarities(X, training)
        if not training:
            return Given(np.ascontiguousarray(self._project(matrix)), np.arange(0))
        matrix = _symmetric(self._project(_symmetric(matrix)))
        return Given(np.ascontiguousarray(matrix), np.arange(len(matrix)))

    def _project(self, matrix: np.ndarray) -> np.ndarray:
        if self.negative is None:
            return matrix
        projected: np.ndarray = matrix - (matrix @ self.negative) @ self.negative.T
        return projected

    def _similarities(self, X: Any, training: bool) -> np.ndarray:
        values = self.columns.values(X)
        if training and values.shape[0] != values.shape[1]:
            raise ValueError(
                f"{self.labels[0]}: the training matrix must be square, but its shape is "
                f"{values.shape}; rows of new examples are evaluated by kernel(X_new, X_train)"
            )
        matrix: np.ndarray = values.toarray() if sp.issparse(values) else values
        return matrix


def _relative_tolerance(X: Any) -> float:
    """Return what to take for roundings: more where the matrix was stored in single precision."""
    stored = getattr(X, "dtype", np.dtype(np.float64))
    return max(RELATIVE_TOLERANCE, 10 * np.finfo(stored).eps if stored.kind == "f" else 0.0)


def _asymmetry(matrix: np.ndarray, tolerance: float) -> str:
    largest = np.abs(matrix - matrix.T).max()
    return f"is not symmetric: K and K.T differ by up to {largest:.6g}" * bool(largest > tolerance)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def _negative_part(matrix: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the negative eigenvalues and their eigenvectors; none where they are roundings."""
    nothing = np.empty(0), np.empty((len(matrix), 0))
    try:
        # A Cholesky factor proves at little cost that no eigenvalue is below -tolerance.
        scipy.linalg.cholesky(matrix + tolerance * np.eye(len(matrix)), check_finite=False)
        return nothing
    except scipy.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_value=(-np.inf, 0.0))
    return (values, vectors) if values.size and values[0] < -tolerance else nothing
