"""Sums of powers, and their exponents."""

from __future__ import annotations

import numpy as np

from ..numeric import as_number


def power_sum(x: np.ndarray, p: float, costs: np.ndarray | float = 1.0) -> float:
    """(sum costs x^p)^(1/p) of x >= 0 for a p that is not 0, scaled so that no power overflows."""
    scale = float(x.max() if p > 0 else x.min())
    if scale == 0 or p == np.inf:
        return scale
    return scale * float(np.sum(costs * (x / scale) ** p) ** (1 / p))


def conjugate_exponent(p: float) -> float:
    """The exponent p* with 1/p + 1/p* = 1."""
    if p == 1:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1)


def checked_exponent(name: str, value: float) -> float:
    """Return an exponent as a float; refuse what is none."""
    if not as_number(value) >= 1:
        raise ValueError(f"{name} must be a number >= 1 or inf, got {value!r}")
    return as_number(value)
