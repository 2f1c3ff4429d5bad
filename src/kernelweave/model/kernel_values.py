"""Values of the learned combination of kernels between examples."""

from __future__ import annotations

import numpy as np

from ..common.core import _core, single_threaded_blas
from ..engines import TrainingSet
from ..kernels.compile.examples import Examples, Reading
from ..kernels.compile.program import CompiledKernels
from ..kernels.data.absent import absent_of_all, is_extrapolated
from .model import Model

BLOCK_VALUES = 2**24  # kernel values in memory at a time: 128 MB


def read_present(model: Model, X: object, n_jobs: int) -> Examples:
    """Return the n examples of X, encoded for the kernels of a model.

    Raises
    ------
    ValueError
        If an example has no value in any column that a kernel reads, unless the model was trained
        with such examples and is not a one-class model.
    """
    with single_threaded_blas():
        reading = Reading(X, training=False, n_jobs=n_jobs)
        absent = absent_of_all(model.compiled, reading)
        if absent is not None and not is_extrapolated(model.compiled):
            raise ValueError(
                "X: a view is absent for some examples, so that the kernels have no value for "
                "them; leave these examples out"
            )
        return model.compiled.read(reading)


def kernel_values(model: Model, output: int, new: Examples, n_jobs: int) -> np.ndarray:
    """Return sum_m weights[output, m] k_m(x, x_i) for support vectors x_i, (n, n_support)."""
    return combined_values(model.compiled, model.weights[output], new, model.examples, n_jobs)


def combined_values(
    compiled: CompiledKernels, weights: np.ndarray, first: Examples, second: Examples, n_jobs: int
) -> np.ndarray:
    """Return sum_m weights[m] k_m(x_i, y_j), shape (n, q), computed in blocks of columns.

    Parameters
    ----------
    compiled : CompiledKernels
        The M kernels k_m.
    weights : ndarray of shape (M,)
        Kernel weights.
    first, second : Examples
        n examples x_i and q examples y_j.
    n_jobs : int
        Number of threads.
    """
    used = np.flatnonzero(weights)
    combined = np.zeros((first.n, second.n))
    if not len(used):
        return combined
    rows = TrainingSet(compiled.listing, first).part(used)
    columns = TrainingSet(compiled.listing, second).part(used)
    step = max(1, BLOCK_VALUES // (len(used) * first.n))
    with single_threaded_blas():
        for start in range(0, second.n, step):
            some = columns.examples.take(np.arange(start, min(second.n, start + step)))
            values = _core.evaluate(rows.kernels.program, rows.examples.side, some.side, n_jobs)
            combined[:, start : start + step] = np.tensordot(weights[used], values, axes=1)
    return combined
