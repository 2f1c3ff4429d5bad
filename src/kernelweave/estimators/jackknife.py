"""The jackknife+ (Barber, Candes, Ramdas and Tibshirani, 2021) for the squared loss.

With fixed kernel weights the dual variables and the intercept solve one linear system,

    [K + diag(1 / (2 C))  1] [alpha]   [y]
    [1'                   0] [  b  ] = [0],

and B denotes the inverse of its matrix. Without example i the solution is (alpha, b) minus
B_i alpha_i / B_ii, so that the residual of example i is alpha_i / B_ii: no model is fitted again.
"""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .conformal import threshold

MOST_EXAMPLES = 5000  # examples; their leave-one-out models take 200 MB


def leave_one_out(
    problem: Problem, engine: Engine, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leave-one-out models of a problem with the squared loss, and their residuals.

    Parameters
    ----------
    problem : Problem
        Of one target.
    engine : Engine
    weights : ndarray of shape (M,)
        Kernel weights, which all models share.

    Returns
    -------
    models : ndarray of shape (n + 1, q)
        Column i: dual variables and intercept of the model without the i-th of the q examples of
        nonzero cost.
    residuals : ndarray of shape (q,)
        Target minus prediction of the example that was left out.
    """
    counts = np.flatnonzero(problem.C > 0)
    q = len(counts)
    if q > MOST_EXAMPLES:
        raise ValueError(
            f"calibrate='jackknife+' keeps a model for each example and accepts {MOST_EXAMPLES} at "
            f"most, got {q}; use calibrate='residuals'"
        )
    if q < 2:
        raise ValueError(
            f"calibrate needs at least 2 different training examples, got {q}; pass calibrate=None"
        )
    system = np.ones((q + 1, q + 1))
    system[:q, :q] = engine.block(counts, weights) if weights.any() else 0.0
    system.flat[: q * (q + 2) : q + 2] += problem.term.curv[counts]
    system[q, q] = 0.0
    inverse = np.linalg.inv(system)
    solution = inverse[:, :q] @ problem.y[counts]
    residuals = solution[:q] / inverse.diagonal()[:q]
    left_out = solution[:, None] - inverse[:, :q] * residuals
    models = np.zeros((engine.n + 1, q))
    models[counts], models[-1] = left_out[:q], left_out[q] + problem.centre
    return models, residuals


def jackknife_interval(
    predictions: np.ndarray, residuals: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the jackknife+ intervals, both of shape (n,).

    Parameters
    ----------
    predictions : ndarray of shape (n, q)
        Of the q leave-one-out models.
    residuals : ndarray of shape (q,)
        Absolute residuals of the examples that were left out.
    alpha : float
        Rate of errors: at most 2 alpha is guaranteed, about alpha is usual.
    """
    low = -threshold(residuals - predictions, alpha)
    return low, threshold(predictions + residuals, alpha)
