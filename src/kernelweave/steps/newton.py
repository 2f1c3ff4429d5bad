"""The Newton weight step: minimise a model of the inner problem's optimal value.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha)

is convex. Its gradient is -1/2 s, and its Hessian follows from the free examples. HessianMKL
(Chapelle and Rakotomamonjy, 2008) minimises the quadratic model that they make, over the feasible
weights. For several kernels a model with the same derivatives is taken that also knows how J rises
where weights vanish (`models`). The inner problem need not be solved exactly.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..norms import Norm
from ..training.loop import Turn
from .master import least_weights
from .models import QuadraticModel, RankOneModel

SEVERAL = 100  # kernels up to which the model of kernels of rank one is taken
REACH = 0.3  # part of itself that one step leaves every weight, for several kernels times the gap
DISTRUST = 0.09  # the reach that a first failure is taken to have had
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
    a bound, and the gradient changes by another amount than the model predicts: the next Hessian
    is multiplied by the ratio of the two.
    """

    def __init__(self, norm: Norm):
        self.norm = norm
        self.distrust, self.idle, self.ratio = 0.0, 0, 1.0
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
        self.distrust **= WIDEN
        try:
            hessian = turn.hessian()
        except LinAlgError:  # rounding hides it
            hessian = np.zeros((len(turn.s),) * 2)
        scale, self.ratio = turn.s.max(), self._secant(turn)
        kind = RankOneModel if len(turn.s) <= SEVERAL else QuadraticModel
        model = kind(turn.theta, turn.s / scale, self.ratio / scale * hessian)
        theta = model.minimum(self._least(turn, gap), self.norm)
        self.last = turn.theta, turn.s, -2 * scale * model.gradient(theta)
        return theta

    def _least(self, turn: Turn, gap: float) -> np.ndarray:
        """Return what a step leaves of each weight at least, shape (M,)."""
        several = len(turn.s) <= SEVERAL
        reach = max(self.distrust, REACH * (gap / max(turn.scale, gap) if several else 1.0))
        least = least_weights(turn, self.norm, reach)
        if several and self.norm.is_sparse:
            least[least > reach * turn.theta] = 0.0
        return least

    def _secant(self, turn: Turn) -> float:
        """Return the change of the gradient along the last step, relative to the predicted one."""
        if self.last is None:
            return 1.0
        theta, s, predicted = self.last
        step = turn.theta - theta
        expected = float(step @ (s - predicted))
        if expected <= 0:
            return 1.0
        return float(np.clip(self.ratio * (step @ (s - turn.s)) / expected, *SECANT))

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
        self.distrust = np.sqrt(max(self.distrust, DISTRUST))
        self.idle, self.lowest, self.last = 0, np.inf, None
        return self.centre
