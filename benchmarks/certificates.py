"""The certificate, from scratch: plain NumPy and scikit-learn, nothing of the library.

Both sides of a comparison are judged by it. A model of the hinge loss is (support, coef, theta):
f(x) = sum_m theta_m sum_i coef_i k_m(x_i, x) + b with the best b. Its primal and dual values are

    C sum_i max(0, 1 - y_i f(x_i)) + 1/2 max(1, ||theta||_p) theta . s
    sum_i |coef_i| - 1/2 ||s||_q           with s_m = coef' K_m coef and 1/p + 1/q = 1.

Their difference is relative to |primal|, or to what the best constant costs above the dual value
where that is less. A constant of 1 or -1 costs 2 C for each example of the other class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

BLOCK = 1000


def rbf_outputs(
    X: np.ndarray, gammas: Sequence[float], support: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    """Return g[m, i] = sum_j coef_j exp(-gamma_m ||x_j - x_i||^2), shape (M, n), block by block."""
    outputs = np.empty((len(gammas), len(X)))
    for start in range(0, len(X), BLOCK):
        rows = slice(start, start + BLOCK)
        distances = euclidean_distances(X[rows], X[support], squared=True)
        for m, gamma in enumerate(gammas):
            outputs[m, rows] = np.exp(-gamma * distances) @ coef
    return outputs


def hinge_gap(
    outputs: np.ndarray,
    y: np.ndarray,
    support: np.ndarray,
    coef: np.ndarray,
    theta: np.ndarray,
    p: float,
    C: float = 1.0,
) -> float:
    """Return the relative duality gap of a model with `outputs` g, shape (M, n)."""
    if np.any(coef * y[support] < 0) or np.abs(coef).max() > C * (1 + 1e-9):
        return np.inf
    if abs(coef.sum()) > 1e-6 * np.abs(coef).sum():
        return np.inf
    F, s = theta @ outputs, outputs[:, support] @ coef
    size = np.linalg.norm(theta, ord=p)
    loss = C * np.maximum(0.0, 1.0 - y * (F + best_bias(F, y))).sum()
    primal = loss + 0.5 * max(1.0, size) * (theta @ s)
    dual = np.abs(coef).sum() - 0.5 * np.linalg.norm(s, ord=_conjugate(p))
    constant = 2.0 * C * min(np.count_nonzero(y > 0), np.count_nonzero(y < 0))
    return float((primal - dual) / min(abs(primal), constant - dual))


def best_bias(F: np.ndarray, y: np.ndarray) -> float:
    """Return the b that minimises sum_i max(0, 1 - y_i (F_i + b)).

    The slope in b is -(number of +1) far to the left, and rises by one at every y_i - F_i.
    """
    positives = int((y > 0).sum())
    return float(np.partition(y - F, positives - 1)[positives - 1])


def rbf_gap(
    X: np.ndarray,
    y: np.ndarray,
    gammas: Sequence[float],
    support: np.ndarray,
    coef: np.ndarray,
    theta: np.ndarray,
    p: float,
) -> float:
    """Return the relative duality gap, at C = 1, of an SVM on RBF kernels."""
    return hinge_gap(rbf_outputs(X, gammas, support, coef), y, support, coef, theta, p)


def _conjugate(p: float) -> float:
    if p == 1:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1)
