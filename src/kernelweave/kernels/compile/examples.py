"""Examples as tables that the compiled core reads.

A *view* is the part of the data that a kernel reads: some columns, the words of a text, a given
matrix. A `Table` contains a view of n examples in the format of the core. A `Reading` reads each
view of a data set once and caches its table; a `Subset` takes its tables from a reading. `Examples`
are the tables, and the numbers per example, that a list of kernels needs. They are plain arrays,
which can be subset, saved and passed to the core. The training examples that a fitted model needs
are stored in this form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from kernelweave.common.cached_property import cached_property
from kernelweave.common.core import _core
from kernelweave.common.numbers import thread_count
from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.data.inputs import as_input
from kernelweave.model.files.registry import registered

# Vectors are multiplied as sparse ones if they have at least SPARSE_COLUMNS columns and a smaller
# fraction of non-zeros than SPARSE_DENSITY; otherwise the core's dense products are faster.
SPARSE_DENSITY = 0.3
SPARSE_COLUMNS = 40


@runtime_checkable
class Table(Protocol):
    """A view of n examples in the format of the core."""

    def take(self, index: np.ndarray) -> Table:
        """Return the table of the examples at k positions, shape (k,)."""

    def reference(self) -> Table:
        """Return the part of the table that kernels between these and new examples need."""

    def add_to(self, side: _core.Side) -> None:
        """Append this table to the examples of the rows, or of the columns, of kernel matrices."""


@registered("Dense")
@dataclass(frozen=True, eq=False)
class Dense:
    """Dense vectors.

    Attributes
    ----------
    values : array of shape (n, d), float64 and C-contiguous
    """

    values: np.ndarray

    def take(self, index: np.ndarray) -> Dense:
        return Dense(self.values[index])

    def reference(self) -> Dense:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_dense(self.values)


@registered("Sparse")
@dataclass(frozen=True, eq=False)
class Sparse:
    """Sparse vectors in CSR format, shape (n, d).

    Attributes
    ----------
    data : array of nnz values, float64
    indices : array of nnz columns, int32
    indptr : array of n + 1 row starts, int64
    d : number of columns
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    d: int

    @classmethod
    def of(cls, values: sp.csr_array) -> Sparse:
        """Return the table of a CSR matrix of shape (n, d)."""
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
        """Return the vectors as a SciPy matrix of shape (n, d)."""
        shape = (len(self.indptr) - 1, self.d)
        return sp.csr_array((self.data, self.indices, self.indptr), shape=shape)

    def take(self, index: np.ndarray) -> Sparse:
        return Sparse.of(self.to_csr()[index])

    def reference(self) -> Sparse:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_sparse(self.data, self.indices, self.indptr, self.d)


@registered("Given")
@dataclass(frozen=True, eq=False)
class Given:
    """Precomputed similarities to the training examples.

    Attributes
    ----------
    matrix : array of shape (rows, n_train)
        Column j contains the similarities to training example j. Shape (0, 0) if the table is a
        `reference`, to which only new examples are compared.
    ids : array of shape (n,)
        The column of each of these examples; shape (0,) for new examples, which have none.
    rows : array of shape (n,), or None
        The row of `matrix` that belongs to each example; None if row i belongs to example i.
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


def vector_table(values: np.ndarray | sp.csr_array) -> Dense | Sparse:
    """Return vectors as a dense or sparse table, whichever the core multiplies faster.

    Parameters
    ----------
    values : array or sparse matrix of shape (n, d)
    """
    n, d = values.shape
    count = np.count_nonzero(values) if isinstance(values, np.ndarray) else values.nnz
    if d >= SPARSE_COLUMNS and count < SPARSE_DENSITY * n * d:
        return Sparse.of(sp.csr_array(values))
    dense = values if isinstance(values, np.ndarray) else values.toarray()
    return Dense(np.ascontiguousarray(dense, dtype=np.float64))


class View(Protocol):
    """The part of a data set that a kernel reads; equal views share their tables.

    A view is a `Columns` object, or has an attribute ``columns``, or reads no columns at all.
    """

    def table(self, X: Tabular, training: bool) -> Table:
        """Return the table of this view for the n examples of X.

        `training` is whether X is the whole training data.
        """


class Reader(ABC):
    """n examples of a data set, whose views are read once and cached.

    Attributes
    ----------
    X : the data set, as returned by `as_input`
    training : bool
        Whether X is the training data.
    n_jobs : int
        Number of threads.
    n : int
        Number of examples.
    shares : array of shape (n,)
        Weight of each example in means; they sum to 1.
    vectors : dict
        Cache of arrays with a number for each example, such as mean kernel values. The key is the
        object, mostly a kernel, that has computed the array.
    """

    X: Tabular
    training: bool
    n_jobs: int
    n: int
    shares: np.ndarray

    def __init__(self) -> None:
        self.vectors: dict[Hashable, np.ndarray] = {}
        self._tables: dict[View, Table] = {}

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether X is an array of numbers without missing values."""

    @abstractmethod
    def _read(self, view: View) -> Table:
        """Read a view of the examples; `table` caches the result."""

    @abstractmethod
    def missing(self, view: View | Columns) -> np.ndarray | None:
        """Return a mask, shape (n,), of the examples without any value in a view; None if none."""

    def table(self, view: View) -> Table:
        """Return the table of a view, which is read at the first call."""
        if view not in self._tables:
            self._tables[view] = self._read(view)
        return self._tables[view]

    def absent(self, view: View | Columns) -> np.ndarray | None:
        """Return a mask, shape (n,), of the examples that are absent in a view; None if none.

        Absent examples have no value in any column of the view, and the view does not fill in
        missing values.
        """
        columns = columns_of(view)
        return None if columns is None or columns.always_present else self.missing(view)


