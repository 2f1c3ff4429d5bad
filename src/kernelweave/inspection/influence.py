"""The training examples that contribute most to a decision value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.numbers import is_whole, thread_count
from ..estimators.validation import check_examples
from ..model.kernel_values import kernel_values, read_present
from ..model.model import Model
from .words import fitted_model, output_of


@dataclass(frozen=True, eq=False)
class InfluentialExamples:
    """Training examples that contribute most to each of n decision values.

    The decision value of x is the intercept plus the sum of the contributions
    ``alpha_i k(x_i, x)`` of the support vectors x_i, where k is the learned combination of kernels.

    Attributes
    ----------
    indices : array of shape (n, k)
        Positions in the training data, largest absolute contribution first; -1 where there are
        fewer than k support vectors.
    contributions : array of shape (n, k)
        The contribution ``alpha_i k(x_i, x)`` of each; 0 where the index is -1.
    rest : array of shape (n,)
        Sum of the contributions of all other support vectors.
    intercept : float

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.inspection import influential_examples
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier().fit(X, y == 1)
    >>> found = influential_examples(model, X[:4], k=3)
    >>> found.indices.shape
    (4, 3)
    >>> total = found.contributions.sum(axis=1) + found.rest + found.intercept
    >>> np.allclose(total, model.decision_function(X[:4]))
    True
    """

    indices: np.ndarray
    contributions: np.ndarray
    rest: np.ndarray
    intercept: float


def influential_examples(
    model: Any, X: Any, k: int = 10, *, target: Any = None, n_jobs: int | None = None
) -> InfluentialExamples:
    """Return the training examples that contribute most to each decision value.

    Parameters
    ----------
    model : fitted estimator
    X : n examples
    k : int
        Number of training examples that are returned for each example of X.
    target : label, optional
        The class whose decision function is read, if there are several.
    n_jobs : int or None
        Number of threads; None is one, -1 all processors.

    Returns
    -------
    InfluentialExamples
        Exact: contributions, rest and intercept sum to the decision value.

    Raises
    ------
    ValueError
        If a view is absent for an example and the kernels have no value for it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelweave import MKLRegressor
    >>> from kernelweave.inspection import influential_examples
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MKLRegressor().fit(X, y)
    >>> influential_examples(model, X[:3], k=5).contributions.shape
    (3, 5)
    """
    if not is_whole(k) or k < 1:
        raise ValueError(f"k must be an integer >= 1, got {k!r}")
    fitted, output = fitted_model(model), output_of(model, target)
    estimator = getattr(model, "best_estimator_", model)
    X = check_examples(estimator, X, reset=False)
    rows = _rows_of_support(fitted)
    threads = thread_count(n_jobs)
    values = kernel_values(fitted, output, read_present(fitted, X, threads), threads)
    parts = values * fitted.coef[output]
    merged = fitted.coef[output, rows]
    share = np.divide(  # fraction of the coefficient of the merged example
        estimator.dual_coef_[output], merged, out=np.zeros(len(rows)), where=merged != 0
    )
    intercept = float(fitted.intercept[output])
    return _largest(parts[:, rows] * share, estimator.support_, int(k), intercept)


def _rows_of_support(model: Model) -> np.ndarray:
    """Return the index of each support vector among the distinct ones, shape (n_support,).

    A fit merges equal training examples; the estimator lists each of them.
    """
    if model.support is None:
        raise ValueError(
            "model was read from a file of an earlier version, which lists equal training examples "
            "as one; fit the model again"
        )
    return np.arange(model.examples.n) if model.merged_into is None else model.merged_into


def _largest(
    parts: np.ndarray, positions: np.ndarray, k: int, intercept: float
) -> InfluentialExamples:
    """Return the k contributions of largest absolute value in each row."""
    n = len(parts)
    order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :k]
    contributions = np.zeros((n, k))
    contributions[:, : order.shape[1]] = np.take_along_axis(parts, order, axis=1)
    indices = np.full((n, k), -1, dtype=np.int64)
    indices[:, : order.shape[1]] = positions[order]
    return InfluentialExamples(
        indices, contributions, parts.sum(axis=1) - contributions.sum(axis=1), intercept
    )
