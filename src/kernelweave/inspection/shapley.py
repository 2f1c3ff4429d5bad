"""Exact Shapley values of decision functions, over columns, kernels or views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..common.core import single_threaded_blas
from ..common.numbers import as_count, thread_count
from ..common.types import Data
from ..estimators.validation import check_examples
from ..kernels.compile.examples import Dense, Examples, Reading, Sparse
from ..kernels.data.absent import absent_of_all
from ..kernels.data.inputs import as_input
from ..kernels.string.string_columns import PlaneTable, SequenceTable
from ..model.model import Model
from ..model.statistics import sum_of_views, view_numbers
from .games import Games
from .letter_scores import letter_scores
from .players import Players
from .words import best_estimator, fitted_model

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

BY = ("feature", "kernel", "view")


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Decision values of n examples, divided among P players by their Shapley values.

    ``values.sum(axis=1) + base_values`` is the decision value of each example.

    Attributes
    ----------
    values : array of shape (n, P), or (n, P, outputs) with several decision functions
    base_values : array of shape (n,), or (n, outputs)
        Mean decision value over the background; for letters of sequences the intercept.
    data : array of shape (n, P), or None
        Value of each player's column in X; None if the players are not columns.
    feature_names : tuple of P strings
        Names of the players.
    by : {"feature", "kernel", "view"}
        What the players are; see `shapley`.
    background : str
        Description of the background, for `repr`.
    output_names : tuple of labels, or None with one decision function

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelweave import MKLRegressor
    >>> from kernelweave.inspection import shapley
    >>> from kernelweave.kernels import RBF
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MKLRegressor(RBF("median")).fit(X, y)
    >>> found = shapley(model, X[:20], background=X)
    >>> found
    <ShapleyValues of 20 examples over 10 features; background: 100 of 442 rows given, chosen and \
weighted by k-means>
    >>> total = found.values.sum(axis=1) + found.base_values
    >>> np.allclose(total, model.predict(X[:20]))
    True
    >>> found.mean_abs().index[0]
    's5'
    """

    values: np.ndarray
    base_values: np.ndarray
    data: np.ndarray | None
    feature_names: tuple[str, ...]
    by: str
    background: str
    output_names: tuple[object, ...] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"<ShapleyValues of {len(self)} examples over {len(self.feature_names)} "
            f"{self.by}s; background: {self.background}>"
        )

    def of_output(self, output: object = None) -> ShapleyValues:
        """Return the Shapley values of one decision function.

        Parameters
        ----------
        output : label, optional
            One of `output_names`; required if there are several.

        Returns
        -------
        ShapleyValues

        Raises
        ------
        ValueError
            If `output` is not one of `output_names`.
        """
        if self.output_names is None:
            return self
        if output not in self.output_names:
            raise ValueError(
                f"output must be one of {list(self.output_names)}, got {output!r}: there is a "
                "decision function for each"
            )
        at = list(self.output_names).index(output)
        return replace(
            self,
            values=self.values[:, :, at],
            base_values=self.base_values[:, at],
            output_names=None,
        )

    def mean_abs(self, output: object = None) -> Any:
        """Return the mean absolute value of each player, largest first.

        Parameters
        ----------
        output : label, optional
            One of `output_names`; required if there are several.

        Returns
        -------
        pandas Series
        """
        from pandas import Series  # optional dependency

        sizes = np.abs(self.of_output(output).values).mean(axis=0)
        series = Series(sizes, index=list(self.feature_names), name="mean |value|")
        return series.sort_values(ascending=False, kind="stable")

    def to_shap(self) -> Any:
        """Return the values in the form that `shap.plots` accepts; shap must be installed.

        Returns
        -------
        shap.Explanation
        """
        from shap import Explanation

        return Explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=None if self.output_names is None else list(self.output_names),
        )


