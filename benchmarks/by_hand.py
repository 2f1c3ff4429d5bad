"""Hand-written MKL around scikit-learn's SVC, from precomputed kernel matrices.

Each turn of `silp` fits an SVM on their weighted sum; its alpha is one more row of the linear
program that gives the next weights (Sonnenburg et al., 2006). `simple_mkl` follows the reduced
gradient, with a machine for every point that it tries (Rakotomamonjy et al., 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import process_time

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from .certificates import hinge_gap

MOST_SECONDS = 600.0  # of CPU time, after which a run ends where it is
SHARP = 0.01  # a line search ends at this part of its interval


@dataclass(frozen=True)
class Wrapped:
    """The result of a run, with the attributes of a fitted estimator."""

    n_iter_: int
    duality_gap_: float


@dataclass(frozen=True)
class Machine:
    """An SVC on a weighted sum of kernels, and its objective values.

    Attributes
    ----------
    quadratic : alpha' K alpha under the weighted sum.
    linear : sum of the alphas.
    s : array of shape (M,), alpha' K_m alpha
    """

    kernels: np.ndarray
    y: np.ndarray
    theta: np.ndarray
    fitted: SVC
    quadratic: float

    @classmethod
    def fit(cls, kernels: np.ndarray, y: np.ndarray, theta: np.ndarray, tol: float) -> Machine:
        combined = sum(weight * kernels[m] for m, weight in enumerate(theta) if weight > 0)
        fitted = SVC(kernel="precomputed", tol=0.1 * tol, cache_size=1000).fit(combined, y)
        support, coef = fitted.support_, fitted.dual_coef_[0]
        quadratic = float(coef @ combined[np.ix_(support, support)] @ coef)
        return cls(kernels, y, theta, fitted, quadratic)

    @cached_property
    def outputs(self) -> np.ndarray:
        coef = self.fitted.dual_coef_[0]
        return np.stack([kernel[:, self.fitted.support_] @ coef for kernel in self.kernels])

    @cached_property
    def s(self) -> np.ndarray:
        return self.outputs[:, self.fitted.support_] @ self.fitted.dual_coef_[0]

    @property
    def linear(self) -> float:
        return float(np.abs(self.fitted.dual_coef_).sum())

    @property
    def value(self) -> float:
        """J(theta), the value of the optimum."""
        return self.linear - 0.5 * self.quadratic

    @property
    def gap(self) -> float:
        coef = self.fitted.dual_coef_[0]
        return hinge_gap(self.outputs, self.y, self.fitted.support_, coef, self.theta, 1.0)


def silp(X: np.ndarray, y: np.ndarray, gammas: Sequence[float], tol: float) -> Wrapped:
    """Learn the weights of RBF kernels at p = 1 and C = 1, down to a relative gap."""
    end = process_time() + MOST_SECONDS
    kernels = np.stack([rbf_kernel(X, gamma=gamma) for gamma in gammas])
    machine = Machine.fit(kernels, y, equal(len(kernels)), tol)
    rows = [machine]
    while machine.gap > tol and process_time() < end:
        linear, quadratic = zip(*((row.linear, row.s) for row in rows), strict=True)
        theta = best_weights(np.array(linear), np.array(quadratic))
        machine = Machine.fit(kernels, y, theta, tol)
        rows.append(machine)
    return Wrapped(len(rows), machine.gap)


def best_weights(linear: np.ndarray, quadratic: np.ndarray) -> np.ndarray:
    """Minimise the largest linear_t - 1/2 theta . quadratic_t over the simplex, shape (M,)."""
    turns, M = quadratic.shape
    rows = np.hstack([-0.5 * quadratic, np.full((turns, 1), -1.0)])
    total = np.append(np.ones(M), 0.0)
    bounds = [(0, None)] * M + [(None, None)]
    costs = np.append(np.zeros(M), 1.0)
    solved = linprog(costs, rows, -linear, total[None, :], [1.0], bounds, method="highs")
    return np.maximum(solved.x[:M], 0.0)


def simple_mkl(X: np.ndarray, y: np.ndarray, gammas: Sequence[float], tol: float) -> Wrapped:
    """Learn the same weights along the reduced gradient."""
    end = process_time() + MOST_SECONDS
    kernels = np.stack([rbf_kernel(X, gamma=gamma) for gamma in gammas])
    machine = Machine.fit(kernels, y, equal(len(kernels)), tol)
    turns = 1
    while machine.gap > tol and process_time() < end:
        machine = along(machine, reduced(machine.theta, -0.5 * machine.s), tol)
        turns += 1
    return Wrapped(turns, machine.gap)


def equal(M: int) -> np.ndarray:
    """Return equal weights, shape (M,)."""
    return np.full(M, 1.0 / M)


def reduced(theta: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the direction in the simplex that the largest weight makes up for, shape (M,)."""
    largest = np.argmax(theta)
    direction = slope[largest] - slope
    direction[(theta <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def along(machine: Machine, direction: np.ndarray, tol: float) -> Machine:
    """Return the best model along a direction: bound after bound, then by a line search."""

    def at(length: float) -> Machine:
        theta = np.maximum(start.theta + length * direction, 0.0)
        return Machine.fit(start.kernels, start.y, theta / theta.sum(), tol)

    start = machine
    while True:
        falling = direction < 0
        if not falling.any():
            return start
        most = float(np.min(-start.theta[falling] / direction[falling]))
        farthest = at(most)
        if farthest.value >= start.value:
            break
        stopped = falling & (farthest.theta <= 1e-12)
        start, direction = farthest, np.where(stopped, 0.0, direction)
        direction[np.argmax(start.theta)] -= direction.sum()
    found = minimize_scalar(
        lambda length: at(length).value,
        bounds=(0.0, most),
        method="bounded",
        options={"xatol": SHARP * most},
    )
    best = at(float(found.x))
    return best if best.value < start.value else start
