"""The minimum of a quadratic model of J(theta), the optimal value of the inner problem.

    gradient . theta + 1/2 (theta - theta_0)' H (theta - theta_0)

It is believed near theta_0 only: in one step a weight may shrink, but not vanish. That also keeps
weights positive, as J has kinks where kernels of low rank lose their whole weight.
"""

from __future__ import annotations

import numpy as np

from ..norms import Norm
from .base import Turn
from .master import Ball, Master

FLOOR = 1e-3  # times the relative gap and the mean weight: below it a weight no longer shrinks
FEW = 50  # weights, and slopes, that a model is minimised over at first
ROUNDING = 1e-6  # relative error of a price


def least_weights(turn: Turn, norm: Norm, reach: float) -> np.ndarray:
    """Return what each weight is left at least, (M,): the part `reach` of itself, or the floor."""
    gap = turn.gap(norm)
    relative = gap / max(turn.scale, gap)
    floor = FLOOR * relative * turn.theta.mean()
    least: np.ndarray = np.maximum(reach * turn.theta, np.minimum(floor, turn.theta))
    return least


def model_minimum(
    theta: np.ndarray, gradient: np.ndarray, H: np.ndarray, lower: np.ndarray, norm: Norm
) -> np.ndarray:
    """Return the feasible weights above `lower`, shape (M,), that minimise the model around theta.

    Of many weights most end at their bounds. So the model is minimised over those that are large or
    steep, then over all that would leave their bounds at the price that these pay, and so on.

    Parameters
    ----------
    theta, gradient, lower : arrays of shape (M,)
    H : array of shape (M, M)
        Like the gradient in units in which that is about 1.
    """
    M = len(theta)
    H = H + (1e-9 * np.trace(H) / M + 1e-14) * np.eye(M)
    free = _largest(theta) | _largest(-gradient)
    while True:
        best = _minimum_over(free, theta, gradient, H, lower, norm)
        slope = gradient + H @ (best - theta)
        worth = -slope / norm.ball(best)[1]  # the price at which a weight stays where it is
        price = worth[free].max()
        wanted = ~free & (worth > price + ROUNDING * abs(price))
        if not wanted.any():
            return best / norm.value(best)
        free |= wanted


def _largest(values: np.ndarray) -> np.ndarray:
    """Return which values, shape (M,), are among the few largest."""
    if len(values) <= FEW:
        return np.ones(len(values), dtype=bool)
    largest: np.ndarray = values >= np.partition(values, -FEW)[-FEW]
    return largest


def _minimum_over(
    free: np.ndarray,
    theta: np.ndarray,
    gradient: np.ndarray,
    H: np.ndarray,
    lower: np.ndarray,
    norm: Norm,
) -> np.ndarray:
    """Minimise the model over some weights, a mask of shape (M,), the others being `lower`."""
    best, own = np.where(free, theta, lower), np.ix_(free, free)
    M, ball = int(free.sum()), Ball(norm, best, np.flatnonzero(free))
    slope = (gradient + H @ (best - theta))[free] - H[own] @ theta[free]
    model = Master(H[own], slope, lower[free], np.zeros((0, M)), np.zeros(0), ball)
    inner = 0.95 * theta + 1e-3 * norm.start(len(theta))
    inner = np.maximum(inner, lower * (1 + 1e-3))[free]
    return ball.at(np.maximum(model.minimise(inner, M), lower[free]))
