"""Players of the Shapley games of a model: the original columns of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.types import Tabular
from ..kernels.compile.examples import Examples, View, columns_of
from ..kernels.compile.program import CompiledKernels
from ..kernels.data.columns import Columns
from ..kernels.data.encoding import Encoded
from ..kernels.data.inputs import as_view, column, column_names, is_frame
from ..kernels.data.missing import Gaps
from ..kernels.data.views import Views

Column = tuple[str | None, int]  # name of the view (None without views), position in it


@dataclass(frozen=True, eq=False)
class Players:
    """Players of a game; each has one or more columns of the data.

    Attributes
    ----------
    names : name of each of the P players.
    columns : the original columns of each player.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[Column, ...], ...]

    @classmethod
    def of(cls, compiled: CompiledKernels, X: Tabular) -> Players:
        """Return one player per column of X; for `Views` only those columns that a kernel reads."""
        if isinstance(X, Views):
            found = _columns_read(compiled)
        else:
            found = [(None, index) for index in range(X.shape[1])]
        names = _names_read(compiled)
        if not isinstance(X, Views) and is_frame(X):
            names.update({(None, k): str(name) for k, name in enumerate(column_names(X) or ())})
        return cls(
            tuple(names.get(one) or _default_name(one) for one in found),
            tuple((one,) for one in found),
        )

    def grouped(self, groups: Mapping[str, Sequence[int | str]]) -> Players:
        """Return the players with each group of columns merged into one player.

        Parameters
        ----------
        groups : dict from the name of a group to the names or positions of its columns.
        """
        group_of: dict[int, str] = {}
        for name, members in groups.items():
            for member in [members] if isinstance(members, str) else members:
                at = self._position(member)
                if at in group_of:
                    raise ValueError(
                        f"groups: column {member!r} is in {group_of[at]!r} and in {name!r}; a "
                        "column can be in one group only"
                    )
                group_of[at] = name
        merged: dict[tuple[str, int], tuple[Column, ...]] = {}
        for k, columns in enumerate(self.columns):
            key = (group_of[k], -1) if k in group_of else (self.names[k], k)
            merged[key] = merged.get(key, ()) + columns
        return Players(tuple(name for name, _ in merged), tuple(merged.values()))

    def _position(self, member: int | str) -> int:
        if isinstance(member, str):
            if member not in self.names:
                raise ValueError(f"groups: there is no column {member!r} in {list(self.names)}")
            return self.names.index(member)
        if not 0 <= int(member) < len(self.names):
            raise ValueError(f"groups: there is no column {member!r}; X has {len(self.names)}")
        return int(member)

    def owners(self, view: View) -> np.ndarray | None:
        """Return the player of each feature of a view's table, shape (d,).

        A view is the columns that a kernel reads, encoded as a table of d features. The result is
        None if features cannot be assigned to single columns. For a view of a single column, such
        as the words of a text, the shape is (1,): all features belong to one player.
        """
        columns = columns_of(view)
        if columns is None:
            return None
        positions = self._positions(columns)
        if isinstance(columns, Encoded) and columns.categories:
            widths = [1 if found is None else len(found) for found in columns.categories]
            return np.repeat(positions, widths)
        if isinstance(columns, Encoded | Gaps) or len(positions) == 1:
            return positions
        return None

    def reading(self, view: View) -> set[int] | None:
        """Return the numbers of the players whose columns a view reads; None without columns."""
        columns = columns_of(view)
        return None if columns is None else set(self._positions(columns).tolist())

    def _positions(self, columns: Columns) -> np.ndarray:
        player = {one: k for k, several in enumerate(self.columns) for one in several}
        return np.array([player[columns.view, index] for index in columns.indices])

    def values(self, X: Tabular) -> np.ndarray:
        """Return the value of each player's column in X, shape (n, P); NaN for a group."""
        found = [
            _values(X, *several[0]) if len(several) == 1 else np.full(X.shape[0], np.nan)
            for several in self.columns
        ]
        return np.column_stack(found)


def vectors(examples: Examples, source: int) -> np.ndarray | None:
    """Return the vectors in the table of a source, shape (n, d); None if it has no vectors."""
    table: object = examples.tables[examples.sources[source]]
    if hasattr(table, "to_csr"):
        return table.to_csr().toarray()
    return getattr(table, "values", None)


def _columns_read(compiled: CompiledKernels) -> list[Column]:
    found: dict[Column, None] = {}
    for _, view in compiled.listing.layout.sources:
        columns = columns_of(view)
        if columns is not None:
            found.update(dict.fromkeys((columns.view, index) for index in columns.indices))
    return list(found)


def _names_read(compiled: CompiledKernels) -> dict[Column, str]:
    """Return the names that columns had in the training data; unnamed columns are missing."""
    names: dict[Column, str] = {}
    for _, view in compiled.listing.layout.sources:
        columns = columns_of(view)
        if columns is not None and columns.names is not None:
            for index, name in zip(columns.indices, columns.names, strict=True):
                names[columns.view, index] = f"{columns.view}: {name}" if columns.view else name
    return names


def _default_name(one: Column) -> str:
    view, index = one
    return f"x{index}" if view is None else f"{view}: x{index}"


def _values(X: Any, view: str | None, index: int) -> np.ndarray:
    table = X if view is None else as_view(X[view])
    if sp.issparse(table):
        return table[:, [index]].toarray().ravel()
    return np.asarray(column(table, index))
