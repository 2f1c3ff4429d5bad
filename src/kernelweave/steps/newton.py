"""The Newton weight step: minimise a quadratic model of the inner problem's optimal value.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha)

is convex. Its gradient is -1/2 s, and its Hessian H follows from the free examples, so

    min over feasible theta of  -1/2 s . theta + 1/2 (theta - theta_0)' H (theta - theta_0)

is the step of HessianMKL (Chapelle and Rakotomamonjy, 2008) at p = 1, and Newton's method on the
ball of the norm otherwise. The inner problem need not be solved exactly.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..norms import Norm
from ..training.loop import Turn
from .master import least_weights, model_minimum

REACH = 0.3  # one step leaves every weight at least this part of itself
WIDEN = 1.1  # exponent that lets the reach recover
PATIENCE = 3  # turns without any better value after which the trust region shrinks
ROUNDING = 1e-9  # relative difference of values that is rounding
TIGHT = 0.1  # part of the gap that an accurately solved inner problem accounts for
SECANT = 0.05, 2.0  # bounds of that ratio


class Newton:
    """Newton's method in the weights, interleaved or not.

    A model is trusted within a region. When the dual value shows that J has risen above the best
    primal value, or when neither that value nor the gap has fallen for some turns, the weights go
    back to where it was found and the region shrinks. Where the inner problem is solved accurately
    its dual value, too, shows that J falls: weights that grow from nearly nothing gain less at
    first than a primal value can show.

    A Hessian belongs to the free examples of one alpha. Along a step examples become free or reach
    a bound, and the gradient changes by another amount than the Hessian predicts: the next Hessian
    is multiplied by the ratio of the two.
    """

    def __init__(self, norm: Norm):
        self.norm = norm
        self.reach, self.idle = REACH, 0
        self.best = self.narrowest = self.lowest = np.inf
        self.centre = np.empty(0)
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __call__(self, turn: Turn) -> np.ndarray:
        if not turn.s.max() > 0:  # but for rounding there are no outputs
            return turn.theta
        if turn.value > self.best + ROUNDING * abs(self.best):
            return self._back()
        primal, gap = turn.primal(), turn.gap(self.norm)
        self._note(turn, primal, gap)
        if self.idle >= PATIENCE:
            return self._back()
        self.reach = max(REACH, self.reach**WIDEN)
        lower = least_weights(turn, self.norm, self.reach)
        try:
            hessian = turn.hessian()
        except LinAlgError:  # rounding hides it
            hessian = np.zeros((len(turn.s),) * 2)
        H, scale = self._secant(turn) * hessian, turn.s.max()
        self.last = turn.theta, turn.s, hessian
        return model_minimum(turn.theta, -0.5 * turn.s / scale, H / scale, lower, self.norm)

    def _secant(self, turn: Turn) -> float:
        """Return the change of the gradient along the last step, relative to the predicted one."""
        if self.last is None:
            return 1.0
        theta, s, hessian = self.last
        step = turn.theta - theta
        expected = step @ hessian @ step
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
