"""Estimate of the remaining time of a fit, from the decrease of its gap."""

from __future__ import annotations

import numpy as np

from .log import Progress

RECENT = 10  # number of last models whose gaps the estimate uses


class TimeLeft:
    """Estimates when the gap reaches the tolerance, by linear extrapolation of its logarithm.

    Parameters
    ----------
    tol : float
        Relative duality gap at which the fit ends.
    """

    def __init__(self, tol: float):
        self._tol = tol
        self._past: list[tuple[float, float]] = []  # seconds, and the logarithm of the best gap

    def after(self, progress: Progress) -> str:
        """Add an entry of the log, and return the estimated remaining time as text."""
        if self._past and progress.seconds < self._past[-1][0]:
            self._past = []  # a new output, whose clock starts at 0
        best = min(np.log(max(progress.gap, 1e-300)), *(gap for _, gap in self._past), np.inf)
        self._past = [*self._past, (progress.seconds, float(best))][-RECENT:]
        (before, high), (now, low) = self._past[0], self._past[-1]
        if not low < high or now <= before:
            return "time left unknown"
        left = (now - before) * max(low - np.log(self._tol), 0.0) / (high - low)
        return f"about {left:.0f} s left"
