"""Steps that wait for the machine: new weights only when alpha is good enough for the present ones.

A method that models J(theta), the value of the best machine with weights theta, from an alpha that
is far from that machine is led astray: its steps are long and wrong, and the machine has to begin
again. The primal value minus the dual value under the present weights tells how far alpha is.
"""

from __future__ import annotations

import numpy as np

from .base import Step, Turn

ROUGH = 0.03  # part of the primal value by which a machine may miss its optimum
MOST_TURNS = 8  # to wait


class Patient:
    """Let a step act on machines that are nearly solved, and in the end on any."""

    def __init__(self, step: Step):
        self.step = step
        self.waited = 0

    def __call__(self, turn: Turn) -> np.ndarray:
        primal = turn.primal()
        if primal - turn.value > ROUGH * abs(primal) and self.waited < MOST_TURNS:
            self.waited += 1
            return turn.theta
        self.waited = 0
        return self.step(turn)
