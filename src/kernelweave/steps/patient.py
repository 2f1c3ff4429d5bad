"""Steps that wait for the machine: new weights only when alpha is good enough for the present ones.

The gap of a model has two parts: alpha is not the best for the weights (primal value minus dual
value under these weights), and the weights are not the best for alpha. A method that models
J(theta) from an alpha that is far from its optimum is led astray, so it waits a few turns for the
first part to become the lesser.
"""

from __future__ import annotations

import numpy as np

from .base import Ball, Step, Turn

SHARE = 0.3  # of the gap that the machine may account for
FAR = 0.1  # a relative gap below which no step goes far, and all are welcome
MOST_TURNS = 8  # to wait


class Patient:
    """Let a step act on machines that account for little of the gap, and in the end on any."""

    def __init__(self, step: Step, norm: Ball):
        self.step, self.norm = step, norm
        self.waited = 0

    def __call__(self, turn: Turn) -> np.ndarray:
        primal = turn.primal()
        gap = primal - (turn.linear - 0.5 * self.norm.dual(turn.s))
        allowed = SHARE * max(gap, FAR * abs(primal))
        if primal - turn.value > allowed and self.waited < MOST_TURNS:
            self.waited += 1
            return turn.theta
        self.waited = 0
        return self.step(turn)
