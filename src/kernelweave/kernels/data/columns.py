"""Select the columns of X that a kernel reads.

A selection is the value of ``columns=``. `choose` converts it to `Columns`, which locate the same
columns in new data: by name if both data sets are data frames, by position otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.data.inputs import (
    absent_rows,
    as_input,
    as_view,
    column,
    column_names,
    items,
)
from kernelweave.kernels.data.views import Views, taken
from kernelweave.model.files.registry import registered

MOST_NAMED = 3  # largest number of columns that the name of a kernel lists
MOST_SHOWN = 20  # largest number of columns that an error message lists


@registered("Columns")
@dataclass(frozen=True, repr=False)
class Columns:
    """Selected columns of the training data.

    Attributes
    ----------
    width : int
        Number of columns of the training data.
    chosen : tuple of int, or None
        Positions of the columns; None for all.
    names : tuple of str, or None
        Names of these columns if the training data are a data frame.
    view : str or None
        The view that has the columns if the training data are `Views`.
    """

    width: int
    chosen: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None
    view: str | None = None

    # Whether missing values are imputed: then an example can be absent only from a view of `Views`.
    imputes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        outside = any(not 0 <= index < self.width for index in self.chosen or ())
        if self.width < 1 or self.chosen == () or outside:
            raise ValueError(
                f"columns: positions must be from 0 to {self.width - 1}, got {self.chosen}"
            )
        if self.names is not None and len(self.names) != len(self.indices):
            raise ValueError(
                f"columns: there must be one name per column, got {len(self.names)} for "
                f"{len(self.indices)}"
            )

    def __repr__(self) -> str:
        return repr(self.label) if self.label else "None"

    @property
    def indices(self) -> Sequence[int]:
        """Positions of the columns in the training data."""
        return self.chosen or range(self.width)

    @property
    def label(self) -> str:
        """The text for the columns in the name of a kernel; empty if they are all columns of X."""
        if self.chosen is None:
            return self.view or ""
        return f"{self.view}: {self._listed}" if self.view else self._listed

    @property
    def _listed(self) -> str:
        few = [str(self.names[k] if self.names else i) for k, i in enumerate(self.indices)]
        if len(few) > MOST_NAMED:
            return f"{len(few)} columns"
        return ", ".join(few) if self.names else f"column{'s' * (len(few) > 1)} {', '.join(few)}"

    def label_of(self, position: int) -> str:
        """Return the name that messages use for the column at a position among the chosen ones."""
        which = repr(self.names[position] if self.names else self.indices[position])
        return f"{which} of view {self.view!r}" if self.view else which

    def part(self, X: Tabular) -> Tabular | None:
        """Return the table that has the columns: X, or a view of X (None if X lacks the view)."""
        if self.view is None:
            if isinstance(X, Views):
                raise ValueError(
                    "X must be a single table, as the training data were, not Views; "
                    "pass one of its tables"
                )
            return X
        if not isinstance(X, Views):
            raise ValueError(
                f"X must be Views (or a dict of views), as the training data were, not a "
                f"{type(X).__name__}"
            )
        found = X[self.view]
        return None if found is None else as_view(found)

    @property
    def always_present(self) -> bool:
        """Whether no example is absent, because rows without values are replaced by a vector."""
        return False

    def absent(self, X: Tabular) -> np.ndarray | None:
        """Return a mask of the examples that have no value in any column, (n,); None if none."""
        if self.imputes and self.view is None:
            return None
        part = self.part(X)
        if part is None:
            return np.ones(X.shape[0], dtype=bool)
        return absent_rows(part, self.locate(part))

    def present(self, X: Tabular) -> tuple[Tabular | None, np.ndarray | None]:
        """Return the examples that have a value in some column.

        Returns
        -------
        table : rows of X, or of the view, with a value; None if there are none
        rows : array of the positions of these rows; None if all rows have a value
        """
        absent = self.absent(X)
        if absent is None:
            return self.part(X), None
        rows = np.flatnonzero(~absent)
        return (taken(self.part(X), rows) if rows.size else None), rows

    def present_part(self, X: Tabular) -> Tabular:
        """Return the rows of training data X, or of the view, that have a value in some column.

        Raises
        ------
        ValueError
            If there are none.
        """
        part, _ = self.present(X)
        if part is None:
            raise ValueError(
                f"Input X contains NaN in all rows ({self.label or 'all columns'}), so that they "
                "are absent for all training examples; leave out the kernel or the columns"
            )
        return part

    def locate(self, X: Tabular) -> list[int]:
        """Return the positions of the columns in a table X (new data, or a view of them).

        Raises
        ------
        ValueError
            If X lacks a column, or has another number of columns than the training data.
        """
        names = column_names(X) if self.names else None
        if self.names and names:
            missing = [name for name in self.names if name not in names]
            if missing:
                raise ValueError(f"X must have the columns {missing} of the training data")
            return [names.index(name) for name in self.names]
        if X.shape[1] != self.width:
            raise ValueError(
                f"X has {X.shape[1]} features, but the kernel is expecting {self.width} features "
                "as input, as in its training data"
            )
        return list(self.chosen or range(self.width))

    def texts(self, X: Tabular) -> list[str]:
        """Return one text per row: the texts of the columns, joined by line breaks.

        Absent examples have an empty text.
        """
        part, rows = self.present(X)
        found = [] if part is None else self._texts(part, rows)
        if rows is None:
            return found
        texts = [""] * X.shape[0]
        for row, text in zip(rows, found, strict=True):
            texts[row] = text
        return texts

    def _texts(self, part: Tabular, rows: np.ndarray | None) -> list[str]:
        """Return the text of each row of `part`, whose rows have the positions `rows` in X."""
        columns = []
        for position, index in enumerate(self.locate(part)):
            label = self.label_of(position)
            columns.append(self._items(column(part, index), label))
            for k, value in enumerate(columns[-1]):
                if not isinstance(value, str):
                    row = k if rows is None else rows[k]
                    raise ValueError(
                        f"X: column {label} must contain texts, but row {row} is {value!r}"
                    )
        return ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def strings(self, part: Tabular) -> object:
        """Return the single chosen column of `part`, which contains strings."""
        (index,) = self.locate(part)
        return column(part, index)

    def _items(self, values: object, label: str) -> list[object]:
        """Return the values of a column as a list."""
        return items(values, label)


Found = TypeVar("Found", bound=Columns)


class ReadsColumns(Protocol):
    """A kernel with an attribute `columns`."""

    @property
    def columns(self) -> object:
        """A value of ``columns=``, or `Columns` after `resolve`."""


def found(kernel: ReadsColumns, kind: type[Found]) -> Found:
    """Return the columns of a kernel; raise ValueError before `resolve` has determined them."""
    columns = kernel.columns
    if not isinstance(columns, kind):
        raise ValueError(
            f"{type(kernel).__name__} can be compiled only after resolve(X); call resolve first"
        )
    return columns


def choose(selection: object, X: Data, name: str | None = None) -> Columns:
    """Return the columns of X that a value of ``columns=`` selects; `Columns` stay unchanged.

    Parameters
    ----------
    selection : as in scikit-learn's ColumnTransformer
        None (all columns), a position or name, a list or slice of them, a boolean mask, or a
        function from X to one of these, such as ``make_column_selector()``. If X is `Views`: the
        name of a view, or a pair of a name and a selection within the view.
    X : array, sparse matrix, data frame, list of texts or `Views`
    name : str or None
        Name of the kernel, which selects a view if `selection` is None.

    Returns
    -------
    Columns

    Raises
    ------
    ValueError
        If the selection is empty or refers to columns that X does not have.
    """
    if isinstance(selection, Columns):
        return selection
    X = as_input(X)
    if isinstance(X, Views):
        view, inner = _view_of(selection, X, name)
        if X[view] is None:
            raise ValueError(
                f"X: view {view!r} is absent for all training examples; leave out its kernels"
            )
        return replace(choose(inner, as_view(X[view])), view=view)
    names = column_names(X)
    indices = _positions(selection(X) if callable(selection) else selection, X.shape[1], names)
    if not indices:
        raise ValueError(
            f"columns={selection!r} selects no column of X; it must select at least one"
        )
    chosen = None if indices == list(range(X.shape[1])) else tuple(indices)
    return Columns(X.shape[1], chosen, names and tuple(names[index] for index in indices))


def is_view_of(name: str, X: Data) -> bool:
    """Return whether X is `Views` with a view of this name."""
    X = as_input(X)
    return isinstance(X, Views) and name in X


def _view_of(selection: object, X: Views, name: str | None) -> tuple[str, object]:
    """Return the name of the view that a selection refers to, and the selection within it."""
    if selection is None:
        selection = name if name in X else X.names[0] if len(X.names) == 1 else None
    if isinstance(selection, str) and selection in X:
        return selection, None
    if isinstance(selection, tuple) and len(selection) == 2 and selection[0] in X.names:
        return selection
    views = ", ".join(map(repr, X.names))
    raise ValueError(
        f"columns={selection!r} does not select a view of X, which has the views {views}; name the "
        'kernel like a view, or pass columns="view" or columns=("view", part)'
    )


def _positions(selection: Any, width: int, names: Sequence[str] | None) -> list[int]:
    if selection is None:
        return list(range(width))
    if isinstance(selection, slice):
        return list(range(width))[_slice_of_positions(selection, names)]
    many = isinstance(selection, Iterable) and not isinstance(selection, str)
    keys = list(selection) if many else [selection]
    if keys and all(isinstance(key, bool | np.bool_) for key in keys):
        if len(keys) != width:
            raise ValueError(
                f"columns: a mask must have one value per column of X, got {len(keys)} for {width}"
            )
        return [index for index, chosen in enumerate(keys) if chosen]
    return [_position(key, width, names) for key in keys]


def _slice_of_positions(selection: slice, names: Sequence[str] | None) -> slice:
    """Return a slice of positions; a slice of names includes its end, as in pandas."""
    start, stop = selection.start, selection.stop
    if isinstance(start, str):
        start = _position(start, 0, names)
    if isinstance(stop, str):
        stop = _position(stop, 0, names) + 1
    return slice(start, stop, selection.step)


def _position(key: object, width: int, names: Sequence[str] | None) -> int:
    if isinstance(key, str):
        if names is None:
            raise ValueError(
                f"columns: {key!r} is a name, but X is not a data frame with unique column names; "
                "pass a position"
            )
        if key not in names:
            raise ValueError(f"columns: X has no column {key!r}; its columns are {_listed(names)}")
        return names.index(key)
    if not isinstance(key, Integral) or isinstance(key, bool):
        raise ValueError(f"columns: {key!r} must be the position or the name of a column")
    if not -width <= int(key) < width:
        raise ValueError(f"columns: {key} is not a column of X, which has {width} columns")
    return int(key) % width


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_SHOWN])
    return f"{shown}, ..." if len(names) > MOST_SHOWN else shown
