"""The level step: the nearest weights at which all cuts are below a level (Xu et al., 2009).

Cutting planes alone jump from corner to corner. Here the cuts only say which weights may reach a
level between the lowest value that they allow and the best primal value; the step goes to the
nearest of those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...norms import Norm
from ..iterate import Iterate, Step
from .base import WeightStep
from .cuts import Cuts
from .master import Master

LEVEL = 0.3  # where the level lies between the lower (0) and the upper bound (1)


@dataclass(frozen=True)
class Level(WeightStep):
    """Level steps."""

    def begin(self, norm: Norm) -> Step:
        return LevelSteps(norm)


class LevelSteps:
    """Project the weights on a level set of the largest cut."""

    def __init__(self, norm: Norm):
        self.norm = norm
        self.cuts = Cuts()
        self.upper = np.inf

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.any():
            return iterate.theta
        self.upper = min(self.upper, iterate.primal())
        self.cuts.add(iterate.linear, iterate.s)
        best, lowest = self.cuts.lowest(self.norm)
        level = lowest + LEVEL * (self.upper - lowest)
        theta = self._project(iterate.theta, best, self.cuts, level)
        self.cuts.retire(best, theta)
        return theta

    def _project(
        self, theta: np.ndarray, inside: np.ndarray, cuts: Cuts, level: float
    ) -> np.ndarray:
        """Return the point of the level set nearest to theta, starting near a point inside it."""
        M = len(theta)
        ends = (level - cuts.linear) / cuts.scale
        master = Master(self.norm, np.eye(M), -theta, np.zeros(M), cuts.rows(), ends)
        start = 0.98 * inside + 0.01 * self.norm.start(M)
        near = np.maximum(master.minimise(start, theta, np.arange(M)), 0.0)
        projected: np.ndarray = near / self.norm.value(near)
        return projected
