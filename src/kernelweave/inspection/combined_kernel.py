"""The learned combination of kernels, as one kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.core import _core, single_threaded_blas
from ..common.numbers import thread_count
from ..engines import TrainingSet
from ..estimators.validation import check_examples
from ..kernels.compile.examples import Examples, Reading
from ..kernels.compile.program import CompiledKernels
from ..kernels.data.absent import absent_of_all, is_extrapolated
from .words import fitted_model, output_of

BLOCK_VALUES = 1 << 24  # kernel values computed at a time: 128 MB


def combined_kernel(
    model: Any, X: Any, Y: Any = None, *, target: Any = None, n_jobs: int | None = None
) -> np.ndarray:
    """Return the matrix of the learned kernel, sum_m theta_m k_m(x, y).

    Parameters
    ----------
    model : fitted estimator
    X : n examples
    Y : m examples, optional
        X by default.
    target : label, optional
        The class whose weights are taken, if classes have weights of their own.
    n_jobs : number of threads; None is one, -1 all processors.

    Returns
    -------
    ndarray of shape (n, m)

    Raises
    ------
    ValueError
        If a view is absent for an example and the kernels have no value for it.

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
    with single_threaded_blas():
        first = read_examples(model, X, threads)
        second = first if Y is None else read_examples(model, Y, threads)
        return combined_values(fitted.compiled, fitted.weights[output], first, second, threads)


def read_examples(model: Any, X: Any, n_jobs: int) -> Examples:
    """Return examples as the kernels of a fitted estimator read them."""
    compiled = fitted_model(model).compiled
    X = check_examples(getattr(model, "best_estimator_", model), X, reset=False)
    reading = Reading(X, training=False, n_jobs=n_jobs)
    if absent_of_all(compiled, reading) is not None and not is_extrapolated(compiled):
        raise ValueError(
            "X: a view is absent for some examples, so that the kernels have no value for them; "
            "leave these out"
        )
    return compiled.read(reading)


def combined_values(
    compiled: CompiledKernels, weights: np.ndarray, first: Examples, second: Examples, n_jobs: int
) -> np.ndarray:
    """Return sum_m weights[m] k_m(x_i, y_j), shape (n, m), in blocks of columns.

    Parameters
    ----------
    compiled : CompiledKernels
    weights : array of shape (M,)
    first, second : n and m examples
    n_jobs : int
    """
    used = np.flatnonzero(weights)
    combined = np.zeros((first.n, second.n))
    if not len(used):
        return combined
    rows = TrainingSet(compiled.listing, first).part(used)
    columns = TrainingSet(compiled.listing, second).part(used)
    step = max(1, BLOCK_VALUES // (len(used) * first.n))
    for start in range(0, second.n, step):
        some = columns.examples.take(np.arange(start, min(second.n, start + step)))
        values = _core.evaluate(rows.kernels.program, rows.examples.side, some.side, n_jobs)
        combined[:, start : start + step] = np.tensordot(weights[used], values, axes=1)
    return combined
