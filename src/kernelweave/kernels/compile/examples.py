"""Examples: a data set as the core reads it.

A view is what a kernel looks at: some columns, the words of a text, a given matrix. A `Table` is
what a view shows of the examples, as one shared quantity of the core reads them; strings bring
tables of their own. A `Reading` reads each view of one data set once. `Examples` are the tables and
vectors that come of it: plain arrays, which can be subset, stored and turned into a `_core.Side`. A
fitted model needs nothing else of its training data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from kernelweave.common.cached_property import cached_property
from kernelweave.common.core import _core
from kernelweave.common.numbers import thread_count
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.data.inputs import as_input
from kernelweave.model.files.registry import stored

# Below this density, and from this many columns on, the core's sparse products are the faster ones.
SPARSE_BELOW, SPARSE_FROM = 0.3, 40


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


class View(Protocol):
    """What a kernel looks at in a data set; equal views share their tables.

    It is a choice of columns, has one, ``columns``, or sees none.
    """

    def table(self, X: Any, training: bool) -> Table:
        """Return what this view shows of X. `training`: X is all of the training data."""


class Reading:
    """One data set, each view of which is read once.

    Parameters
    ----------
    X : array, sparse matrix, frame or list of texts with n examples.
    training : whether X is the training data (given similarities are then square).
    n_jobs : number of threads for what normalisations need of the examples.
    weights : how much each example counts in means over the data, (n,); None: all the same.
    """

    is_part = False  # whether it leaves out examples for which a view is absent

    def __init__(self, X: Any, *, training: bool, n_jobs: int | None = None, weights: Any = None):
        self.X = as_input(X)
        self.training = training
        self.n_jobs = thread_count(n_jobs)
        self.n = self.X.shape[0]
        weights = np.ones(self.n) if weights is None else weights
        self.shares = weights / weights.sum()
        self._tables: dict[View, Table] = {}
        self._missing: dict[View | Columns, np.ndarray | None] = {}
        self.slots: dict[Any, np.ndarray] = {}  # vectors of kernels that are known already
        self._parts: dict[bytes, PartOfReading] = {}

    @cached_property
    def is_complete(self) -> bool:
        """Whether X is an array of numbers none of which is missing."""
        X = self.X
        if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            return not np.isnan(X.sum())  # which may also overflow, and costs one pass

    def table(self, view: View) -> Table:
        """Return the table of a view."""
        if view not in self._tables:
            self._tables[view] = view.table(self.X, self.training)
        return self._tables[view]

    def missing(self, view: View | Columns) -> np.ndarray | None:
        """Return for which examples all columns of a view are missing, (n,); None: for none."""
        if view not in self._missing:
            columns = columns_of(view)
            self._missing[view] = None if columns is None else columns.absent(self.X)
        return self._missing[view]

    def absent(self, view: View | Columns) -> np.ndarray | None:
        """Return for which examples a view has nothing to show, nor anything filled in, (n,)."""
        columns = columns_of(view)
        return None if columns is None or columns.always_present else self.missing(view)

    def part(self, rows: np.ndarray) -> PartOfReading:
        """Return the reading of some of the examples, which has nothing to read anew; kept."""
        key = rows.tobytes()
        if key not in self._parts:
            self._parts[key] = PartOfReading(self, rows)
        return self._parts[key]


def columns_of(view: View | Columns) -> Columns | None:
    """Return the columns of a view, if it has any."""
    return view if isinstance(view, Columns) else getattr(view, "columns", None)


class PartOfReading(Reading):
    """Some examples of a data set whose views are taken from a reading of all of it."""

    is_part = True

    def __init__(self, whole: Reading, rows: np.ndarray):
        self.whole, self.rows = whole, rows
        self.X, self.training, self.n_jobs = whole.X, whole.training, whole.n_jobs
        self.n = len(rows)
        total = whole.shares[rows].sum()
        if not total > 0:
            raise ValueError("a view is absent for all training examples that have a weight")
        self.shares = whole.shares[rows] / total
        self._tables, self.slots, self._parts = {}, {}, {}

    def table(self, view: View) -> Table:
        if view not in self._tables:
            self._tables[view] = self.whole.table(view).take(self.rows)
        return self._tables[view]

    def absent(self, view: View | Columns) -> np.ndarray | None:
        absent = self.whole.absent(view)
        if absent is None or not absent[self.rows].any():
            return None
        some: np.ndarray = absent[self.rows]
        return some


@stored("Examples")
@dataclass(frozen=True, eq=False)
class Examples:
    """n examples as a program reads them.

    Attributes
    ----------
    n : number of examples.
    tables : the distinct tables.
    sources : for each source of the program the position of its table in `tables`.
    vectors : (slots, n), what normalisations need of each example.
    """

    n: int
    tables: tuple[Table, ...]
    sources: tuple[int, ...]
    vectors: np.ndarray

    @cached_property
    def side(self) -> _core.Side:
        """The same examples for the core."""
        side = _core.Side(self.n)
        for position in self.sources:
            self.tables[position].add_to(side)
        for vector in self.vectors:
            side.add_vector(vector)
        return side

    def take(self, index: np.ndarray) -> Examples:
        """Return the examples in `index` (integers)."""
        tables = tuple(table.take(index) for table in self.tables)
        return replace(self, n=len(index), tables=tables, vectors=self.vectors[:, index])

    def part(self, sources: list[int]) -> Examples:
        """Return the same examples for a program with some of the sources."""
        read = [self.sources[number] for number in sources]
        tables = {position: number for number, position in enumerate(dict.fromkeys(read))}
        return replace(
            self,
            tables=tuple(self.tables[position] for position in tables),
            sources=tuple(tables[position] for position in read),
        )

    def reference(self, index: np.ndarray) -> Examples:
        """Return the examples in `index` as what new examples are compared with.

        This is what a model stores of its support examples. They can be the first side of an
        evaluation, the second one being new examples.
        """
        chosen = self.take(index)
        return replace(chosen, tables=tuple(table.reference() for table in chosen.tables))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "side"}
