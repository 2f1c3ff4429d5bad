"""Tables: the examples as one shared quantity of the core reads them.

A table can hand over some of its rows (`take`), keep only what others need to be compared with it
(`reference`), and add itself to a side of the core (`add_to`). Strings bring tables of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from kernelweave.core import _core
from kernelweave.stored import stored

# Below this density, and from this many columns on, the core's sparse products are the faster ones.
SPARSE_BELOW = 0.3
SPARSE_FROM = 40


@runtime_checkable
class Table(Protocol):
    """What every kind of table can do; n is its number of examples."""

    def take(self, index: np.ndarray) -> Table:
        """Return the table of the examples in `index`."""

    def reference(self) -> Table:
        """Return what is needed to compare new examples with these ones."""

    def add_to(self, side: _core.Side) -> None:
        """Append this table to a side."""


@stored("Dense")
@dataclass(frozen=True, eq=False)
class Dense:
    """Vectors, shape (n, d), float64 and C-contiguous."""

    values: np.ndarray

    def take(self, index: np.ndarray) -> Dense:
        return Dense(self.values[index])

    def reference(self) -> Dense:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_dense(self.values)


@stored("Sparse")
@dataclass(frozen=True, eq=False)
class Sparse:
    """Vectors with few non-zeros, shape (n, d), CSR with int32 indices and int64 row starts."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    d: int

    @classmethod
    def of(cls, values: sp.csr_array) -> Sparse:
        """Return the table of a CSR matrix."""
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()
        return cls(
            values.data.astype(np.float64, copy=False),
            values.indices.astype(np.int32, copy=False),
            values.indptr.astype(np.int64, copy=False),
            values.shape[1],
        )

    def to_csr(self) -> sp.csr_array:
        """Return the vectors as a SciPy matrix."""
        shape = (len(self.indptr) - 1, self.d)
        return sp.csr_array((self.data, self.indices, self.indptr), shape=shape)

    def take(self, index: np.ndarray) -> Sparse:
        return Sparse.of(self.to_csr()[index])

    def reference(self) -> Sparse:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_sparse(self.data, self.indices, self.indptr, self.d)


@stored("Given")
@dataclass(frozen=True, eq=False)
class Given:
    """Given similarities to the training examples.

    Attributes
    ----------
    matrix : similarities to all training examples, whose numbers are those of its columns; (0, 0)
        where the examples only serve as a reference.
    ids : (n,) which training examples these are; (0,) for new examples.
    rows : (n,) the row of the matrix of each example; None where it has a row for each, in order.
    """

    matrix: np.ndarray
    ids: np.ndarray
    rows: np.ndarray | None = None

    def take(self, index: np.ndarray) -> Given:
        ids = self.ids[index] if len(self.ids) else self.ids
        if self.rows is not None:
            return Given(self.matrix, ids, self.rows[index])
        return Given(self.matrix[index] if len(self.matrix) else self.matrix, ids)

    def reference(self) -> Given:
        return Given(np.empty((0, 0)), self.ids)

    def add_to(self, side: _core.Side) -> None:
        rows = np.arange(len(self.matrix)) if self.rows is None else self.rows
        side.add_given(self.matrix, rows, self.ids)


def vector_table(values: Any) -> Dense | Sparse:
    """Return vectors in the form in which the core multiplies them faster.

    Parameters
    ----------
    values : (n, d) array or sparse matrix of numbers.
    """
    n, d = values.shape
    count = values.nnz if sp.issparse(values) else np.count_nonzero(values)
    if d >= SPARSE_FROM and count < SPARSE_BELOW * n * d:
        return Sparse.of(sp.csr_array(values))
    dense = values.toarray() if sp.issparse(values) else values
    return Dense(np.ascontiguousarray(dense, dtype=np.float64))