def shapley(
    model: FittedEstimator,
    X: Data,
    background: object = None,
    *,
    by: str = "feature",
    groups: Mapping[str, Sequence[int | str]] | None = None,
    n_background: int | None = 100,
    n_jobs: int | None = None,
) -> ShapleyValues:
    """Return exact interventional Shapley values of decision values.

    The value of a column is its average marginal contribution to the decision value over all
    orders in which columns change from a background row to the example. There is no sampling: the
    values are exact up to rounding. See the guide, "Explaining predictions".

    Parameters
    ----------
    model : fitted estimator
    X : n examples
    background : rows like those of X, or None
        A column outside a coalition takes its value from these rows. None: the support vectors, the
        only training examples that a model stores; for "kernel" and "view" the mean over all
        training examples.
    by : {"feature", "kernel", "view"}
        The players: columns of X (a categorical column is one player), kernels, or views. The
        decision function is a sum over kernels. The value of a kernel or view is therefore its
        contribution minus the mean contribution over the background, for any kernel. For models of
        sequences with "feature" the players are positions, their values are the contributions that
        `letter_scores` returns, and the base value is the intercept.
    groups : dict from names to lists of columns, optional
        Columns, by name or position, that form one player; for ``by="feature"`` only.
    n_background : int or None
        Maximum number of background rows. If there are more, k-means divides them into this many
        clusters, and the row nearest to each centre represents its cluster. None uses all rows.
    n_jobs : number of threads; None is one, -1 all processors.

    Returns
    -------
    ShapleyValues

    Raises
    ------
    ValueError
        If ``by="feature"`` and a kernel is not a sum of products over columns: precomputed
        matrices, functions, unit-normalised dot products, exponentials of kernels. Kernels that
        read a single column are always accepted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.inspection import shapley
    >>> from kernelweave.kernels import RBF, Linear
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = MKLClassifier([Linear(), RBF("median")]).fit(X, y)
    >>> shapley(model, X[:10], background=X).values.shape
    (10, 30)
    >>> shapley(model, X[:10], by="kernel").values.shape
    (10, 2)
    """
    if by not in BY:
        raise ValueError(f"by must be one of {list(BY)}, got {by!r}")
    if groups is not None and by != "feature":
        raise ValueError(f'groups: columns are grouped with by="feature" only, not by={by!r}')
    if n_background is not None:
        n_background = as_count("n_background", n_background)
    fitted, estimator = fitted_model(model), best_estimator(model)
    threads = thread_count(n_jobs)
    if not isinstance(estimator, Model):
        X = check_examples(estimator, X, reset=False)
        if background is not None:
            background = check_examples(estimator, background, reset=False)
    outputs = _output_names(estimator, fitted)
    if by == "feature" and _reads_sequences(fitted):
        found = _of_letters(estimator, fitted, X, background, outputs)
    elif by != "feature":
        found = _of_kernels(fitted, X, background, by, threads)
    else:
        found = _of_columns(fitted, X, background, groups, n_background, threads)
    return found.arranged(by, outputs)


@dataclass(frozen=True, eq=False)
class _Values:
    """Shapley values of all decision functions, before conversion to `ShapleyValues`.

    Attributes
    ----------
    values : array of shape (n, outputs, P)
    base : array of shape (outputs,)
        Mean decision values over the background.
    data : array of shape (n, P), or None
        Value of each player's column.
    names : tuple of P strings
    background : str
        Description of the background.
    """

    values: np.ndarray
    base: np.ndarray
    data: np.ndarray | None
    names: tuple[str, ...]
    background: str

    def arranged(self, by: str, outputs: tuple[object, ...] | None) -> ShapleyValues:
        """Return the values by "feature", "kernel" or "view", as `by` says, in the public format.

        If `outputs`, the names of the outputs, is None, the arrays have no axis of outputs.
        """
        values, bases = self.values, np.tile(self.base, (len(self.values), 1))
        if outputs is None:
            values, bases = values[:, 0], bases[:, 0]
        else:
            values = np.ascontiguousarray(values.transpose(0, 2, 1))
        return ShapleyValues(values, bases, self.data, self.names, by, self.background, outputs)


def _output_names(estimator: FittedEstimator, model: Model) -> tuple[object, ...] | None:
    count = len(model.intercept)
    if count == 1:
        return None
    return tuple(np.asarray(estimator._output_names()).tolist())


def _reads_sequences(model: Model) -> bool:
    return all(isinstance(one, PlaneTable | SequenceTable) for one in model.examples.tables)


def _of_letters(
    estimator: FittedEstimator,
    model: Model,
    X: Data,
    background: object,
    outputs: tuple[object, ...] | None,
) -> _Values:
    """Return Shapley values of the positions of sequences: the contributions of their letters."""
    if background is not None:
        raise ValueError(
            "background must be None for a model of sequences: the values of letters refer to a "
            'sequence without any matching word; use by="kernel" with a background'
        )
    targets = (None,) if outputs is None else outputs
    scores = [letter_scores(estimator, X, target=one).contributions.sum(axis=1) for one in targets]
    values = np.stack(scores, axis=1)
    names = tuple(f"position {k}" for k in range(values.shape[2]))
    return _Values(values, model.intercept, None, names, "a sequence without matching words")


