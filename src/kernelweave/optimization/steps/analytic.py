"""The analytic weight step: the best weights for the present w (Kloft et al., 2011), and beyond.

The weights of the formula suit a w that was made with the last ones, so that each step covers a
part of the way only, a small one near p = 1. Steps in the logarithms of the weights are therefore
made longer (over-relaxation): longer still as long as they point the same way, shorter where they
turn back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...norms import Norm
from ..iterate import Iterate, Step
from .base import WeightStep

SLACK = 0.25  # part of the tolerance that may be lost to weights which numbers can hold
FIRST, LONGEST = 2.0, 8.0  # factors of a step
LONGER, SHORTER = 1.25, 0.5  # what they are multiplied with
MOST = np.log(1e3)  # of one step: a weight that is next to nothing comes back slowly
SAME_WAY = 0.5  # cosine between two steps from which on they point the same way


@dataclass(frozen=True)
class Analytic(WeightStep):
    """Analytic weight steps, over-relaxed."""

    def begin(self, norm: Norm) -> Step:
        return AnalyticSteps(norm)


class AnalyticSteps:
    """Minimise sum_m ||w_m||^2 / theta_m over the feasible weights, w being what it is.

    Weights that are the best response to alpha already are not gone beyond. Nor are those of
    kernels that interact (`norms.Elliptic`): the norm may be large where a step is too long.
    """

    def __init__(self, norm: Norm):
        self.norm, self._factor = norm, FIRST
        self._last: np.ndarray | None = None  # step in the logarithms

    def __call__(self, iterate: Iterate) -> np.ndarray:
        theta = self.norm.analytic(iterate.theta, iterate.s)
        if self.norm.has_ball and self.norm.dual_matrix is None:
            theta = self._beyond(iterate.theta, theta)
        return self.norm.held(theta, SLACK * iterate.tol)

    def _beyond(self, before: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the weights of a longer step, shape (M,)."""
        moves = (before > 0) & (theta > 0)
        step = np.zeros_like(theta)
        step[moves] = np.log(theta[moves] / before[moves])
        if self._last is not None:
            self._factor *= self._change(step, self._last, theta)
            self._factor = float(np.clip(self._factor, 1.0, LONGEST))
        self._last = step
        length = np.clip(self._factor * step, -MOST, MOST)
        far = np.where(moves, before * np.exp(length), theta)
        longer: np.ndarray = far / self.norm.value(far)
        return longer

    @staticmethod
    def _change(step: np.ndarray, last: np.ndarray, theta: np.ndarray) -> float:
        """Return what the factor is multiplied with; kernels count by their weight theta."""
        product = float((theta * step) @ last)
        sizes = float(np.sqrt(((theta * step) @ step) * ((theta * last) @ last)))
        if product < 0:
            return SHORTER
        return LONGER if product > SAME_WAY * sizes else 1.0
