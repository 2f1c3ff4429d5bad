"""The level step: project the weights onto a level set of the cuts (Xu et al., 2009).

Cutting plane steps oscillate between vertices. The level method projects the present weights onto
the set on which no cut exceeds a level between the minimum of the largest cut, a lower bound of the
optimum, and the best primal value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Iterate, Step
from .base import WeightStep
from .cuts import Cuts
from .master import Master


@dataclass(frozen=True)
class LevelTuning:
    """Constants of level steps.

    Attributes
    ----------
    level : position of the level between the lower (0) and the upper bound (1) of the optimum.
    """

    level: float = 0.3


@dataclass(frozen=True)
class Level(WeightStep):
    """Level steps; a component of a `Plan`.

    Parameters
    ----------
    tuning : LevelTuning
    """

    tuning: LevelTuning = field(default=LevelTuning(), repr=False)

    def begin(self, problem: Problem, engine: Engine) -> Step:
        return LevelSteps(problem.norm, self.tuning)

    def needs_matrices(self, norm: Norm) -> bool:
        return True


class LevelSteps:
    """The level method on one fit: cuts so far, and the best primal value.

    Parameters
    ----------
    norm : Norm
        Defines the feasible weights.
    tuning : LevelTuning
        Has the position of the level.
    """

    def __init__(self, norm: Norm, tuning: LevelTuning = LevelTuning()):
        self.norm, self.tuning = norm, tuning
        self.cuts = Cuts()
        self.upper = np.inf

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.any():
            return iterate.theta
        self.upper = min(self.upper, iterate.primal())
        self.cuts.add(iterate.linear, iterate.s)
        best, lowest = self.cuts.lowest(self.norm)
        level = lowest + self.tuning.level * (self.upper - lowest)
        theta = self._project(iterate.theta, best, self.cuts, level)
        self.cuts.retire(best, theta)
        return theta

    def _project(
        self, theta: np.ndarray, inside: np.ndarray, cuts: Cuts, level: float
    ) -> np.ndarray:
        """Return the point of the level set nearest to theta, shape (M,).

        `inside`, shape (M,), is a point of the level set.
        """
        M = len(theta)
        ends = (level - cuts.linear) / cuts.scale
        master = Master(self.norm, np.eye(M), -theta, np.zeros(M), cuts.rows(), ends)
        start = 0.98 * inside + 0.01 * self.norm.start(M)
        near = np.maximum(master.minimise(start, theta, np.arange(M)), 0.0)
        return near / self.norm.value(near)
