"""The analytic weight step: the best weights for fixed w (Kloft et al., 2011), over-relaxed.

Here w = (w_1 .. w_M) are the normal vectors of the SVM in the feature spaces of the kernels.
Alternating between w and the weights converges slowly near p = 1, since w depends on the previous
weights. Steps in the logarithms of the weights are therefore multiplied by a factor above 1
(over-relaxation). The factor grows while successive steps point in the same direction, and shrinks
when they reverse.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Iterate, Step
from .base import WeightStep


@dataclass(frozen=True)
class AnalyticTuning:
    """Constants of analytic steps.

    Attributes
    ----------
    underflow_share : limiting weights to representable numbers (`Norm.bounded`) may change the
        optimal value by this fraction of the tolerance.
    first_factor, largest_factor : first and largest over-relaxation factor.
    increase, decrease : changes of the factor after steps in the same and in opposite directions.
    largest_ratio : largest factor by which a weight changes in one step, since a weight near 0
        recovers slowly.
    same_direction : cosine of two steps above which their directions count as the same.
    """

    underflow_share: float = 0.25
    first_factor: float = 2.0
    largest_factor: float = 8.0
    increase: float = 1.25
    decrease: float = 0.5
    largest_ratio: float = 1e3
    same_direction: float = 0.5


@dataclass(frozen=True)
class Analytic(WeightStep):
    """Analytic weight steps with over-relaxation; a component of a `Plan`.

    Parameters
    ----------
    tuning : AnalyticTuning
    """

    tuning: AnalyticTuning = field(default=AnalyticTuning(), repr=False)

    def begin(self, problem: Problem, engine: Engine) -> Step:
        return AnalyticSteps(problem.norm, self.tuning)


class AnalyticSteps:
    """The analytic steps of one fit: minimise sum_m ||w_m||^2 / theta_m over feasible weights.

    The minimum has a closed form, `Norm.analytic`. Steps are over-relaxed if a norm bounds the
    weights (`Norm.has_ball`) and does not couple kernels. With `norms.Elliptic`, which couples
    them, a step that is too long may increase the norm.

    Parameters
    ----------
    norm : Norm
    tuning : AnalyticTuning
    """

    def __init__(self, norm: Norm, tuning: AnalyticTuning = AnalyticTuning()):
        self.norm, self.tuning, self._factor = norm, tuning, tuning.first_factor
        self._last: np.ndarray | None = None  # last step in the logarithms of the weights

    def __call__(self, iterate: Iterate) -> np.ndarray:
        theta = self.norm.analytic(iterate.theta, iterate.s)
        if self.norm.has_ball and self.norm.dual_matrix is None:
            theta = self._beyond(iterate.theta, theta)
        return self.norm.bounded(theta, self.tuning.underflow_share * iterate.tol)

    def _beyond(self, before: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the over-relaxed weights, shape (M,).

        Parameters
        ----------
        before, theta : ndarrays of shape (M,)
            Present weights, and those of the closed form.
        """
        moves = (before > 0) & (theta > 0)
        step = np.zeros_like(theta)
        step[moves] = np.log(theta[moves] / before[moves])
        if self._last is not None:
            self._factor *= self._change(step, self._last, theta)
            self._factor = float(np.clip(self._factor, 1.0, self.tuning.largest_factor))
        self._last = step
        largest = np.log(self.tuning.largest_ratio)
        length = np.clip(self._factor * step, -largest, largest)
        far = np.where(moves, before * np.exp(length), theta)
        return far / self.norm.value(far)

    def _change(self, step: np.ndarray, last: np.ndarray, theta: np.ndarray) -> float:
        """Return the ratio of the next over-relaxation factor to the present one.

        It depends on the angle between two steps, in the inner product with weights theta.
        """
        product = float((theta * step) @ last)
        sizes = float(np.sqrt(((theta * step) @ step) * ((theta * last) @ last)))
        if product < 0:
            return self.tuning.decrease
        same = product > self.tuning.same_direction * sizes
        return self.tuning.increase if same else 1.0
