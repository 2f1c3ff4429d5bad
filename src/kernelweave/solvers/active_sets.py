"""Active sets: from a sample to all examples, by way of those that matter.

With many examples most alphas end at zero. So solve the problem on a sample; let all outputs
follow once; go on with the support, the examples that disagree, and those nearest to disagreeing.
An alpha that is zero adds nothing to any sum, so the restricted problem is the same problem with
fewer losses: the same loop solves it, weight steps included. Only the certificate on all examples
ends the search. This is shrinking (Joachims, 1999) and a coarse-to-fine start in one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..problem import Problem, Result
from ..steps.base import Step, keep_weights
from .conjugate import conjugate
from .journal import Journal
from .state import State
from .task import Task
from .working_set import every_kth

SMALL = 20_000  # so many examples are worked on at once
SAMPLE = 0.02  # part of the examples in the first sample, if that is not small
GROWTH = 4  # a set may become so many times larger
SPARE = 0.5  # examples near to disagreeing, relative to those that count
# A restricted problem is solved to this part of the gap on all examples. Weights that are learned
# settle slowly, and those of a set that is wrong are of no use.
INNER_ONE, INNER_MANY = 0.05, 0.2
LAST = 0.5  # and to no less than this part of the tolerance


class ActiveSets(State):
    """alpha and theta on all examples, and those that are worked on.

    Attributes
    ----------
    active : the examples that are worked on, sorted.
    turns : turns of the restricted problems so far.
    """

    def __init__(self, task: Task):
        super().__init__(task)
        self.active = sample(task.problem, task.alpha)
        self.turns = 0

    def improve_active(self, step: Step, tol: float) -> bool:
        """Solve the problem on the active examples, and let all outputs follow.

        Returns whether there was anything to do.
        """
        inner = conjugate(replace(self.now().subset(self.active), tol=tol), step)
        self.move(self.active, inner.alpha)
        self.theta = inner.weights
        self.turns += inner.n_iter
        return inner.n_iter > 0

    def now(self) -> Task:
        """Return the task that is left from here, with the turns that are left."""
        most = self.task.max_iter
        return replace(super().now(), max_iter=None if most is None else most - self.turns)

    def choose(self, bias: float) -> None:
        """Take the support, the examples that disagree, and those nearest to it.

        They disagree with the best bias: the middle of the two worst says little before the end.
        """
        violations = self.violations()
        violations.middle = -bias
        idle = np.flatnonzero(self.alpha == 0)
        excess = violations.excess(idle)
        support = self.engine.n - len(idle)
        wanted = int((1 + SPARE) * (support + np.count_nonzero(excess > 0)))
        most = min(GROWTH * max(len(self.active), SMALL), self.engine.n // 2)
        room = min(wanted, most) - support
        if 0 < room < len(idle):
            idle = idle[np.argpartition(-excess, room)[:room]]
        self.active = np.union1d(np.flatnonzero(self.alpha), idle)


def active_sets(task: Task, make_step: Callable[[], Step], before: Journal | None = None) -> Result:
    """Solve a task with a weight step after every turn.

    Parameters
    ----------
    make_step : makes a weight step. Each restricted problem has its own: what one remembers of the
        values of a problem is wrong for another.
    before : what has been reached on the way to where the task starts.
    """
    n = task.engine.n
    dense = n <= SMALL or np.count_nonzero(task.alpha) > n // 2
    if dense or task.problem.machines > 1:
        return conjugate(task, make_step(), before)
    state, journal = ActiveSets(task), Journal(task, before)
    inner = INNER_ONE if len(task.theta) == 1 else INNER_MANY
    gap = 1.0
    busy = True
    while busy and len(state.active) <= n // 2:
        busy = state.improve_active(make_step(), max(inner * gap, LAST * task.tol))
        certificate = state.refresh(keep_weights)
        journal.note(certificate, state.theta)
        gap = min(gap, certificate.gap)
        if certificate.gap <= task.tol or state.turns == task.max_iter or task.late:
            return journal.result(certificate, state.alpha, state.theta, n_iter=state.turns)
        state.choose(certificate.bias)
    result = conjugate(state.now(), make_step(), journal)
    return replace(result, n_iter=state.turns + result.n_iter)


def sample(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return evenly spaced examples of each kind, and all with an alpha that is not zero."""
    part = max(SMALL / len(alpha), SAMPLE)
    return np.union1d(every_kth(problem.y, max(1, int(1 / part))), np.flatnonzero(alpha))
