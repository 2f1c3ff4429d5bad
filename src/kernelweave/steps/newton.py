"""The Newton weight step: minimise a quadratic model of the best machine's value.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha)

is convex. Its gradient is -1/2 s, and its second derivative H is known on the free examples, so

    min over feasible theta of  -1/2 s . theta + 1/2 (theta - theta_0)' H (theta - theta_0)

is the step of HessianMKL (Chapelle and Rakotomamonjy, 2008) at p = 1, and Newton's method on the
ball of the norm otherwise. It needs no complete machine: theta moves on while alpha is on its way.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..norms import Norm
from .base import Turn
from .trust_region import least_weights, model_minimum

REACH = 0.3  # one step leaves every weight at least this part of itself
WIDEN = 1.1  # exponent that lets the reach recover
PATIENCE = 3  # turns without any better value after which the trust region shrinks
ROUNDING = 1e-9  # relative difference of values that tells nothing
TIGHT = 0.1  # part of the gap that an accurate machine accounts for
SECANT = 0.05, 2.0  # a model is bent at least and at most so many times as its second derivative


class Newton:
    """Newton's method in the weights, interleaved or not.

    A model is believed within a trust region, and the best primal value is the judge. When the dual
    value shows that J has risen above it, or when neither it nor the gap has fallen for some turns,
    the weights go back to where it was found and the region shrinks. Where the machine is accurate
    its dual value, too, tells that J falls: weights that grow from nearly nothing gain less at
    first than a primal value can show.

    A second derivative belongs to the free examples of one machine. Along a step examples come and
    go, and the slope changes by another amount than it said: the next model is corrected by that.
    """

    def __init__(self, norm: Norm):
        self.norm = norm
        self.reach, self.idle = REACH, 0
        self.best = self.narrowest = self.lowest = np.inf
        self.centre = np.empty(0)
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __call__(self, turn: Turn) -> np.ndarray:
        if not turn.s.any():
            return turn.theta
        if turn.value > self.best + ROUNDING * abs(self.best):
            return self._back()
        primal, gap = turn.primal(), turn.gap(self.norm)
        self._note(turn, primal, gap)
        if self.idle >= PATIENCE:
            return self._back()
        self.reach = max(REACH, self.reach**WIDEN)
        lower = least_weights(turn, self.norm, self.reach)
        bend, scale = _bend(turn), turn.s.max()
        H = self._secant(turn) * bend
        self.last = turn.theta, turn.s, bend
        return model_minimum(turn.theta, -0.5 * turn.s / scale, H / scale, lower, self.norm)

    def _secant(self, turn: Turn) -> float:
        """Return how the slope changed along the last step, relative to what its bend said."""
        if self.last is None:
            return 1.0
        theta, s, bend = self.last
        step = turn.theta - theta
        expected = step @ bend @ step
        if expected <= 0:
            return 1.0
        return float(np.clip(0.5 * step @ (s - turn.s) / expected, *SECANT))

    def _note(self, turn: Turn, primal: float, gap: float) -> None:
        """Remember the best values so far."""
        value = turn.value if primal - turn.value <= TIGHT * gap else np.inf
        better = primal < self.best or gap < self.narrowest or value < self.lowest
        self.idle = 0 if better else self.idle + 1
        self.narrowest, self.lowest = min(self.narrowest, gap), min(self.lowest, value)
        if primal < self.best:
            self.best, self.centre = primal, turn.theta

    def _back(self) -> np.ndarray:
        """Return to the best weights, to leave them with shorter steps."""
        self.idle, self.reach, self.lowest, self.last = 0, np.sqrt(self.reach), np.inf, None
        return self.centre


def _bend(turn: Turn) -> np.ndarray:
    """Return the second derivative of J, shape (M, M), or none where rounding hides it."""
    try:
        return turn.hessian()
    except LinAlgError:
        return np.zeros((len(turn.theta),) * 2)
