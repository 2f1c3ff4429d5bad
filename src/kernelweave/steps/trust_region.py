"""The minimum of a quadratic model of J(theta), the value of the best machine with weights theta.

    gradient . theta + 1/2 (theta - theta_0)' H (theta - theta_0)

It is believed near theta_0 only: in one step a weight may shrink, but not vanish. That also keeps
weights positive, as J has kinks where kernels of low rank lose their whole weight.
"""

from __future__ import annotations

import numpy as np

from .base import Ball, Turn
from .master import Master

FLOOR = 1e-3  # times the relative gap and the mean weight: below it a weight no longer shrinks
TINY = np.finfo(float).tiny


def least_weights(turn: Turn, norm: Ball, reach: float) -> np.ndarray:
    """Return what each weight is left at least, (M,): the part `reach` of itself, or the floor."""
    gap = turn.gap(norm)
    relative = gap / max(abs(turn.primal()), gap, TINY)
    floor = FLOOR * relative * turn.theta.mean()
    return np.maximum(reach * turn.theta, np.minimum(floor, turn.theta))


def model_minimum(
    theta: np.ndarray, gradient: np.ndarray, H: np.ndarray, lower: np.ndarray, norm: Ball
) -> np.ndarray:
    """Return the feasible weights above `lower`, shape (M,), that minimise the model around theta.

    Parameters
    ----------
    theta, gradient, lower : arrays of shape (M,)
    H : array of shape (M, M)
        Like the gradient in units in which that is about 1.
    """
    M = len(theta)
    H = H + (1e-9 * np.trace(H) / M + 1e-14) * np.eye(M)
    model = Master(H, gradient - H @ theta, lower, np.zeros((0, M)), np.zeros(0), norm.ball)
    inner = np.maximum(0.95 * theta + 1e-3 * norm.start(M), lower * (1 + 1e-3))
    best = np.maximum(model.minimise(inner, M), lower)
    return best / norm.value(best)
