"""The best bias of a model.

A certificate is only as tight as its bias, so b is never guessed from a few support vectors: it
minimises phi(b) = sum_i C_i V(F_i + b, y_i) + tau b over all the examples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FEW = 10_000  # points that are sorted faster than halved
EPS = float(np.finfo(float).eps)

Slope = Callable[[float], tuple[float, float]]  # value and derivative at b


def balance(points: np.ndarray, weights: np.ndarray, target: float) -> float:
    """Middle of the stretch below which the `weights` of the `points` add up to `target`.

    A piecewise linear function whose slope starts at -target and rises by weights_i at points_i has
    its minimum there. Halving the candidates costs O(n), half the time of sorting a million. Few of
    them are sorted.
    """
    points, weights = points[weights > 0], weights[weights > 0]
    while points.size > FEW:
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
    """Minimiser in b of sum_i C_i V(F_i + b, y_i) + tau b for a differentiable V."""
    if not C.any():
        return 0.0

    def slope(b: float) -> tuple[float, float]:
        first, second = derivatives(F + b, y)
        return C @ first + tau, C @ second

    residual = (y - F)[C > 0]
    return root(slope, residual.min(), residual.max())


def root(slope: Slope, lo: float, hi: float) -> float:
    """Zero of the nondecreasing `slope(b) -> (value, derivative)`, probably between lo and hi."""
    return root_between(slope, *_bracket(slope, lo, hi))


def _bracket(slope: Slope, lo: float, hi: float) -> tuple[float, float]:
    """Widen [lo, hi] until the nondecreasing `slope` changes its sign in it, if it ever does."""
    width = max(hi - lo, 1.0)
    for doubling in range(64):
        low, high = slope(lo)[0] > 0, slope(hi)[0] < 0
        if not (low or high):
            break
        step = width * 2.0**doubling
        lo, hi = (lo - step if low else lo), (hi + step if high else hi)
    return float(lo), float(hi)


def root_between(slope: Slope, lo: float, hi: float) -> float:
    """Zero in [lo, hi] of the nondecreasing `slope(b) -> (value, derivative)`.

    Newton's steps are replaced by bisection when they leave the bracket or fail to halve.
    """
    b, before, last = 0.5 * (lo + hi), np.inf, np.inf
    resolution = 2.0 * np.finfo(float).eps * max(abs(lo), abs(hi), 1.0)
    while True:
        value, rate = slope(b)
        with np.errstate(over="ignore"):  # far from the zero a slope may be all but constant
            step = -value / rate if rate > 0 else np.inf
        if value == 0 or abs(step) <= resolution or not hi - lo > resolution:  # or NaN
            return b
        lo, hi = (b, hi) if value < 0 else (lo, b)
        if not lo < b + step < hi or abs(step) > 0.5 * abs(before):
            step = 0.5 * (lo + hi) - b
        before, last = last, step
        b += step
