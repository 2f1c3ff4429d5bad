"""The Hessian of J(theta), the optimal value of the inner problem, as Newton steps need it.

With f free examples, their outputs G, (f, M), and A = K + diag(curvature) it is G' X, where
A X + 1 b = G and the columns of X add up to 0 (`kkt_system.value_hessian`). For large f the matrix
A is too large, and the Hessian is estimated from samples of the free examples:

* A subsample, in which each example represents `times` examples. The residual diagonal of K and the
  curvature of an example are divided by `times`, since so many alphas share its response.
* Landmarks in the subsample: K is approximated by V V' + diag(left), where V V' is the Nystroem
  approximation from the landmarks and `left` is its residual diagonal. This yields solutions X.
* Probes in the subsample: true rows of K estimate the error of the approximation, and so X' A X.
  The best solutions in the span of X then give the Hessian B (X' A X)^-1 B with B = G' X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from ...engines.base import Engine
from ...problem.problem import Problem
from ..inner.violations import strictly_inside
from ..kkt_system import Symmetric, total, value_hessian

LANDMARKS = 0.3  # landmarks, and probes, relative to the largest block
MOST_BLOCKS = 400  # times the largest block: the most examples that landmarks represent
CHUNK = 10_000  # examples whose rows are copied at a time
RIDGE = 1e-10  # relative to the mean diagonal
LEAST_LEFT = 1e-2  # part of the median residual diagonal that every example has at least
RANK = 1e-9  # eigenvalues of B, relative to the largest, below which there is nothing
CORRECTION = 0.5, 20.0  # bounds of X' A X relative to B
# The Hessian of landmarks is too small: by SHORT with USUAL_SHARE examples per landmark, and by
# this power of their number.
SHORT, USUAL_SHARE, MORE = 1.5, 30.0, 0.2


@dataclass(frozen=True)
class InnerHessian:
    """The Hessian of J, computed from at most so many free examples.

    Parameters
    ----------
    most : int
        Number of free examples up to which the Hessian is exact.
    block : int
        Number of examples whose kernel block is evaluated at a time.
    landmarks : bool
        Whether more examples are represented by landmarks. Otherwise every k-th of them counts k
        times: with a Hessian that is too small the weights would oscillate.
    recorded : bool
        Whether products with the kernel matrix that were computed on the way replace it.
    """

    most: int
    block: int = field(repr=False)
    landmarks: bool = False
    recorded: bool = False

    def __call__(self, problem: Problem, engine: Engine, weights: np.ndarray) -> Symmetric:
        """Return the Hessian, shape (M, M), at the alpha of an engine and weights, shape (M,)."""
        return total(
            [self._of_output(part, problem, engine, weights) for part in problem.output_slices]
        )

    def _of_output(
        self, part: slice, problem: Problem, engine: Engine, weights: np.ndarray
    ) -> Symmetric:
        """Return the Hessian of one output, which has some of the examples."""
        members = np.arange(engine.n)[part]
        free = members[strictly_inside(problem.term, engine.alpha, members)]
        if self.recorded and engine.seen.knows_well(weights):
            return seen_hessian(problem, engine, free, weights)
        times = 1 + len(free) // self.most
        by_landmarks = self.landmarks and times > 1
        if by_landmarks:
            times = 1 + len(free) // (MOST_BLOCKS * self.block)
        free = free[::times]
        curvature = problem.term.take(free).curvature(engine.alpha[free])
        if by_landmarks:
            return landmark_hessian(engine, free, times, weights, curvature, self.block)
        kernel = engine.block(free, weights)
        return value_hessian(kernel, curvature, engine.outputs_at(free)) * times


def seen_hessian(
    problem: Problem, engine: Engine, free: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the Hessian, shape (M, M), of free examples, (f,), with what products have shown."""
    if len(free) < 2:
        return np.zeros((engine.n_kernels,) * 2)
    matrix = engine.seen.matrix(weights)
    curvature = problem.term.take(free).curvature(engine.alpha[free])
    system = LowRankSystem(matrix.U[:, free].T, matrix.sigma + curvature)
    G = engine.outputs_at(free).T
    hessian = G.T @ system.solve(G)
    symmetric: np.ndarray = 0.5 * (hessian + hessian.T)
    return symmetric


