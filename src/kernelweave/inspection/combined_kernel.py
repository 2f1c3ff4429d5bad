"""The learned combination of kernels, as one kernel matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..common.numbers import thread_count
from ..common.types import Data
from ..estimators.validation import check_examples
from ..kernels.compile.examples import Examples
from ..model.kernel_values import combined_values, read_present
from .words import best_estimator, fitted_model, output_of

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


def combined_kernel(
    model: FittedEstimator,
    X: Data,
    Y: Data = None,
    *,
    target: object = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the matrix of the learned kernel, sum_m theta_m k_m(x, y).

    theta_m are the kernel weights, and k_m the kernels with the normalisation of the model.

    Parameters
    ----------
    model : fitted estimator
    X : n examples
    Y : m examples, optional
        X by default.
    target : label, optional
        The class whose weights are used, if each class has separate weights.
    n_jobs : number of threads; None is one, -1 all processors.

    Returns
    -------
    ndarray of shape (n, m)

    Raises
    ------
    ValueError
        If an example has no value in any column that a kernel reads, unless the model was trained
        with such examples and is not a one-class model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.inspection import combined_kernel
    >>> from kernelweave.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(RBF(gamma=[0.1, 1.0]), norm=2).fit(X[:100], y[:100])
    >>> combined_kernel(model, X[:3], X).shape
    (3, 150)
    """
    fitted, output = fitted_model(model), output_of(model, target)
    threads = thread_count(n_jobs)
    first = read_examples(model, X, threads)
    second = first if Y is None else read_examples(model, Y, threads)
    return combined_values(fitted.compiled, fitted.weights[output], first, second, threads)


def read_examples(model: FittedEstimator, X: Data, n_jobs: int) -> Examples:
    """Return examples, encoded for the kernels of a fitted estimator.

    Raises
    ------
    ValueError
        If an example has no value in any column that a kernel reads, unless the model was trained
        with such examples and is not a one-class model.
    """
    X = check_examples(best_estimator(model), X, reset=False)
    return read_present(fitted_model(model), X, n_jobs)
