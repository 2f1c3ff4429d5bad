"""Steps that wait for the machine: new weights only when alpha is good enough for the present ones.

A method that models J(theta), the value of the best machine with weights theta, from an alpha that
is far from that machine is led astray: its steps are long and wrong, and the machine has to begin
again. And it cannot see whether the last step was a good one while alpha misses more of J than that
step was to gain. The primal value minus the dual value under the present weights tells how much of
J alpha misses at most.
"""

from __future__ import annotations

import numpy as np

from .base import Step, Turn

ROUGH = 0.03  # part of the primal value that a machine may miss
MOST_TURNS = 50  # to wait


class Patient:
    """Let a step act on machines that are nearly solved, and in the end on any."""

    def __init__(self, step: Step):
        self.step = step
        self.waited = 0
        self.gain = np.inf

    def __call__(self, turn: Turn) -> np.ndarray:
        primal = turn.primal()
        allowed = min(ROUGH * abs(primal), self.gain)
        if primal - turn.value > allowed and self.waited < MOST_TURNS:
            self.waited += 1
            return turn.theta
        theta = self.step(turn)
        self.waited = 0
        self.gain = 0.5 * abs(turn.s @ (theta - turn.theta))  # to first order
        return theta
