"""Chunking: solve small problems on the worst examples, and let the weights follow.

The loop of Sonnenburg et al. (2006) and Kloft et al. (2011). Each turn takes the q worst examples,
solves the problem restricted to them exactly, tells the engine, and takes one weight step (or,
where new weights are dear to the engine, one after a few working sets).
"""

from __future__ import annotations

from ..problem import Result
from ..steps.base import Step, keep_weights
from .journal import Journal
from .state import State
from .task import Task


def chunking(task: Task, step: Step, before: Journal | None = None) -> Result:
    """Solve a task with a weight step after every turn.

    Parameters
    ----------
    before : what has been reached on the way to where the task starts.
    """
    state, journal = State(task), Journal(task, before)
    while True:
        certificate = state.refresh(step)
        journal.note(certificate, state.theta)
        if journal.over or journal.stuck(state.alpha):
            return journal.result(certificate, state.alpha, state.theta)
        state.advance(shrink=step is keep_weights, wanted=task.tol / certificate.gap)
