"""Conformal prediction: sets of classes and intervals that contain the truth at a given rate.

The scores come from cross-fitted decision values (see `cross_fit`). New examples are compared with
them through the model of all examples, as in the jackknife and its K-fold version; learning with
kernels is stable (Bousquet and Elisseeff, 2002), so that coverage is close to the level.
"""

from __future__ import annotations

import numpy as np

from ..common.numbers import as_number


def threshold(scores: np.ndarray, alpha: float) -> np.ndarray:
    """Return the conformal quantile of scores, shape (...), over the last axis of (..., n).

    It is the ceil((n + 1) (1 - alpha))-th smallest score, and infinite if that is above n.
    """
    n = scores.shape[-1]
    rank = int(np.ceil((n + 1) * (1.0 - alpha) - 1e-9))
    if rank > n:
        return np.full(scores.shape[:-1], np.inf)
    if rank < 1:
        return np.full(scores.shape[:-1], -np.inf)
    found: np.ndarray = np.sort(scores, axis=-1)[..., rank - 1]
    return found


def checked_alpha(alpha: float) -> float:
    """Return the rate of errors; raise ValueError unless it is between 0 and 1."""
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
    scores: np.ndarray = 1.0 - probabilities[np.arange(len(codes)), codes]
    return scores