def landmark_hessian(
    engine: Engine,
    free: np.ndarray,
    times: float,
    weights: np.ndarray,
    curvature: np.ndarray,
    block: int,
) -> np.ndarray:
    """Return the Hessian, shape (M, M), by landmarks among free examples.

    Parameters
    ----------
    free : array of shape (f,)
        Some of the free examples.
    times : float
        How many examples each of them stands for.
    weights : array of shape (M,)
    curvature : array of shape (f,)
        The second derivatives of their dual terms.
    """
    m = min(round(LANDMARKS * block), len(free) // 3)
    order = _spread(len(free), m)
    free, curvature = free[order], curvature[order]
    system = LandmarkSystem(engine, free, m, block, times, weights, curvature)
    G = engine.outputs_at(free).T
    X = system.solve(G)
    B = G.T @ X
    probes = slice(m, 2 * m)
    missed = system.product_with_probes(X) - system.kernel(X, probes)
    at_probes = (len(free) - m) / m * X[probes].T @ missed
    landmarks = slice(0, m)
    own = (system.own - curvature / times)[landmarks]  # landmarks leave nothing of themselves
    at_landmarks = (X[landmarks] * own[:, None]).T @ X[landmarks]
    change = at_probes + at_probes.T - 2 * at_landmarks
    return shortfall(times * len(free) / m) * _corrected(B + B.T, change) / 2


def shortfall(share: float) -> float:
    """Return by what to multiply a Hessian of landmarks that stand for `share` examples each.

    Solutions in the span of X are not the best ones, and steps that are too long cost more than
    steps that are too short.
    """
    factor: float = SHORT * (share / USUAL_SHARE) ** MORE
    return factor


class LowRankSystem:
    """(V V' + diag(own)) x + b = right, sum x = 0, for f examples.

    Parameters
    ----------
    V : array of shape (f, m)
    own : array of shape (f,)
    """

    def __init__(self, V: np.ndarray, own: np.ndarray):
        self._V, self.own = V, own
        inner = np.eye(V.shape[1])
        for first in range(0, len(V), CHUNK):
            chunk = slice(first, first + CHUNK)
            inner += (V[chunk].T / own[chunk]) @ V[chunk]
        self._inner = cho_factor(inner, lower=True, check_finite=False)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return x for k right sides, shape (f, k)."""
        x, level = self._solve(right), self._solve(np.ones((len(right), 1)))
        solution: np.ndarray = x - level * (x.sum(axis=0) / level.sum())
        return solution

    def _solve(self, right: np.ndarray) -> np.ndarray:
        x = right / self.own[:, None]
        inner = cho_solve(self._inner, self._V.T @ x, check_finite=False)
        solution: np.ndarray = x - self._V @ inner / self.own[:, None]
        return solution


class LandmarkSystem(LowRankSystem):
    """The system of f examples, with V from the values of landmarks.

    Parameters
    ----------
    engine, weights : what the kernel is evaluated with.
    free : array of shape (f,)
        The examples: m landmarks first, then m probes.
    m : int
    size : how many examples to compare at once.
    times : how many examples each one stands for.
    curvature : array of shape (f,)

    Attributes
    ----------
    left, own : arrays of shape (f,)
        What landmarks leave of the diagonal; what each example has for itself, curvature included.
    """

    def __init__(
        self,
        engine: Engine,
        free: np.ndarray,
        m: int,
        size: int,
        times: float,
        weights: np.ndarray,
        curvature: np.ndarray,
    ):
        V = np.empty((len(free), m))
        self._probes = np.empty_like(V)  # the kernel between all examples and the probes
        self.left = np.empty(len(free))
        ridge, factor = 0.0, np.empty((0, 0))
        for rows in _blocks_of(len(free), 2 * m, size):
            K = engine.block(free[rows], weights)
            if not len(factor):
                ridge = RIDGE * K.diagonal().mean()
                factor = cholesky(K[:m, :m] + ridge * np.eye(m), lower=True, check_finite=False)
            some = solve_triangular(factor, K[:m], lower=True, check_finite=False).T
            self.left[rows] = K.diagonal() - np.einsum("ij,ij->i", some, some)
            V[rows], self._probes[rows] = some, K[:, m : 2 * m]
        own, usual = np.maximum(self.left, 0.0), np.median(self.left[m:])
        own[:m] = max(usual, 0.0)  # a landmark has as much of its own as any other example
        own += curvature
        super().__init__(V, np.maximum(own, LEAST_LEFT * np.median(own)) / times + ridge)

    def kernel(self, x: np.ndarray, rows: slice) -> np.ndarray:
        """Return some rows of (V V' + diag(left)) x."""
        product: np.ndarray = self._V[rows] @ (self._V.T @ x) + self.left[rows, None] * x[rows]
        return product

    def product_with_probes(self, x: np.ndarray) -> np.ndarray:
        """Return the rows of the true K x that belong to probes, shape (m, k)."""
        product: np.ndarray = self._probes.T @ x
        return product


def _spread(f: int, m: int) -> np.ndarray:
    """Return the positions of f examples: m evenly spaced ones, m between them, and the others."""
    every = f // m
    first = every * np.arange(m)
    chosen = np.concatenate([first, first + every // 2])
    return np.concatenate([chosen, np.setdiff1d(np.arange(f), chosen)])


def _blocks_of(f: int, count: int, size: int) -> Iterator[np.ndarray]:
    """Give the first `count` of f examples with some of the others, until all had their turn."""
    for others in np.array_split(np.arange(count, f), -(-(f - count) // (size - count))):
        yield np.concatenate([np.arange(count), others])


def _corrected(B: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return B (B + change)^-1 B on the range of B, with a bounded correction."""
    values, vectors = np.linalg.eigh(B)
    there = values > RANK * values[-1]
    root = vectors[:, there] * np.sqrt(values[there])
    inverse = vectors[:, there] / np.sqrt(values[there])
    size, turn = np.linalg.eigh(inverse.T @ change @ inverse)
    half = root @ turn / np.sqrt(np.clip(1 + size, *CORRECTION))
    corrected: np.ndarray = half @ half.T
    return corrected
