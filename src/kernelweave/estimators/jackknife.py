"""The jackknife+ (Barber, Candes, Ramdas and Tibshirani, 2021) for the squared loss.

With fixed kernel weights the dual variables and the intercept solve one linear system,

    [K + diag(1 / (2 C))  1] [alpha]   [y]
    [1'                   0] [  b  ] = [0],

and B denotes the inverse of its matrix, B_i the i-th column of B. Without example i the solution is
(alpha, b) - B_i alpha_i / B_ii, and the residual of example i is alpha_i / B_ii. So no model is
fitted again.
"""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .conformal import threshold

MOST_EXAMPLES = 5000  # maximum number of examples: their leave-one-out models take 200 MB


def leave_one_out(
    problem: Problem, engine: Engine, weights: np.ndarray, support: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leave-one-out models of a problem with the squared loss, and their residuals.

    All models are trained on the support vectors, the only examples that a fitted model stores. If
    an example is no support vector, leaving it out changes nothing: its model is the one trained on
    all support vectors.

    Parameters
    ----------
    problem : Problem
        Regression of one target with the squared loss.
    engine : Engine
        Evaluates the kernels.
    weights : ndarray of shape (M,)
        Kernel weights, which all models share.
    support : ndarray of bool, shape (n,)
        Which examples are support vectors.

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
    K = engine.block(counts, weights) if weights.any() else np.zeros((q, q))
    y, used = problem.y[counts], np.flatnonzero(support[counts])
    if len(used) < 2:  # the constant model: dual variables have no effect
        used = np.arange(q)
    s = len(used)
    system = np.ones((s + 1, s + 1))
    system[:s, :s] = K[np.ix_(used, used)] + np.diag(problem.term.curv[counts[used]])
    system[s, s] = 0.0
    inverse = np.linalg.inv(system)
    solution = inverse[:, :s] @ y[used]
    residuals = y - K[:, used] @ solution[:s] - solution[s]
    residuals[used] = solution[:s] / inverse.diagonal()[:s]
    left_out = np.repeat(solution[:, None], q, axis=1)
    left_out[:, used] -= inverse[:, :s] * residuals[used]
    models = np.zeros((engine.n + 1, q))
    models[counts[used]], models[-1] = left_out[:s], left_out[s] + problem.centre
    return models, residuals


def jackknife_interval(
    predictions: np.ndarray, residuals: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the jackknife+ intervals, both of shape (n,).

    Parameters
    ----------
    predictions : ndarray of shape (n, q)
        Predictions of the q leave-one-out models for n new examples.
    residuals : ndarray of shape (q,)
        Absolute residuals of the examples that were left out.
    alpha : float
        Nominal error rate. The error rate is usually about alpha. It is at most 2 alpha if the
        kernel weights and C do not depend on the training data.
    """
    low = -threshold(residuals - predictions, alpha)
    return low, threshold(predictions + residuals, alpha)