def _of_kernels(model: Model, X: Data, background: object, by: str, n_jobs: int) -> _Values:
    """Return contributions of kernels or views minus their means over the background."""
    values = model.contributions(X, n_jobs=n_jobs)
    if background is not None:
        means = model.contributions(background, n_jobs=n_jobs).mean(axis=0)
        where = f"{as_input(background).shape[0]} rows given"
    elif model.means is not None:
        means, where = model.means, "the training examples"
    else:
        raise ValueError("background: a model of an older file needs background rows")
    base = model.intercept + means.sum(axis=1)
    values = values - means
    names = model.compiled.names
    if by == "view":
        values = sum_of_views(values, model.compiled.views)
        first = np.unique(view_numbers(model.compiled.views), return_index=True)[1]
        names = tuple(model.compiled.views[k] for k in first)
    return _Values(values, base, None, names, where)


def _of_columns(
    model: Model,
    X: Data,
    background: object,
    groups: Mapping[str, Sequence[int | str]] | None,
    n_background: int | None,
    n_jobs: int,
) -> _Values:
    """Return Shapley values of the columns of X, or of groups of them."""
    with single_threaded_blas():
        new = _read(model, X, "X", n_jobs)
        if background is None:
            rows, what = model.examples, "support examples"
            if any(not isinstance(table, Dense | Sparse) for table in rows.tables):
                raise ValueError(
                    "background must be passed for kernels on strings or texts and for "
                    "precomputed matrices: pass the training data"
                )
        else:
            rows, what = _read(model, background, "background", n_jobs), "rows given"
        chosen, weights = summary(rows, n_background)
        where = f"{rows.n} {what}"
        if len(chosen) < rows.n:
            where = f"{len(chosen)} of {where}, chosen and weighted by k-means"
        rows = rows.take(chosen)
        columns = as_input(X)
        players = Players.of(model.compiled, columns)
        if groups is not None:
            players = players.grouped(groups)
        values = Games(model, players, new, rows, weights, n_jobs).values()
        base = weights @ (model.contributions_of(rows, n_jobs).sum(axis=2)) + model.intercept
    return _Values(values, base, players.values(columns), players.names, where)


def _read(model: Model, X: Data, name: str, n_jobs: int) -> Examples:
    """Return the examples X, encoded for the kernels; raise ValueError for absent views.

    `name` is the argument that messages mention, X or background.
    """
    reading = Reading(X, training=False, n_jobs=n_jobs)
    if absent_of_all(model.compiled, reading) is not None:
        raise ValueError(
            f"{name}: a view is absent for some rows, where Shapley values over columns are not "
            'defined; use by="view", or leave these rows out'
        )
    return model.compiled.read(reading)


def summary(examples: Examples, count: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of k representative examples, and their weights.

    Parameters
    ----------
    examples : n examples.
    count : maximum of k; None for all examples.

    Returns
    -------
    rows : (k,) all positions if n <= count; otherwise the example nearest to the centre of each
        cluster of k-means, or evenly spaced positions if no kernel reads vectors.
    weights : (k,) the fraction of the examples that each one represents.
    """
    n = examples.n
    tables = [table for table in examples.tables if isinstance(table, Dense | Sparse)]
    if count is None or n <= count:
        return np.arange(n), np.full(n, 1.0 / n)
    if not tables:
        rows = np.linspace(0, n - 1, count).astype(np.int64)
        return rows, np.full(count, 1.0 / count)
    from sklearn.cluster import KMeans  # takes long to import

    parts = [one.values if isinstance(one, Dense) else one.to_csr() for one in tables]
    points = as_sparse(parts) if any(map(sp.issparse, parts)) else np.hstack(parts)
    clusters = KMeans(count, n_init=1, random_state=0).fit(points)
    distances = clusters.transform(points)[np.arange(n), clusters.labels_]
    order = np.lexsort((distances, clusters.labels_))
    _labels, first, sizes = np.unique(
        clusters.labels_[order], return_index=True, return_counts=True
    )
    return order[first], sizes / n


def as_sparse(parts: Sequence[np.ndarray | sp.csr_array]) -> sp.csr_array:
    """Return the horizontal concatenation of tables, with 32-bit indices for scikit-learn."""
    joined = sp.csr_array(sp.hstack(parts))
    indices, starts = joined.indices.astype(np.int32), joined.indptr.astype(np.int32)
    return sp.csr_array((joined.data, indices, starts), shape=joined.shape)
