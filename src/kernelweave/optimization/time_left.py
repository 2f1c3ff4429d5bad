"""How long a fit may still take, from the way that its gap has come."""

from __future__ import annotations

import numpy as np

from .log import Progress

LATELY = 10  # certified models from which it is told


class TimeLeft:
    """The time until a gap reaches the tolerance, if its logarithm goes on as it did lately.

    Parameters
    ----------
    tol : the relative duality gap that is to be reached.
    """

    def __init__(self, tol: float):
        self._tol = tol
        self._past: list[tuple[float, float]] = []  # seconds, and the logarithm of the best gap

    def after(self, progress: Progress) -> str:
        """Return what to say of the time left after one more certified model."""
        if self._past and progress.seconds < self._past[-1][0]:
            self._past = []  # another output, with a clock of its own
        best = min(np.log(max(progress.gap, 1e-300)), *(gap for _, gap in self._past), np.inf)
        self._past = [*self._past, (progress.seconds, float(best))][-LATELY:]
        (before, high), (now, low) = self._past[0], self._past[-1]
        if not low < high or now <= before:
            return "time left unknown"
        left = (now - before) * max(low - np.log(self._tol), 0.0) / (high - low)
        return f"about {left:.0f} s left"
