"""The Newton weight step: minimise a quadratic model of the best machine's value.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha)

is convex. Its gradient is -1/2 s, and its second derivative H is known on the free examples, so

    min over feasible theta of  -1/2 s . theta + 1/2 (theta - theta_0)' H (theta - theta_0)

is the step of HessianMKL (Chapelle and Rakotomamonjy, 2008) at p = 1, and Newton's method on the
ball of the norm otherwise. It needs no complete machine: between two working sets it lets theta
run along with alpha, and MKL then takes hardly more turns than one machine with fixed weights.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..norms import Norm
from .base import Turn
from .master import Master

REACH = 0.3  # one step leaves every weight at least this part of itself
WIDEN = 1.1  # exponent that lets the reach recover
FLOOR = 1e-3  # times the relative gap and the mean weight: below it a weight no longer shrinks


class Newton:
    """Newton's method in the weights, interleaved or not.

    A model is believed within a trust region: a weight may shrink only so far in one step. That
    also keeps weights positive: J has kinks where kernels of low rank lose their whole weight.
    When the dual value shows that J has risen above the best primal value, the step is taken back
    and the region shrinks.
    """

    def __init__(self, norm: Norm):
        self.norm = norm
        self.reach, self.best = REACH, np.inf
        self.centre: np.ndarray | None = None

    def __call__(self, turn: Turn) -> np.ndarray:
        if not turn.s.any():
            return turn.theta
        if self.centre is not None and turn.value > self.best:
            self.reach = np.sqrt(self.reach)
            return self.centre
        primal = turn.primal()
        if primal < self.best:
            self.best, self.centre = primal, turn.theta
        self.reach = max(REACH, self.reach**WIDEN)
        return self._step(turn, self._floor(turn, primal))

    def _floor(self, turn: Turn, primal: float) -> np.ndarray:
        dual = turn.linear - 0.5 * self.norm.dual(turn.s)
        gap = min((primal - dual) / max(abs(primal), np.finfo(float).tiny), 1.0)
        least = FLOOR * gap * turn.theta.mean()
        return np.maximum(self.reach * turn.theta, np.minimum(least, turn.theta))

    def _step(self, turn: Turn, lower: np.ndarray) -> np.ndarray:
        """Minimise the model over the weights above `lower`."""
        M, scale = len(turn.theta), turn.s.max()
        try:
            H = turn.curvature() / scale
        except LinAlgError:
            H = np.zeros((M, M))
        H[np.diag_indices(M)] += 1e-9 * np.trace(H) / M + 1e-14
        slope = -0.5 * turn.s / scale - H @ turn.theta
        model = Master(H, slope, lower, np.zeros((0, M)), np.zeros(0), self.norm.ball)
        inner = 0.95 * turn.theta + 1e-3 * self.norm.start(M)
        theta = np.maximum(model.minimise(np.maximum(inner, lower * (1 + 1e-3)), M), lower)
        return theta / self.norm.value(theta)
