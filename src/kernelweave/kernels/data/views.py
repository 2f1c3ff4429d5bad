"""Views: several tables of the same examples, as one X.

A view is an array, a sparse matrix, a frame, or sequences; all have a row for each example. Where a
row of a view holds NaN (or None) only, that view is *absent* for the example; a view that is None
is absent for all of them. What kernels make of that is said in `kernelweave.kernels.absent`.
"""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing


class Views:
    """Several tables of the same n examples, which scikit-learn can split.

    ``len(X)`` is n, ``X["mrna"]`` is a view, and ``X[index]`` (a slice, integers, or a mask) are
    some of the examples. A kernel picks its view with ``columns="mrna"``, a part of it with
    ``columns=("mrna", part)``, and without ``columns=`` it takes the view of its own name.

    Parameters
    ----------
    views : dict from names to views
        Each is an array, sparse matrix, frame, list of texts or `Sequences` with n rows, or None. A
        mask (of a NumPy masked array) counts as NaN.
    index : sequence of n labels of examples, optional
        Only kept: what `aligned` matched.

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

    def __init__(self, views: Mapping[str, Any], *, index: Sequence[Hashable] | None = None):
        self.views = {name: unmasked(table) for name, table in dict(views).items()}
        self.index = index
        for name in self.views:
            if not isinstance(name, str):
                raise ValueError(f"Views: names of views must be strings, not {name!r}")
        sizes = {
            name: _rows(name, table) for name, table in self.views.items() if table is not None
        }
        if not sizes:
            raise ValueError("Views: there must be at least one view that is not None")
        if len(set(sizes.values())) > 1:
            raise ValueError(f"Views: all views must have a row for each example, not {sizes}")
        self.n = next(iter(sizes.values()))

    @classmethod
    def aligned(cls, tables: Mapping[str, Any], index: Any = None) -> Views:
        """Return the views of tables whose examples differ: rows are matched by their labels.

        Parameters
        ----------
        tables : dict from names to pandas DataFrames or Series, whose index says which example a
            row is.
        index : labels of the examples wanted, such as ``y.index``; by default all that some table
            has, in the order in which they first occur.

        Returns
        -------
        Views
            An example that a table lacks has a row of NaN there. ``index`` are the labels.
        """
        for name, table in tables.items():
            if not hasattr(table, "reindex"):
                raise ValueError(f"Views.aligned: {name!r} must be a pandas DataFrame or Series")
            if not table.index.is_unique:
                twice = table.index[table.index.duplicated()][0]
                raise ValueError(f"Views.aligned: {name!r} has two rows for {twice!r}")
        if index is None:
            index = list(dict.fromkeys(label for one in tables.values() for label in one.index))
        found = {name: table.reindex(list(index)) for name, table in tables.items()}
        lost = [label for label in index if not any(label in t.index for t in tables.values())]
        if lost:
            raise ValueError(f"Views.aligned: no table has a row for {lost[0]!r}")
        return cls(found, index=list(index))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(self.views)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and of all columns."""
        return self.n, sum(_width(table) for table in self.views.values())

    def items(self) -> ItemsView[str, Any]:
        """The names of the views and the views."""
        return self.views.items()

    def __len__(self) -> int:
        return self.n

    def __contains__(self, name: object) -> bool:
        return name in self.views

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._view(key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] in (Ellipsis, slice(None)):
            key = key[0]  # what scikit-learn asks an array for
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


def taken(table: Any, rows: np.ndarray) -> Any:
    """Return some rows of a view."""
    return None if table is None else _safe_indexing(table, rows)


def is_multi_index(X: Any) -> bool:
    """Return whether X is a frame whose columns have several levels; the first are views."""
    return getattr(getattr(X, "columns", None), "nlevels", 1) > 1


def from_frame(X: Any) -> Views:
    """Return the blocks of a frame with MultiIndex columns as views."""
    blocks = dict.fromkeys(X.columns.get_level_values(0))
    return Views({str(block): X[block] for block in blocks}, index=list(X.index))


def unmasked(table: Any) -> Any:
    """Return a masked array with NaN where it is masked, and anything else as it is."""
    if not isinstance(table, np.ma.MaskedArray):
        return table
    return np.where(np.ma.getmaskarray(table), np.nan, np.asarray(table.data, dtype=np.float64))


def _rows(name: str, table: Any) -> int:
    if isinstance(table, str | bytes) or not (hasattr(table, "shape") or hasattr(table, "__len__")):
        raise ValueError(
            f"Views: {name!r} must be an array, a sparse matrix, a frame, a list of texts, "
            f"Sequences or None, not a {type(table).__name__}"
        )
    return int(table.shape[0]) if sp.issparse(table) or hasattr(table, "shape") else len(table)


def _width(table: Any) -> int:
    if table is None:
        return 0
    shape: tuple[int, ...] = getattr(table, "shape", (0,))
    return int(shape[1]) if len(shape) > 1 else 1


class Grams(Views):
    """Several matrices of similarities of the same examples, which are split on both axes.

    X for `Precomputed` kernels: ``Precomputed()`` makes a kernel of each matrix, and
    ``Precomputed(columns="drug")`` takes one. ``X[np.ix_(new, train)]``, which is what scikit-learn
    asks for, are the similarities of some examples to others.

    Parameters
    ----------
    matrices : dict from names to arrays of shape (n, n_train), or array of shape (M, n, n_train)

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
            raise ValueError(f"Grams: all matrices must have the same shape (n, n), not {shapes}")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and of those that they are compared with."""
        return self.n, _width(next(iter(self.views.values())))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._view(key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        return Grams({name: np.atleast_2d(np.asarray(K)[key]) for name, K in self.views.items()})

    def __repr__(self) -> str:
        return f"<Grams of shape {self.shape}: {', '.join(self.names)}>"
