"""The training examples that contribute most to a decision value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..common.numbers import as_count, thread_count
from ..common.types import Data
from ..model.kernel_values import kernel_values
from ..model.model import Model
from .combined_kernel import read_examples
from .words import best_estimator, fitted_model, output_of

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class InfluentialExamples:
    """Training examples that contribute most to each of n decision values.

    The decision value of x is the intercept plus the sum of the contributions
    ``alpha_i k(x_i, x)`` of the support vectors x_i, where alpha_i is the coefficient of x_i (an
    entry of ``dual_coef_``) and k the learned combination of kernels.

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
    model: FittedEstimator,
    X: Data,
    k: int = 10,
    *,
    target: object = None,
    n_jobs: int | None = None,
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
        If an example has no value in any column that a kernel reads, unless the model was trained
        with such examples and is not a one-class model.

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
    k = as_count("k", k)
    fitted, output = fitted_model(model), output_of(model, target)
    estimator = best_estimator(model)
    rows, threads = _rows_of_support(fitted), thread_count(n_jobs)
    values = kernel_values(fitted, output, read_examples(model, X, threads), threads)
    parts = values * fitted.coef[output]
    merged = fitted.coef[output, rows]
    share = np.divide(  # fraction of the coefficient of the merged example
        estimator.dual_coef_[output], merged, out=np.zeros(len(rows)), where=merged != 0
    )
    intercept = float(fitted.intercept[output])
    return _largest(parts[:, rows] * share, estimator.support_, k, intercept)


def _rows_of_support(model: Model) -> np.ndarray:
    """Return the row of each support vector in `model.examples`, shape (n_support,).

    A fit merges equal training examples into one row; the estimator lists each of them.
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
    """Return the k contributions of largest absolute value in each row of `parts`.

    `positions`, shape (n_support,), are the support vectors' positions in the training data.
    """
    n = len(parts)
    order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :k]
    contributions = np.zeros((n, k))
    contributions[:, : order.shape[1]] = np.take_along_axis(parts, order, axis=1)
    indices = np.full((n, k), -1, dtype=np.int64)
    indices[:, : order.shape[1]] = positions[order]
    return InfluentialExamples(
        indices, contributions, parts.sum(axis=1) - contributions.sum(axis=1), intercept
    )
