"""Steps that wait for the machine: new weights only when alpha is good enough for the present ones.

A method that models J(theta), the value of the best machine with weights theta, from an alpha that
is far from that machine is led astray: its steps are long and wrong, and the machine has to begin
again. And it cannot see whether the last step was a good one while alpha misses more of J than that
step was to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Turn

ROUGH = 0.03  # relative duality gap of a machine that a step may act on
FINE = 0.03  # part of the tolerance to which machines are solved at most
COMPLETE = 0.3  # part of it at which a machine counts as complete
TINY = np.finfo(float).tiny

Acts = Callable[[Any], np.ndarray]  # on a `Turn`, or on a `SolvedTurn` if it needs one


class Patient:
    """A step that says how good the next machine must be.

    Parameters
    ----------
    step : what it does.
    most : the largest relative duality gap of a machine that it takes.
    least : part of the tolerance beyond which it needs no better machine.

    Attributes
    ----------
    accuracy : relative duality gap to which the next machine should be solved.
    """

    def __init__(self, step: Acts, most: float = ROUGH, least: float = FINE):
        self.step, self.most, self.least, self.accuracy = step, most, least, most

    def __call__(self, turn: Turn) -> np.ndarray:
        theta = self.step(turn)
        gain = 0.5 * abs(turn.s @ (theta - turn.theta))  # to first order
        self.accuracy = min(self.most, gain / max(abs(turn.primal()), TINY))
        return theta


def complete(step: Acts) -> Patient:
    """Return a step, waiting for complete machines."""
    return Patient(step, most=0.0, least=COMPLETE)
