"""Values of the learned combination of kernels between new examples and support vectors."""

from __future__ import annotations

import numpy as np

from ..common.core import _core, single_threaded_blas
from ..engines import TrainingSet
from ..kernels.compile.examples import Examples, Reading
from ..kernels.data.absent import absent_of_all, is_extrapolated
from .model import Model

BLOCK_VALUES = 2**24  # kernel values that are held at a time


def read_present(model: Model, X: object, n_jobs: int) -> Examples:
    """Return the n examples of X as the kernels of a model read them.

    Raises
    ------
    ValueError
        If a view is absent for an example and the kernels have no value for it.
    """
    with single_threaded_blas():
        reading = Reading(X, training=False, n_jobs=n_jobs)
        absent = absent_of_all(model.compiled, reading)
        if absent is not None and not is_extrapolated(model.compiled):
            raise ValueError(
                "X: a view is absent for some examples, whose decision values have a part that "
                "belongs to no training example; leave these out"
            )
        return model.compiled.read(reading)


def kernel_values(model: Model, output: int, new: Examples, n_jobs: int) -> np.ndarray:
    """Return k(x, x_i) of the weighted sum of kernels of an output, shape (n, n_support)."""
    weights = model.weights[output]
    used = np.flatnonzero(weights)
    found = np.zeros((new.n, model.examples.n))
    if not len(used):
        return found
    old = TrainingSet(model.compiled.listing, model.examples).part(used)
    fresh = TrainingSet(model.compiled.listing, new).part(used)
    step = max(1, BLOCK_VALUES // (len(used) * model.examples.n))
    with single_threaded_blas():
        for first in range(0, new.n, step):
            some = fresh.examples.take(np.arange(first, min(new.n, first + step)))
            values = _core.evaluate(old.kernels.program, old.examples.side, some.side, n_jobs)
            found[first : first + step] = np.einsum("m,msi->is", weights[used], values)
    return found
