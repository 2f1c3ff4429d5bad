"""Columns: which part of X a kernel sees.

A selection is what a user writes for ``columns=``; `choose` turns it into `Columns`, which find the
same columns in new data: by name where both are frames, by position elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from kernelweave.kernels.data.inputs import (
    absent_rows,
    as_input,
    as_view,
    column,
    column_names,
    items,
)
from kernelweave.kernels.data.views import Views, taken
from kernelweave.model.files.registry import stored

MOST_NAMED = 3  # columns that a name lists


@stored("Columns")
@dataclass(frozen=True, repr=False)
class Columns:
    """Columns found in the training data.

    Attributes
    ----------
    width : number of columns of the training data.
    chosen : positions of the columns; None for all of them.
    names : their names, where the training data are a frame.
    view : the view that they are columns of, where the training data are `Views`.
    """

    width: int
    chosen: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None
    view: str | None = None

    def __post_init__(self) -> None:
        outside = any(not 0 <= index < self.width for index in self.chosen or ())
        if self.width < 1 or self.chosen == () or outside:
            raise ValueError(f"columns: there are {self.width} columns, not {self.chosen}")
        if self.names is not None and len(self.names) != len(self.indices):
            raise ValueError("columns: there must be a name for each column")

    def __repr__(self) -> str:
        return repr(self.label) if self.label else "None"

    @property
    def indices(self) -> Sequence[int]:
        """Positions of the columns."""
        return self.chosen or range(self.width)

    @property
    def label(self) -> str:
        """How the columns are written in the name of a kernel; empty where they are all of X."""
        if self.chosen is None:
            return self.view or ""
        return f"{self.view}: {self._some}" if self.view else self._some

    @property
    def _some(self) -> str:
        few = [str(self.names[k] if self.names else i) for k, i in enumerate(self.indices)]
        if len(few) > MOST_NAMED:
            return f"{len(few)} columns"
        return ", ".join(few) if self.names else f"column{'s' * (len(few) > 1)} {', '.join(few)}"

    def label_of(self, position: int) -> str:
        """How one of the columns is written."""
        which = repr(self.names[position] if self.names else self.indices[position])
        return f"{which} of view {self.view!r}" if self.view else which

    def part(self, X: Any) -> Any:
        """Return the view that these are columns of, or X; None for a view that is None."""
        if self.view is None:
            if isinstance(X, Views):
                raise ValueError("X must not be Views, since the training data were none")
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
        """Whether missing columns are no absence, since something else is filled in."""
        return False

    def absent(self, X: Any) -> np.ndarray | None:
        """Return which examples have nothing in these columns, (n,); None where none are so."""
        part = self.part(X)
        if part is None:
            return np.ones(X.shape[0], dtype=bool)
        return absent_rows(part, self.locate(part))

    def present(self, X: Any) -> tuple[Any, np.ndarray | None]:
        """Return the rows that these columns have something in, and which they are.

        Returns
        -------
        The rows of X or of the view, None where there are none; their positions, None for all.
        """
        absent = self.absent(X)
        if absent is None:
            return self.part(X), None
        rows = np.flatnonzero(~absent)
        return (taken(self.part(X), rows) if rows.size else None), rows

    def locate(self, X: Any) -> list[int]:
        """Return the positions of these columns in X (or a view); refuse data of another shape."""
        names = column_names(X) if self.names else None
        if self.names and names:
            missing = [name for name in self.names if name not in names]
            if missing:
                raise ValueError(f"X lacks columns of the training data: {missing}")
            return [names.index(name) for name in self.names]
        if X.shape[1] != self.width:
            raise ValueError(
                f"X has {X.shape[1]} features, but the kernel is expecting {self.width} features "
                "as input, as in its training data"
            )
        return list(self.chosen or range(self.width))

    def texts(self, X: Any) -> list[str]:
        """Return the texts in these columns of X, one for each row, joined by line breaks.

        Where they are absent it is an empty one.
        """
        part, rows = self.present(X)
        found = [] if part is None else self._texts(part, rows)
        if rows is None:
            return found
        texts = [""] * X.shape[0]
        for row, text in zip(rows, found, strict=True):
            texts[row] = text
        return texts

    def _texts(self, part: Any, rows: np.ndarray | None) -> list[str]:
        """Return the texts in a part of X, which are some of its rows or (None) all of them."""
        columns = []
        for position, index in enumerate(self.locate(part)):
            label = self.label_of(position)
            columns.append(self._items(column(part, index), label))
            for k, value in enumerate(columns[-1]):
                if not isinstance(value, str):
                    row = k if rows is None else rows[k]
                    raise ValueError(
                        f"X: column {label} must hold texts, but holds {value!r} in row {row}"
                    )
        return ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def strings(self, part: Any) -> Any:
        """Return the strings in the one column of X (or a view), as `as_sequences` takes them."""
        (index,) = self.locate(part)
        return column(part, index)

    def _items(self, values: Any, label: str) -> list[Any]:
        """Return one column of texts."""
        return items(values, label)


Found = TypeVar("Found", bound=Columns)


def found(kernel: Any, kind: type[Found]) -> Found:
    """Return the columns of a kernel that were found in training data."""
    if not isinstance(kernel.columns, kind):
        raise ValueError(f"{type(kernel).__name__} can be compiled only after resolve(X)")
    return kernel.columns


def choose(selection: Any, X: Any, name: str | None = None) -> Columns:
    """Return the columns of X that a selection means; `Columns` are returned as they are.

    Parameters
    ----------
    selection : as in scikit-learn's ColumnTransformer. None (all columns), a position or a name, a
        list of either, a slice of either, a boolean mask, or a function from X to one of these,
        such as ``make_column_selector()``. In `Views` it is the name of a view, or that and what
        is chosen of it.
    X : array, sparse matrix, frame, list of texts or Views.
    name : of the kernel: a view that it takes where nothing is selected.
    """
    if isinstance(selection, Columns):
        return selection
    X = as_input(X)
    if isinstance(X, Views):
        view, inner = _view_of(selection, X, name)
        if X[view] is None:
            raise ValueError(f"view {view!r} is absent for all training examples: leave it out")
        return replace(choose(inner, as_view(X[view])), view=view)
    names = column_names(X)
    indices = _positions(selection(X) if callable(selection) else selection, X.shape[1], names)
    if not indices:
        raise ValueError(f"columns={selection!r} selects no column of X")
    chosen = None if indices == list(range(X.shape[1])) else tuple(indices)
    return Columns(X.shape[1], chosen, names and tuple(names[index] for index in indices))


def is_view_of(name: str, X: Any) -> bool:
    """Return whether X has a view of this name."""
    X = as_input(X)
    return isinstance(X, Views) and name in X


def _view_of(selection: Any, X: Views, name: str | None) -> tuple[str, Any]:
    """Return the view that a selection means, and what it chooses of it."""
    if selection is None:
        selection = name if name in X else X.names[0] if len(X.names) == 1 else None
    if isinstance(selection, str) and selection in X:
        return selection, None
    if isinstance(selection, tuple) and len(selection) == 2 and selection[0] in X.names:
        return selection
    views = ", ".join(map(repr, X.names))
    raise ValueError(
        f"columns={selection!r}: X has the views {views}; a kernel takes the one of its name, of "
        'columns="view", or a part of it, columns=("view", part)'
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
            raise ValueError(f"columns: a mask of {len(keys)} values for {width} columns of X")
        return [index for index, chosen in enumerate(keys) if chosen]
    return [_position(key, width, names) for key in keys]


def _slice_of_positions(selection: slice, names: Sequence[str] | None) -> slice:
    """Return a slice of names (which includes its end, as in pandas) as a slice of positions."""
    start, stop = selection.start, selection.stop
    if isinstance(start, str):
        start = _position(start, 0, names)
    if isinstance(stop, str):
        stop = _position(stop, 0, names) + 1
    return slice(start, stop, selection.step)


def _position(key: Any, width: int, names: Sequence[str] | None) -> int:
    if isinstance(key, str):
        if names is None:
            raise ValueError(f"columns: {key!r} is a name; names need a frame with distinct ones")
        if key not in names:
            raise ValueError(f"columns: X has no column {key!r}; its columns are {_listed(names)}")
        return names.index(key)
    if not isinstance(key, Integral) or isinstance(key, bool):
        raise ValueError(f"columns: {key!r} is neither a position nor a name of a column")
    if not -width <= int(key) < width:
        raise ValueError(f"columns: X has {width} columns, there is no column {key}")
    return int(key) % width


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
