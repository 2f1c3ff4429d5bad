"""Conformal prediction: sets of classes and intervals that contain the truth at a given rate.

Conformity scores of training examples come from cross-fitted decision values (see `cross_fit`).
Scores of new examples come from the model that was trained on all examples, as in the jackknife and
its K-fold version. Kernel methods are stable (Bousquet and Elisseeff, 2002): leaving out a fold
changes predictions little. Therefore the coverage is close to the nominal level.
"""

from __future__ import annotations

import numpy as np

from ..common.numbers import as_number


def threshold(scores: np.ndarray, alpha: float) -> np.ndarray:
    """Return the conformal quantile of n scores: the ceil((n + 1) (1 - alpha))-th smallest one.

    `alpha` is the accepted error rate. The quantile is inf if the rank exceeds n. Scores of shape
    (..., n) give quantiles of shape (...).
    """
    n = scores.shape[-1]
    rank = int(np.ceil((n + 1) * (1.0 - alpha) - 1e-9))
    if rank > n:
        return np.full(scores.shape[:-1], np.inf)
    if rank < 1:
        return np.full(scores.shape[:-1], -np.inf)
    return np.sort(scores, axis=-1)[..., rank - 1]


def checked_alpha(alpha: float) -> float:
    """Return the accepted error rate; raise ValueError unless it is between 0 and 1."""
    number = as_number(alpha)
    if not 0 < number < 1:
        raise ValueError(
            f"alpha must be a number between 0 and 1, the accepted rate of errors, got {alpha!r}"
        )
    return number


def class_scores(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return 1 - the probability of the true class of each example, shape (n,).

    Parameters
    ----------
    probabilities : shape (n, classes).
    codes : number of the true class, shape (n,).
    """
    return 1.0 - probabilities[np.arange(len(codes)), codes]
