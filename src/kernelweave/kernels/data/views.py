"""Several tables of the same examples (multi-view data) as one X.

A view is an array, a sparse matrix, a data frame, or sequences, with one row per example. A view is
*absent* for an example whose row consists of NaN (or None); a view that is None is absent for all
examples. `kernelweave.kernels.data.absent` describes how kernels handle absent views.
"""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from ...common.types import Data
from ...common.warnings import warn


class Views:
    """Several tables of the same n examples, which scikit-learn can split.

    ``len(X)`` is n, ``X["mrna"]`` is a view, and ``X[index]`` (a slice, integers, or a mask)
    selects examples. A kernel selects its view by ``columns="mrna"``, some columns of it by
    ``columns=("mrna", part)``, or by its name if it has no ``columns=``.

    Parameters
    ----------
    views : dict from names to views
        Each view is an array, sparse matrix, data frame, list of texts or `Sequences` with n rows,
        or None. Masked values of NumPy masked arrays count as NaN.
    index : sequence of n labels, optional
        Labels of the examples, as set by `aligned`. They are not used otherwise.

    Raises
    ------
    ValueError
        If the views have different numbers of rows, if all are None, or if two data frames have the
        same labels of rows in different orders.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, Views
    >>> from kernelweave.kernels import RBF, Linear
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> mrna, clinical = rng.normal(size=(60, 5)) + y[:, None], rng.normal(size=(60, 2))
    >>> X = Views({"mrna": mrna, "clinical": clinical})
    >>> X
    <Views of 60 examples: mrna (5 columns), clinical (2 columns)>
    >>> model = MKLClassifier({"mrna": RBF(), "clinical": Linear()}, norm=1).fit(X, y)
    >>> print(model.weights_.round(1))
    [1. 0.]
    """

    def __init__(self, views: Mapping[str, object], *, index: Sequence[Hashable] | None = None):
        self.views = {name: unmasked(table) for name, table in dict(views).items()}
        self.index = index
        for name in self.views:
            if not isinstance(name, str):
                raise ValueError(f"Views: names of views must be strings, got {name!r}")
        sizes = {
            name: _rows(name, table) for name, table in self.views.items() if table is not None
        }
        if not sizes:
            raise ValueError(
                f"Views: at least one of the views {list(self.views)} must not be None"
            )
        if len(set(sizes.values())) > 1:
            raise ValueError(
                f"Views: all views must have the same number of rows, got {sizes}; Views.aligned "
                "matches rows by their labels"
            )
        self.n = next(iter(sizes.values()))
        _check_labels(self.views)

    @classmethod
    def aligned(cls, tables: Mapping[str, Any], index: Any = None) -> Views:
        """Return views of tables that have different examples, matched by their labels.

        Parameters
        ----------
        tables : dict from names to pandas DataFrames or Series
            The index of a table contains the labels of its examples.
        index : sequence of labels, optional
            Labels of the examples to select, such as ``y.index``. By default all labels of all
            tables, in the order of their first occurrence.

        Returns
        -------
        Views
            Examples that a table does not have are rows of NaN. Its attribute ``index`` contains
            the labels. A warning names tables that have none of the labels.

        Raises
        ------
        ValueError
            If a table is not a pandas object or has duplicate labels, or if no table has a label.
        """
        for name, table in tables.items():
            if not hasattr(table, "reindex"):
                raise ValueError(
                    f"Views.aligned: {name!r} must be a pandas DataFrame or Series, not a "
                    f"{type(table).__name__}"
                )
            if not table.index.is_unique:
                twice = table.index[table.index.duplicated()][0]
                raise ValueError(
                    f"Views.aligned: labels must be unique, but {name!r} has two rows for {twice!r}"
                )
        if index is None:
            index = list(dict.fromkeys(label for one in tables.values() for label in one.index))
        found = {name: table.reindex(list(index)) for name, table in tables.items()}
        lost = [label for label in index if not any(label in t.index for t in tables.values())]
        if lost:
            raise ValueError(
                f"Views.aligned: no table has a row for {lost[0]!r}; remove the label from index"
            )
        for name, table in tables.items():
            if len(table) and not table.index.isin(list(index)).any():
                warn(
                    f"Views.aligned: {name!r} has no row for any of the {len(index)} labels of "
                    f"index, so that it is absent for all examples; its labels are like "
                    f"{table.index[0]!r}, those of index like {index[0]!r}",
                    UserWarning,
                )
        return cls(found, index=list(index))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(self.views)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and total number of columns."""
        return self.n, sum(_width(table) for table in self.views.values())

    def items(self) -> ItemsView[str, Any]:
        """Return pairs of names and views.

        Returns
        -------
        items view of a dict
        """
        return self.views.items()

    def __len__(self) -> int:
        return self.n

    def __contains__(self, name: object) -> bool:
        return name in self.views

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._view(key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] in (Ellipsis, slice(None)):
            key = key[0]  # scikit-learn indexes arrays as X[rows, ...]
        rows = np.atleast_1d(np.arange(self.n)[key])
        found = {name: taken(table, rows) for name, table in self.views.items()}
        return Views(found, index=self.index and [self.index[i] for i in rows])

    def _view(self, name: str) -> Any:
        if name not in self.views:
            raise ValueError(
                f"X has no view {name!r}; its views are {', '.join(self.names)}; for examples "
                f"without this view pass {{{name!r}: None}} beside the others"
            )
        return self.views[name]

    def __repr__(self) -> str:
        parts = [f"{name} ({_width(table)} columns)" for name, table in self.views.items()]
        return f"<Views of {self.n} examples: {', '.join(parts)}>"


def taken(table: object, rows: np.ndarray) -> Any:
    """Return the given rows of a table; None if the table is None."""
    return None if table is None else _safe_indexing(table, rows)


def is_multi_index(X: Data) -> bool:
    """Return whether X is a data frame with MultiIndex columns; its first level names views."""
    return getattr(getattr(X, "columns", None), "nlevels", 1) > 1


def from_frame(X: Any) -> Views:
    """Return a data frame with MultiIndex columns as `Views`, one for each first-level label."""
    blocks = dict.fromkeys(X.columns.get_level_values(0))
    return Views({str(block): X[block] for block in blocks}, index=list(X.index))


def unmasked(table: object) -> Any:
    """Return a masked array with NaN for masked values; other tables are returned unchanged."""
    if not isinstance(table, np.ma.MaskedArray):
        return table
    return np.where(np.ma.getmaskarray(table), np.nan, np.asarray(table.data, dtype=np.float64))


def _rows(name: str, table: Any) -> int:
    if isinstance(table, str | bytes) or not (hasattr(table, "shape") or hasattr(table, "__len__")):
        raise ValueError(
            f"Views: {name!r} must be an array, a sparse matrix, a frame, a list of texts, "
            f"Sequences or None, got a {type(table).__name__}"
        )
    return int(table.shape[0]) if sp.issparse(table) or hasattr(table, "shape") else len(table)


def _check_labels(views: Mapping[str, Any]) -> None:
    """Raise ValueError if two data frames have the same row labels in different orders."""
    frames = {name: table.index for name, table in views.items() if hasattr(table, "reindex")}
    if not frames:
        return
    (first, labels), *others = frames.items()
    for name, index in others:
        if not index.equals(labels) and index.is_unique and len(index.difference(labels)) == 0:
            raise ValueError(
                f"Views: {first!r} and {name!r} have the same labels of rows in different orders; "
                "Views.aligned matches rows by their labels; use reset_index(drop=True) if rows "
                "belong together by position"
            )


def _width(table: object) -> int:
    if table is None:
        return 0
    shape: tuple[int, ...] = getattr(table, "shape", (0,))
    return int(shape[1]) if len(shape) > 1 else 1


class Grams(Views):
    """Several kernel matrices of the same examples, which scikit-learn splits on both axes.

    They are the X of `Precomputed` kernels: ``Precomputed()`` is a family of all matrices, and
    ``Precomputed(columns="drug")`` selects one. ``X[np.ix_(new, train)]`` contains the similarities
    of some examples to others.

    Parameters
    ----------
    matrices : dict from names to arrays of shape (n, n_train), or array of shape (M, n, n_train)
        Similarities of n examples to the training examples, for M kernels.

    Raises
    ------
    ValueError
        If the matrices have different shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from kernelweave import Grams, MKLClassifier
    >>> from kernelweave.kernels import Precomputed
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> one, two = rng.normal(size=(60, 5)) + y[:, None], rng.normal(size=(60, 5))
    >>> X = Grams({"one": one @ one.T, "two": two @ two.T})
    >>> scores = cross_val_score(MKLClassifier(Precomputed(), norm=1), X, y, cv=3)
    >>> print(len(X), scores.shape)
    60 (3,)
    """

    def __init__(self, matrices: Any):
        if not isinstance(matrices, Mapping):
            matrices = {f"K{m}": matrix for m, matrix in enumerate(matrices)}
        super().__init__(matrices)
        shapes = {name: np.shape(matrix) for name, matrix in self.views.items()}
        if len(set(shapes.values())) > 1 or any(len(shape) != 2 for shape in shapes.values()):
            raise ValueError(f"Grams: all matrices must have the same shape (n, n), got {shapes}")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows (examples) and columns (training examples)."""
        return self.n, _width(next(iter(self.views.values())))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._view(key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        return Grams({name: np.atleast_2d(np.asarray(K)[key]) for name, K in self.views.items()})

    def __repr__(self) -> str:
        return f"<Grams of shape {self.shape}: {', '.join(self.names)}>"