class Reading(Reader):
    """All examples of a data set.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of texts or `Views` with n examples
    training : bool
        Whether X is the training data, so that precomputed matrices are square.
    n_jobs : int or None
        Number of threads for normalisations.
    weights : array of shape (n,), or None
        Weight of each example in means; equal weights if None.
    """

    def __init__(
        self,
        X: Data,
        *,
        training: bool,
        n_jobs: int | None = None,
        weights: np.ndarray | None = None,
    ):
        super().__init__()
        self.X = as_input(X)
        self.training = training
        self.n_jobs = thread_count(n_jobs)
        self.n = self.X.shape[0]
        weights = np.ones(self.n) if weights is None else weights
        self.shares = weights / weights.sum()
        self._missing: dict[View | Columns, np.ndarray | None] = {}
        self._subsets: dict[bytes, Subset] = {}

    @cached_property
    def is_complete(self) -> bool:
        X = self.X
        if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            # NaN also if the sum overflows; then the slower test of every view decides.
            return not np.isnan(X.sum())

    def _read(self, view: View) -> Table:
        return view.table(self.X, self.training)

    def missing(self, view: View | Columns) -> np.ndarray | None:
        if view not in self._missing:
            columns = columns_of(view)
            self._missing[view] = None if columns is None else columns.absent(self.X)
        return self._missing[view]

    def subset(self, rows: np.ndarray) -> Subset:
        """Return some of the examples; equal subsets are the same cached object.

        Parameters
        ----------
        rows : array of k positions of examples
        """
        key = rows.tobytes()
        if key not in self._subsets:
            self._subsets[key] = Subset(self, rows)
        return self._subsets[key]


class Subset(Reader):
    """A subset of the examples of a `Reading`; its tables are parts of those of the reading.

    Parameters
    ----------
    reading : Reading
        All examples.
    rows : ndarray of shape (n,)
        Positions of the examples.

    Raises
    ------
    ValueError
        If the weights of all these examples are 0.
    """

    def __init__(self, reading: Reading, rows: np.ndarray):
        super().__init__()
        self.reading, self.rows = reading, rows
        self.X, self.training, self.n_jobs = reading.X, reading.training, reading.n_jobs
        self.n = len(rows)
        total = reading.shares[rows].sum()
        if not total > 0:
            raise ValueError(
                "X: a view is absent for all training examples with a positive weight; leave out "
                "the kernels of this view"
            )
        self.shares = reading.shares[rows] / total

    @property
    def is_complete(self) -> bool:
        return self.reading.is_complete

    def _read(self, view: View) -> Table:
        return self.reading.table(view).take(self.rows)

    def missing(self, view: View | Columns) -> np.ndarray | None:
        missing = self.reading.missing(view)
        if missing is None or not missing[self.rows].any():
            return None
        return missing[self.rows]


def columns_of(view: View | Columns) -> Columns | None:
    """Return the columns of a view, or None if it reads none."""
    return view if isinstance(view, Columns) else getattr(view, "columns", None)


@registered("Examples")
@dataclass(frozen=True, eq=False)
class Examples:
    """n examples as tables and vectors that a compiled program reads.

    Attributes
    ----------
    n : int
        Number of examples.
    tables : tuple of Table
        The distinct tables.
    sources : tuple of int
        For each source of the program (shared quantity of pairs), its position in `tables`.
    vectors : array of shape (slots, n)
        The slots: numbers per example that normalisations need, such as its norm.
    """

    n: int
    tables: tuple[Table, ...]
    sources: tuple[int, ...]
    vectors: np.ndarray

    @cached_property
    def side(self) -> _core.Side:
        """The examples in the core, as rows or columns of kernel matrices."""
        side = _core.Side(self.n)
        for position in self.sources:
            self.tables[position].add_to(side)
        for vector in self.vectors:
            side.add_vector(vector)
        return side

    def take(self, index: np.ndarray) -> Examples:
        """Return the examples at k positions, shape (k,)."""
        tables = tuple(table.take(index) for table in self.tables)
        return replace(self, n=len(index), tables=tables, vectors=self.vectors[:, index])

    def part(self, sources: list[int]) -> Examples:
        """Return the same examples for a program that reads only some of the sources."""
        read = [self.sources[number] for number in sources]
        tables = {position: number for number, position in enumerate(dict.fromkeys(read))}
        return replace(
            self,
            tables=tuple(self.tables[position] for position in tables),
            sources=tuple(tables[position] for position in read),
        )

    def reference(self, index: np.ndarray) -> Examples:
        """Return the examples at k positions, reduced to the data that a saved model needs.

        Kernels can then be evaluated between them (the first side) and new examples (the second).
        """
        chosen = self.take(index)
        return replace(chosen, tables=tuple(table.reference() for table in chosen.tables))

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "side"}
