"""The Hessian of J(theta), the optimal value of the inner problem, as Newton steps need it.

Let G, shape (f, M), be the outputs of all kernels at the f free examples (alphas strictly between
their bounds), K their combined kernel matrix, and A = K + diag(curvature) with the second
derivatives of the conjugate losses. Then the Hessian is G' X, where A X + 1 b = G and the columns
of X add up to 0 (`kkt_system.value_hessian`).

For large f the matrix A is too large, and the Hessian is estimated from every k-th free example,
each of which counts k times. This overestimates the Hessian if examples are similar: it would be
exact only if A were diagonal. The estimate decreases as the sample grows. So it is computed from
the sample and from half of it, and extrapolated to all free examples (`extrapolated`).

The Hessian of several outputs is the sum of theirs. With many outputs, such as all pairs of
classes, it is estimated from evenly spaced ones, as in subsampled Newton methods (Byrd et al.,
2011). The gradient, which decides the optimum, remains exact.

If conjugate gradients have recorded matrix-vector products with K, these define a low-rank model of
K (`engines.recorded_products`), which is as accurate as a sample and costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...engines.base import Engine, kernel_blocks, recorded_products
from ...problem.problem import Problem
from ..inner.violations import strictly_inside
from ..kkt_system import value_hessian

RANK = 1e-9  # eigenvalues of a Hessian, relative to the largest one, that are rounding
CHUNK = 10_000  # examples whose rows are copied at a time


@dataclass(frozen=True)
class InnerHessian:
    """The Hessian of J(theta), the optimal value at fixed weights theta, from the free examples.

    Parameters
    ----------
    most : int
        Largest number of free examples. If there are more, the Hessian is extrapolated from a
        part of them.
    recorded : bool
        Whether the Hessian is computed from recorded products, if there are any for the weights.
    most_outputs : int
        Largest number of outputs. If there are more, the Hessian is estimated from evenly spaced
        ones.
    """

    most: int
    recorded: bool = False
    most_outputs: int = 32

    def __call__(self, problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
        """Return the Hessian, shape (M, M), at the alpha of an engine and weights, shape (M,)."""
        hessian = np.zeros((engine.n_kernels, engine.n_kernels))
        parts = problem.output_slices
        some = parts[:: -(-len(parts) // self.most_outputs)]
        for part in some:
            hessian += self._of_output(part, problem, engine, weights)
        return len(parts) / len(some) * hessian

    def _of_output(
        self, part: slice, problem: Problem, engine: Engine, weights: np.ndarray
    ) -> np.ndarray:
        """Return the Hessian of one output, on the examples of this output."""
        members = np.arange(engine.n)[part]
        free = members[strictly_inside(problem.term, engine.alpha, members)]
        if self.recorded and recorded_products(engine).matches(weights):
            return recorded_hessian(problem, engine, free, weights)
        times = max(1, -(-len(free) // self.most))
        free = free[::times]
        curvature = problem.term.take(free).curvature(engine.alpha[free])
        kernel = engine.block(free, weights)
        outputs, fixed_sum = kernel_blocks(engine).outputs_at(free), problem.risk.has_intercept
        hessian = value_hessian(kernel, curvature, outputs, fixed_sum=fixed_sum)
        if times == 1:
            return hessian
        kernel, curvature, outputs = kernel[::2, ::2], curvature[::2], outputs[:, ::2]
        half = value_hessian(kernel, curvature, outputs, fixed_sum=fixed_sum)
        return times * extrapolated(hessian, 2.0 * half, np.log2(times))


def extrapolated(hessian: np.ndarray, half: np.ndarray, doublings: float) -> np.ndarray:
    """Return the Hessian of J(theta), shape (M, M), extrapolated from two samples to all examples.

    The estimate decreases as the sample grows. In each generalised eigenvector of the two estimates
    it is assumed that every doubling of the sample divides the estimate by the same number. This
    number lies between 1 (as for a diagonal kernel matrix) and 2 (as for identical examples).

    Parameters
    ----------
    hessian, half : ndarrays of shape (M, M)
        Estimate from a sample, and twice the Hessian of half of the sample.
    doublings : float
        Base-2 logarithm of the number of all examples divided by the size of the sample.
    """
    values, vectors = np.linalg.eigh(hessian)
    there = values > RANK * values[-1]
    root = vectors[:, there] * np.sqrt(values[there])
    inverse = vectors[:, there] / np.sqrt(values[there])
    decrease, directions = np.linalg.eigh(inverse.T @ half @ inverse)
    decrease = np.clip(decrease, 1.0, 2.0)  # a diagonal kernel matrix, and identical examples
    scaled = root @ directions * np.sqrt(decrease**-doublings)
    return np.asarray(scaled @ scaled.T)


def recorded_hessian(
    problem: Problem, engine: Engine, free: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the Hessian, shape (M, M), of f free examples, from recorded products."""
    fixed_sum = problem.risk.has_intercept
    if len(free) < (2 if fixed_sum else 1):
        return np.zeros((engine.n_kernels,) * 2)
    matrix = recorded_products(engine).matrix(weights)
    curvature = problem.term.take(free).curvature(engine.alpha[free])
    system = LowRankSystem(matrix.U[:, free].T, matrix.sigma + curvature)
    G = kernel_blocks(engine).outputs_at(free).T
    hessian = G.T @ system.solve(G, fixed_sum=fixed_sum)
    return 0.5 * (hessian + hessian.T)


class LowRankSystem:
    """The system (V V' + diag(own)) x + b = right, sum x = 0 (or b = 0), for f examples.

    Parameters
    ----------
    V : array of shape (f, m)
        Low-rank factor of the kernel matrix.
    own : array of shape (f,)
        Positive diagonal.
    """

    def __init__(self, V: np.ndarray, own: np.ndarray):
        self._V, self.own = V, own
        inner = np.eye(V.shape[1])
        for first in range(0, len(V), CHUNK):
            chunk = slice(first, first + CHUNK)
            inner += (V[chunk].T / own[chunk]) @ V[chunk]
        self._inner = cho_factor(inner, lower=True, check_finite=False)

    def solve(self, right: np.ndarray, *, fixed_sum: bool = True) -> np.ndarray:
        """Return x for k right sides, shape (f, k); b is 0 unless the sum of x is fixed."""
        x = self._solve(right)
        if not fixed_sum:
            return x
        level = self._solve(np.ones((len(right), 1)))
        return x - level * (x.sum(axis=0) / level.sum())

    def _solve(self, right: np.ndarray) -> np.ndarray:
        x = right / self.own[:, None]
        inner = cho_solve(self._inner, self._V.T @ x, check_finite=False)
        return x - self._V @ inner / self.own[:, None]
