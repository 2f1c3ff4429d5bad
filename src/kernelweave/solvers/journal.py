"""The way of a solver: every certified model on it, and when it came."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np

from ..digits import rounding
from ..problem import Certificate, Progress, Result
from .task import Task

PATIENCE = 300  # turns without any progress after which rounding is taken to be the limit
ROUNDING = 1e-9  # a change of values that is no progress, relative to the largest so far
SLIGHT = 1e-3  # a relative change of the gap that is none, or of what is between the best values
# Where rounding may be most of the gap, changes of values tell little, and fewer turns will do.
MOST, DROWNED_PATIENCE, DROWNED_SLIGHT = 0.25, 10, 0.5
NOTHING = 1e-15  # what is left of an objective whose optimum is 0, relative to the largest value


class Journal:
    """What a solver has reached so far.

    Parameters
    ----------
    task : what it works on, and who is told.
    before : the journal of a solver that came to its end without a result.
    """

    def __init__(self, task: Task, before: Journal | None = None):
        self.task = task
        self.history: list[Progress] = before.history if before else []
        self._past = len(self.history)
        self._started: float = before._started if before else time.perf_counter()

    def note(self, certificate: Certificate, theta: np.ndarray) -> None:
        """Write down a certified model with weights theta, shape (M,), and tell of it.

        Raises
        ------
        FloatingPointError : where its values are no numbers, since no turn would mend that.
        """
        if not certificate.finite:
            raise FloatingPointError("the objective is not finite")
        seconds = time.perf_counter() - self._started
        self.history.append(Progress(**vars(certificate), seconds=seconds, weights=theta.copy()))
        self.task.watch(self.history[-1])

    @property
    def turns(self) -> int:
        """Number of turns so far; the first entry is where the solver started."""
        return len(self.history) - self._past - 1

    @property
    def over(self) -> bool:
        """Whether the last model is good enough, or no turn is left."""
        return self.history[-1].gap <= self.task.tol or self.spent

    @property
    def spent(self) -> bool:
        """Whether no turn or no time is left."""
        return self.turns == self.task.max_iter or self.task.late

    def stuck(self, alpha: np.ndarray) -> bool:
        """Return whether the last model, with alpha, shape (n,), is the best that can be had.

        So it is where many turns brought nothing, or some and rounding may be most of the gap, or
        where all is 0.
        """
        if self.vanished or self._idle(PATIENCE, SLIGHT):
            return True
        return self._idle(DROWNED_PATIENCE, DROWNED_SLIGHT) and self._drowned(alpha)

    def _drowned(self, alpha: np.ndarray) -> bool:
        """Return whether rounding may be most of the gap of the last model."""
        last = self.history[-1]
        return MOST * last.gap <= rounding(alpha, last.weights, self._sizes, last.primal).sum()

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The largest value of each kernel, shape (M,)."""
        return self.task.engine.diagonal().max(axis=1)

    def _idle(self, turns: int, slight: float) -> bool:
        """Return whether for some turns the gap has fallen slightly at most, nor best values met.

        Values are compared with the largest one, since the optimum may be 0. A dual value may rise
        for ever, and by next to nothing of what is missing.
        """
        if len(self.history) <= turns:
            return False
        before, lately = self.history[:-turns], self.history[-turns:]
        if min(past.gap for past in lately) < (1 - slight) * min(past.gap for past in before):
            return False
        largest = max((abs(past.dual) for past in before if np.isfinite(past.dual)), default=0.0)
        apart = _apart(before)
        return apart - _apart(self.history) <= max(slight * apart, ROUNDING * largest)

    @property
    def vanished(self) -> bool:
        """Whether the objective is 0 but for rounding, as that of one class may be."""
        last, largest = self.history[-1], max(abs(past.primal) for past in self.history)
        left = max(abs(last.primal), abs(last.dual))
        return self.task.problem.tau > 0 and left <= NOTHING * largest

    def result(
        self,
        certificate: Certificate,
        alpha: np.ndarray,
        theta: np.ndarray,
        n_iter: int | None = None,
    ) -> Result:
        """Return a certified model with alpha, shape (n,), and theta, shape (M,), as the result.

        `n_iter` is for solvers whose turns are not those of the journal.
        """
        converged = certificate.gap <= self.task.tol
        return Result(
            **vars(certificate),
            alpha=alpha,
            weights=theta,
            n_iter=self.turns if n_iter is None else n_iter,
            history=self.history,
            converged=converged,
            late=self.task.late and not converged,
        )


def _apart(history: list[Progress]) -> float:
    """Return how far the best primal value is above the best dual value."""
    return min(past.primal for past in history) - max(past.dual for past in history)
