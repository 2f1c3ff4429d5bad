"""Examples: a data set as the core reads it.

A `Reading` reads each view of one data set once (a view is what a kernel looks at: some columns,
the words of a text, a given matrix). `Examples` are the tables and vectors that come of it: plain
arrays, which can be subset, stored and turned into a `_core.Side`. A fitted model needs nothing
else of its training data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kernelweave.cached_property import cached_property
from kernelweave.core import _core
from kernelweave.kernels.columns import Columns
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.tables import Table
from kernelweave.numeric import thread_count
from kernelweave.stored import stored


class View(Protocol):
    """What a kernel looks at in a data set; equal views share their tables.

    It is a choice of columns, or has one, ``columns``.
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
        self._missing: dict[View, np.ndarray | None] = {}
        self.slots: dict[Any, np.ndarray] = {}  # vectors of kernels that are known already

    def table(self, view: View) -> Table:
        """Return the table of a view."""
        if view not in self._tables:
            self._tables[view] = view.table(self.X, self.training)
        return self._tables[view]

    def missing(self, view: View) -> np.ndarray | None:
        """Return for which examples all columns of a view are missing, (n,); None: for none."""
        if view not in self._missing:
            self._missing[view] = _columns(view).absent(self.X)
        return self._missing[view]

    def absent(self, view: View) -> np.ndarray | None:
        """Return for which examples a view has nothing to show, nor anything filled in, (n,)."""
        return None if _columns(view).always_present else self.missing(view)

    def part(self, rows: np.ndarray) -> PartOfReading:
        """Return the reading of some of the examples, which has nothing to read anew."""
        return PartOfReading(self, rows)


def _columns(view: View) -> Columns:
    columns: Columns = view if isinstance(view, Columns) else view.columns  # type: ignore[attr-defined]
    return columns


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
        self._tables, self.slots = {}, {}

    def table(self, view: View) -> Table:
        if view not in self._tables:
            self._tables[view] = self.whole.table(view).take(self.rows)
        return self._tables[view]

    def absent(self, view: View) -> np.ndarray | None:
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
