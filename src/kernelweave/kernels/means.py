"""Means of kernels over examples and over pairs of them, as normalisations need them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

from kernelweave.core import _core
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.program import CompiledKernels

MOST_EXAMPLES = 5000
FAMILY = 8  # kernels from which on they are tabulated as functions of their shared quantity
MOST_ROWS = 500  # kernels whose means of rows are held at a time
MANY_WIDTHS = 500  # of a family, from which on variances are interpolated between some of them:
PIECE, DEGREE = 2.0, 24  # polynomials on pieces of log(gamma) so long, to about 1e-12


def sampled(kernel: Kernel, reading: Reading) -> tuple[CompiledKernels, Examples, np.ndarray]:
    """Return a kernel, compiled, the examples over which means are taken, and their shares."""
    compiled = CompiledKernels((kernel,))
    examples = compiled.read(reading)
    if examples.n <= MOST_EXAMPLES:
        return compiled, examples, reading.shares
    chosen = np.linspace(0, examples.n - 1, MOST_EXAMPLES).astype(np.int64)
    shares = reading.shares[chosen]
    return compiled, examples.take(chosen), shares / shares.sum()


def mean_over_pairs(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return the mean of each member over all pairs of training examples, shape (M,).

    Where some examples are absent elsewhere, row means are needed as well, and are kept.
    """
    compiled, examples, shares = sampled(kernel, reading)
    if not reading.is_part or examples.n < reading.n:
        return mean_of_pairs(compiled, examples, shares, reading.n_jobs)
    means: np.ndarray = kernel.row_means(reading) @ shares
    return means


def row_means(
    compiled: CompiledKernels,
    reference: Examples,
    shares: np.ndarray,
    examples: Examples,
    n_jobs: int,
) -> np.ndarray:
    """Return sum_i shares_i k_m(reference_i, x) for each member m and example x, shape (M, n)."""
    return _core.sum_each(compiled.program, reference.side, examples.side, shares, n_jobs)


def mean_of_pairs(
    compiled: CompiledKernels, examples: Examples, shares: np.ndarray, n_jobs: int
) -> np.ndarray:
    """Return the sum of shares_i shares_j k_m(x_i, x_j) over all pairs, shape (M,)."""
    if compiled.n_kernels >= FAMILY and _core.Mixture.serves(compiled.program):
        # Families of functions of one quantity: the cost of a pair does not grow with M.
        family = _core.Mixture(compiled.program, examples.side, 0, n_jobs)
        sums: np.ndarray = family.quadratic(np.arange(examples.n), shares)
        return sums
    if _core.LinearEngine.serves(compiled.program, examples.side):  # families of string kernels
        engine = _core.LinearEngine(compiled.program, examples.side, 0, n_jobs)
        return engine.products(keep=False).quadratic(shares)
    if compiled.n_kernels > MOST_ROWS:  # the means of all rows would take much memory
        return _core.quadratic(compiled.program, examples.side, shares)
    return _halves(compiled, examples, shares, n_jobs)


def _halves(
    compiled: CompiledKernels, examples: Examples, shares: np.ndarray, n_jobs: int
) -> np.ndarray:
    """Return the same for few kernels, from the means of rows."""
    half = examples.n // 2
    if half < 256:
        total: np.ndarray = row_means(compiled, examples, shares, examples, n_jobs) @ shares
        return total
    # Pairs with one example in each half count twice and are evaluated once.
    left, right = np.arange(half), np.arange(half, examples.n)
    parts = examples.take(left), examples.take(right)
    across = row_means(compiled, parts[0], shares[left], parts[1], n_jobs) @ shares[right]
    inside = [
        _halves(compiled, part, shares[index], n_jobs)
        for part, index in zip(parts, (left, right), strict=True)
    ]
    sums: np.ndarray = inside[0] + inside[1] + 2 * across
    return sums


def by_width(variances: Callable[[np.ndarray], np.ndarray], gammas: np.ndarray) -> np.ndarray:
    """Return the variances of exp(-gamma distance) for all gammas, shape (M,).

    Those of very many gammas are interpolated. The variance over gamma is an analytic function of
    log(gamma) in a strip of half-width pi / 2, so that polynomials on short pieces converge fast.

    Parameters
    ----------
    variances : gives them for some gammas.
    gammas : shape (M,).
    """
    if len(gammas) <= MANY_WIDTHS:
        return variances(gammas)
    logs = np.log(gammas)
    first, length = logs.min(), np.ptp(logs)
    pieces = max(1, int(np.ceil(length / PIECE)))
    half = max(length / pieces / 2, np.finfo(float).tiny)
    piece = np.minimum(((logs - first) / (2 * half)).astype(int), pieces - 1)
    values, nodes = np.empty(len(gammas)), chebyshev.chebpts1(DEGREE + 1)
    for k in np.unique(piece):
        middle, inside = first + (2 * k + 1) * half, piece == k

        some = np.exp(middle + half * nodes)
        polynomial = chebyshev.chebfit(nodes, variances(some) / some, DEGREE)
        scaled = (logs[inside] - middle) / half
        values[inside] = gammas[inside] * chebyshev.chebval(scaled, polynomial)
    return values
