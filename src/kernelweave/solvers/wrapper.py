"""A weight step after every machine.

With complete machines this is the wrapper of Sonnenburg et al. (2006) and Kloft et al. (2011). A
step that needs no complete machines says how good they must be, and the weights move on before
they are complete. Each machine starts from the last alpha.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Result
from ..steps.base import SolvedTurn, Step, keep_weights
from ..steps.patient import Patient
from .chunking import chunking
from .journal import Journal
from .state import State
from .task import Task, silent

NEARER = 0.3  # every machine gets nearer to its optimum, or a step would see what the last one saw
LEAST = 1e-12  # no machine is solved beyond rounding
TURNS = 1000  # of one machine; the weights may move on before it is as good as it should be


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
        present = State(alone).refresh(keep_weights).gap
        tol = max(min(self.tol, NEARER * present), LEAST)
        inner = replace(alone, tol=tol, max_iter=TURNS, watch=silent)
        self.alpha = chunking(inner, keep_weights).alpha
        return SolvedTurn(**vars(self.view()), at=self.solve)


def wrapper(task: Task, step: Patient, before: Journal | None = None) -> Result:
    """Solve a task with a weight step after every machine.

    Parameters
    ----------
    before : what has been reached on the way to where the task starts.
    """
    state, journal = Machines(task, task.tol), Journal(task, before)
    certificate = state.refresh(keep_weights)
    journal.note(certificate, state.theta)
    least, narrowest = step.least * task.tol, np.inf
    while not journal.over:
        state.tol = max(least, step.accuracy)
        turn = state.solve(state.theta)
        certificate = state.certify()
        journal.note(certificate, state.theta)
        if journal.over or journal.stuck(state.alpha):
            break
        if certificate.gap >= narrowest:  # did the machine lack accuracy?
            least *= 0.5
        narrowest = min(narrowest, certificate.gap)
        state.theta = step(turn)
    return journal.result(certificate, state.alpha, state.theta)


def alternate(task: Task, step: Step, before: Journal | None = None) -> Result:
    """Solve a task with a weight step after every machine that it waits for, or every turn."""
    if isinstance(step, Patient):
        return wrapper(task, step, before)
    return chunking(task, step, before)
