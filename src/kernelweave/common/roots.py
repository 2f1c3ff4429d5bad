"""Zeros of functions that never fall, such as slopes of convex ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Slope = Callable[[float], tuple[float, float]]
"""Returns the value and the derivative at b."""


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
