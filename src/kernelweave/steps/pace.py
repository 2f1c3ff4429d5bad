"""How accurately the inner problem is solved before the weights move.

A step that models J(theta), the optimal value of the inner problem, from an alpha that is far from
the optimum goes too far in a wrong direction. And it cannot tell whether the last step was a good
one while the inner gap exceeds what that step was to gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Step, Turn

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Pace:
    """What a step asks of the inner problem.

    Attributes
    ----------
    name : str
        What such solutions are called.
    most : float
        The largest relative duality gap of an inner problem that the step acts on.
    least : float
        Part of the tolerance beyond which it needs no better solution.
    """

    name: str
    most: float
    least: float


ACCURATE = Pace("accurate", most=0.03, least=0.03)
COMPLETE = Pace("complete", most=0.0, least=0.3)


class PacedStep:
    """A step that says how accurate the next solution of the inner problem must be.

    Parameters
    ----------
    step : acts on solutions of the inner problem.
    pace : how accurate they must be.
    tol : relative duality gap of the model that is to be reached.
    """

    def __init__(self, step: Step, pace: Pace, tol: float):
        self._step, self._most = step, pace.most
        self._least, self._wanted, self._narrowest = pace.least * tol, pace.most, np.inf

    @property
    def accuracy(self) -> float:
        """Relative duality gap to which the inner problem should be solved next."""
        return max(self._least, self._wanted)

    def __call__(self, turn: Turn, gap: float) -> np.ndarray:
        """Return the next weights, shape (M,), from a model with a relative duality gap."""
        if gap >= self._narrowest:  # did the last solution lack accuracy?
            self._least *= 0.5
        self._narrowest = min(self._narrowest, gap)
        theta = self._step(turn)
        gain = 0.5 * abs(turn.s @ (theta - turn.theta))  # to first order
        self._wanted = min(self._most, gain / max(abs(turn.primal()), TINY))
        return theta
