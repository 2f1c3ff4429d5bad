"""Roots of nondecreasing functions, such as derivatives of convex functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Slope = Callable[[float], tuple[float, float]]
"""A function from b to its value and its derivative at b."""


def root(slope: Slope, lo: float, hi: float) -> float:
    """Return a root b of a nondecreasing function.

    Parameters
    ----------
    slope : callable
        Returns the value and the derivative at b.
    lo, hi : float
        First guess of an interval that contains the root; it is widened if it does not.

    Returns
    -------
    float
    """
    return root_between(slope, *_bracket(slope, lo, hi))


def _bracket(slope: Slope, lo: float, hi: float) -> tuple[float, float]:
    """Return [lo, hi], widened until it contains a change of sign; at most 64 doublings."""
    width = max(hi - lo, 1.0)
    for doubling in range(64):
        low, high = slope(lo)[0] > 0, slope(hi)[0] < 0
        if not (low or high):
            break
        step = width * 2.0**doubling
        lo, hi = (lo - step if low else lo), (hi + step if high else hi)
    return float(lo), float(hi)


def root_between(slope: Slope, lo: float, hi: float) -> float:
    """Return a root b of a nondecreasing function in [lo, hi].

    A Newton step is replaced by bisection if it leaves the bracket, or is longer than half of the
    step two iterations before.

    Parameters
    ----------
    slope : callable
        Returns the value and the derivative at b.
    lo, hi : float
        Ends of the bracket.

    Returns
    -------
    float
    """
    b, before, last = 0.5 * (lo + hi), np.inf, np.inf
    resolution = 2.0 * np.finfo(float).eps * max(abs(lo), abs(hi), 1.0)
    while True:
        value, rate = slope(b)
        with np.errstate(over="ignore"):  # far from the root the derivative may be nearly 0
            step = -value / rate if rate > 0 else np.inf
        if value == 0 or abs(step) <= resolution or not hi - lo > resolution:  # or NaN
            return b
        lo, hi = (b, hi) if value < 0 else (lo, b)
        if not lo < b + step < hi or abs(step) > 0.5 * abs(before):
            step = 0.5 * (lo + hi) - b
        before, last = last, step
        b += step
