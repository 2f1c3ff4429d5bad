"""Means and standard deviations of the contributions of kernels to the decision values of a fit.

Predictions use the means if a view is absent. `weights_frame` reports the deviations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..engines import Engine, LinearEngine, TrainingSet
from ..engines.base import kernel_blocks
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalized_kernels import MOST_EXAMPLES

if TYPE_CHECKING:
    from .model import Model

MOST_VALUES = 2_000_000  # maximum of examples x outputs x kernels; above, examples are sampled
LEAST_EXAMPLES = 250  # minimum size of the sample, even if it exceeds MOST_VALUES
MOST_OF_SEVERAL = 1000  # maximum size of the sample for models with several outputs
KERNEL_BATCH = 1000  # kernels whose contributions are evaluated together


def statistics(
    model: Model,
    examples: Examples,
    alpha: sp.csr_matrix,
    shares: np.ndarray,
    n_jobs: int,
    engine: Engine | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means and standard deviations of the contributions over the training examples.

    If there are more examples than `sample_size`, a sample of evenly spaced ones is used.

    Parameters
    ----------
    model : Model
        The kernels, their weights and the support vectors.
    examples : Examples
        The n training examples.
    alpha : CSR matrix of shape (n_outputs, n)
        Their dual variables.
    shares : array of shape (n,)
        Weight of each example in means; the sum is 1.
    n_jobs : int
        Number of threads.
    engine : Engine, optional
        The engine of the fit, which may have cached the outputs of all kernels.

    Returns
    -------
    means, deviations : arrays of shape (n_outputs, M)
        Of each kernel.
    view_deviations : array of shape (n_outputs, n_views)
        Of the summed contributions of the kernels of each view.
    """
    weights = model.weights
    some, few, size = examples, np.arange(examples.n), sample_size(weights, examples.n)
    if size < examples.n:
        few = np.linspace(0, examples.n - 1, size).astype(np.int64)
        some, shares = examples.take(few), shares[few] / shares[few].sum()
    local = isinstance(examples, Examples)
    training_set = TrainingSet(model.compiled.listing, examples, n_jobs=n_jobs)
    if engine is not None and _has_outputs(engine, weights, alpha):
        parts = in_batches(kernel_blocks(engine).outputs_at(few).T[:, None] * weights)
    elif local and LinearEngine.serves(training_set):  # one pass gives all kernels' outputs
        outputs = _linear_outputs(LinearEngine.of(training_set), alpha, few)
        parts = in_batches(outputs * weights)
    else:
        parts = model.contributions_in_batches(some, n_jobs)
    means, deviations = np.zeros_like(weights), np.zeros_like(weights)
    views = view_numbers(model.compiled.views)
    by_view = np.zeros((some.n, len(weights), views.max() + 1))
    for kernels, values in parts:
        means[:, kernels], deviations[:, kernels] = spread(values, shares)
        for view in np.unique(views[kernels]):
            by_view[..., view] += values[..., views[kernels] == view].sum(axis=-1)
    return means, deviations, spread(by_view, shares)[1]


def sample_size(weights: np.ndarray, n: int) -> int:
    """Return how many of n training examples `statistics` uses for weights (n_outputs, M)."""
    # The engine has the outputs of one decision function, but not of several.
    most = MOST_EXAMPLES if len(weights) == 1 else MOST_OF_SEVERAL
    fitting = MOST_VALUES // max(weights.size, 1)
    return min(n, most, max(fitting, LEAST_EXAMPLES))


def _has_outputs(engine: Engine, weights: np.ndarray, alpha: sp.csr_matrix) -> bool:
    """Return whether an engine has or cheaply computes the outputs of all kernels for alpha."""
    if engine.n_kernels != weights.shape[1] or alpha.shape[0] > 1:
        return False
    cheap = np.count_nonzero(weights) >= engine.costs.all_outputs
    return bool(cheap) and np.array_equal(engine.alpha, alpha.toarray()[0])


def _linear_outputs(engine: LinearEngine, alpha: sp.csr_matrix, idx: np.ndarray) -> np.ndarray:
    """Return the outputs of each kernel for the examples idx, (len(idx), n_outputs, M).

    `alpha` has shape (n_outputs, n).
    """
    found = []
    for output in range(alpha.shape[0]):
        engine.move_to(alpha[[output]].toarray()[0])
        found.append(engine.outputs_at(idx).T)
    return np.stack(found, axis=1)


def in_batches(values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split values of M kernels, (n, n_outputs, M), into batches of b kernels.

    Yields the indices of the kernels, shape (b,), and their values, (n, n_outputs, b).
    """
    M = values.shape[2]
    for some in np.array_split(np.arange(M), M // KERNEL_BATCH + 1):
        yield some, values[..., some]


def spread(values: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted mean and standard deviation of values, (n, ...), with weights (n,)."""
    means = np.tensordot(shares, values, 1)
    off = values - means
    sizes = np.abs(off).max(axis=0)  # scaled, since squares of large values would overflow
    off = np.divide(off, sizes, out=np.zeros_like(off), where=sizes > 0)
    return means, sizes * np.sqrt(np.tensordot(shares, off**2, 1))


def sum_of_views(values: np.ndarray, views: Sequence[str]) -> np.ndarray:
    """Return values per kernel, shape (..., M), summed over the kernels of each view."""
    numbers = view_numbers(views)
    belongs = np.equal.outer(numbers, np.arange(numbers.max() + 1)).astype(float)
    return values @ belongs


def view_numbers(views: Sequence[str]) -> np.ndarray:
    """Return the number of each kernel's view, counted by first occurrence, shape (M,)."""
    first = {view: number for number, view in enumerate(dict.fromkeys(views))}
    return np.array([first[view] for view in views])
