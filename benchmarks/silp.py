"""The wrapper that people write by hand: scikit-learn's SVC in the semi-infinite linear program.

All kernel matrices are computed first. Each turn fits an `SVC` on their weighted sum; its alpha is
one more row of the linear program that gives the next weights (Sonnenburg et al., 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from .certificates import hinge_gap

MOST_TURNS = 200


@dataclass(frozen=True)
class Wrapped:
    """What is left of a run, named as in a fitted estimator."""

    n_iter_: int
    duality_gap_: float


def silp(X: np.ndarray, y: np.ndarray, gammas: Sequence[float], tol: float) -> Wrapped:
    """Learn the weights of RBF kernels at p = 1 and C = 1, down to a relative gap."""
    kernels = np.stack([rbf_kernel(X, gamma=gamma) for gamma in gammas])
    theta = np.full(len(kernels), 1.0 / len(kernels))
    linear, quadratic = [], []
    gap = np.inf
    while gap > tol and len(linear) < MOST_TURNS:
        combined = sum(weight * kernels[m] for m, weight in enumerate(theta) if weight > 0)
        machine = SVC(kernel="precomputed", tol=0.1 * tol, cache_size=1000).fit(combined, y)
        support, coef = machine.support_, machine.dual_coef_[0]
        outputs = np.stack([kernel[:, support] @ coef for kernel in kernels])
        gap = hinge_gap(outputs, y, support, coef, theta, 1.0)
        linear.append(np.abs(coef).sum())
        quadratic.append(outputs[:, support] @ coef)
        theta = best_weights(np.array(linear), np.array(quadratic))
    return Wrapped(len(linear), gap)


def best_weights(linear: np.ndarray, quadratic: np.ndarray) -> np.ndarray:
    """Minimise the largest linear_t - 1/2 theta . quadratic_t over the simplex, shape (M,)."""
    turns, M = quadratic.shape
    rows = np.hstack([-0.5 * quadratic, np.full((turns, 1), -1.0)])
    total = np.append(np.ones(M), 0.0)
    bounds = [(0, None)] * M + [(None, None)]
    costs = np.append(np.zeros(M), 1.0)
    solved = linprog(costs, rows, -linear, total[None, :], [1.0], bounds, method="highs")
    return np.maximum(solved.x[:M], 0.0)
