"""Wrapper training: complete solves for fixed weights, and a weight step between them.

Algorithm 1 of Sonnenburg et al. (2006) and of Kloft et al. (2011). Each solve starts from the last
alpha, and need not be much more accurate than the weights are: its tolerance follows the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..problem import Result
from ..steps.base import SolvedTurn, keep_weights
from .chunking import chunking
from .journal import Journal
from .state import State
from .task import Task, silent

FIRST = 0.03  # the gap to which the first machine is solved
INNER = 0.3  # later ones: this part of the gap of the whole problem
LEAST = 1e-12  # no machine is solved beyond rounding
TURNS = 1000  # of one solve; the weights may move on before it is complete


class Machines(State):
    """A state whose alpha is brought to the optimum for its weights.

    Attributes
    ----------
    tol : relative duality gap to which machines are solved.
    """

    def __init__(self, task: Task, tol: float):
        super().__init__(task)
        self.tol = tol

    def solve(self, theta: np.ndarray) -> SolvedTurn:
        """Solve the machine with weights theta, shape (M,)."""
        self.theta = theta
        alone = self.now().with_weights(theta)
        inner = replace(alone, tol=self.tol, max_iter=TURNS, watch=silent)
        self.alpha = chunking(inner, keep_weights).alpha
        return SolvedTurn(**vars(self.view()), at=self.solve)


def wrapper(task: Task, step: Callable[[SolvedTurn], np.ndarray]) -> Result:
    """Solve a task with a weight step after every complete machine."""
    state, journal = Machines(task, max(FIRST, task.tol)), Journal(task)
    share, best = INNER, np.inf
    journal.note(state.refresh(keep_weights), state.theta)
    while True:
        turn = state.solve(state.theta)
        certificate = state.certify()
        journal.note(certificate, state.theta)
        if journal.over or journal.stuck:
            return journal.result(certificate, state.alpha, state.theta)
        if certificate.gap >= best:  # did the machines lack accuracy?
            share = max(0.5 * share, 1e-3)
        best = min(best, certificate.gap)
        state.tol = max(share * min(best, 1.0), LEAST)
        state.theta = step(turn)
