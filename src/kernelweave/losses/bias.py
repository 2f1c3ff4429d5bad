"""The intercept that minimises the primal objective, for the losses that share a method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..common.roots import root

SORT_BELOW = 10_000  # number of points up to which sorting is faster than repeated partitioning
EPS = float(np.finfo(float).eps)


def weighted_quantile(
    points: np.ndarray, weights: np.ndarray, target: float, *, sort_below: int = SORT_BELOW
) -> float:
    """Return the point below which the weights add up to `target`.

    This minimises a convex piecewise linear function whose slope starts at -target and increases by
    weights_i at points_i. If the minimisers form an interval the result is its midpoint.

    Parameters
    ----------
    points : array of shape (n,)
        Breakpoints of the function.
    weights : array of shape (n,)
        Nonnegative; points with weight 0 are ignored.
    target : float
        Total weight below the result, from 0 to the sum of the weights.
    sort_below : int >= 1
        Up to this number of points are sorted. More are partitioned at their median first, which
        takes O(n).

    Returns
    -------
    float
        0 if all weights are 0.
    """
    points, weights = points[weights > 0], weights[weights > 0]
    while points.size > sort_below:
        half = points.size // 2
        order = np.argpartition(points, half)
        left, right = order[:half], order[half:]
        mass = weights[left].sum()
        if mass == target:
            return float(0.5 * (points[left].max() + points[right].min()))
        keep, target = (left, target) if mass > target else (right, target - mass)
        points, weights = points[keep], weights[keep]
    if not points.size:
        return 0.0
    order = np.argsort(points)
    masses = np.cumsum(weights[order])
    rounding = EPS * len(points) * masses[-1]
    at = int(np.searchsorted(masses[:-1], target - rounding))
    here = float(points[order[at]])
    if at == len(points) - 1 or masses[at] > target + rounding:
        return here
    return 0.5 * (here + float(points[order[at + 1]]))


def newton(
    derivatives: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    F: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    tau: float,
) -> float:
    """Return the minimiser in b of sum_i C_i V(F_i + b, y_i) + tau b for a differentiable V.

    Parameters
    ----------
    derivatives : function of (f, y) that returns the first and second derivatives of the loss V
        with respect to f
    F, y, C : arrays of shape (n,)
        Decision values without intercept, targets and costs.
    tau : float
        Coefficient of b.

    Returns
    -------
    float
        0 if all costs are 0.
    """
    if not C.any():
        return 0.0

    def slope(b: float) -> tuple[float, float]:
        first, second = derivatives(F + b, y)
        return C @ first + tau, C @ second

    residual = (y - F)[C > 0]
    return root(slope, residual.min(), residual.max())
