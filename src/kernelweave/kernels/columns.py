"""Columns: which part of X a kernel sees.

A selection is what a user writes for ``columns=``; `choose` turns it into `Columns`, which find the
same columns in new data: by name where both are frames, by position elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from kernelweave.kernels.inputs import as_input, column, column_names, items
from kernelweave.stored import stored


@stored("Columns")
@dataclass(frozen=True, repr=False)
class Columns:
    """Columns found in the training data.

    Attributes
    ----------
    width : number of columns of the training data.
    chosen : positions of the columns; None for all of them.
    names : their names, where the training data are a frame.
    """

    width: int
    chosen: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.width < 1 or any(not 0 <= index < self.width for index in self.chosen or ()):
            raise ValueError(f"columns: there are {self.width} columns, not {self.chosen}")
        if self.names is not None and len(self.names) != len(self.indices):
            raise ValueError("columns: there must be a name for each column")

    def __repr__(self) -> str:
        return self.label or "None"

    @property
    def indices(self) -> Sequence[int]:
        """Positions of the columns."""
        return range(self.width) if self.chosen is None else self.chosen

    @property
    def label(self) -> str:
        """How the columns are written in the name of a kernel; empty where they are all of X."""
        if self.chosen is None:
            return ""
        labels = [self.label_of(position) for position in range(len(self.indices))]
        if len(labels) == 1:
            return labels[0]
        return f"[{', '.join(labels if len(labels) <= 4 else [*labels[:2], '...', labels[-1]])}]"

    def label_of(self, position: int) -> str:
        """How one of the columns is written."""
        return repr(self.names[position] if self.names else self.indices[position])

    def locate(self, X: Any) -> list[int]:
        """Return the positions of these columns in X; refuse data of another shape."""
        names = column_names(X)
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
        return list(self.indices)

    def texts(self, X: Any) -> list[str]:
        """Return the texts in these columns of X, one for each row, joined by line breaks."""
        columns = []
        for position, index in enumerate(self.locate(X)):
            label = self.label_of(position)
            columns.append(self._items(column(X, index), label))
            odd = next((value for value in columns[-1] if not isinstance(value, str)), None)
            if odd is not None:
                raise ValueError(f"X: column {label} must hold texts, but holds {odd!r}")
        return ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def _items(self, values: Any, label: str) -> list[Any]:
        """Return one column of texts."""
        return items(values, label)


Found = TypeVar("Found", bound=Columns)


def found(kernel: Any, kind: type[Found]) -> Found:
    """Return the columns of a kernel that were found in training data."""
    if not isinstance(kernel.columns, kind):
        raise ValueError(f"{type(kernel).__name__} can be compiled only after resolve(X)")
    return kernel.columns


def choose(selection: Any, X: Any) -> Columns:
    """Return the columns of X that a selection means; `Columns` are returned as they are.

    Parameters
    ----------
    selection : as in scikit-learn's ColumnTransformer. None (all columns), a position or a name, a
        list of either, a slice of either, a boolean mask, or a function from X to one of these,
        such as ``make_column_selector()``.
    X : array, sparse matrix, frame or list of texts.
    """
    if isinstance(selection, Columns):
        return selection
    X = as_input(X)
    names = column_names(X)
    indices = _positions(selection(X) if callable(selection) else selection, X.shape[1], names)
    if not indices:
        raise ValueError(f"columns={selection!r} selects no column of X")
    chosen = None if indices == list(range(X.shape[1])) else tuple(indices)
    return Columns(X.shape[1], chosen, names and tuple(names[index] for index in indices))


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
