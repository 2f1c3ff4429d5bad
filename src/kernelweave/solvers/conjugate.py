"""Conjugate gradients: all alphas at once, where the kernel matrix multiplies vectors cheaply.

With one kernel, and a loss without kinks and entropies, the dual problem is

    minimise  1/2 alpha' K alpha + lin' alpha + 1/2 alpha' diag(curv) alpha
    over      lo <= alpha <= hi,  sum alpha = tau.

A move starts as a gradient step, is made conjugate to the move before it, and is projected to where
alpha may be; its length is the best one, up to where alpha would leave its bounds. One product with
K is all a move costs. What such a move cuts short is near its bound but not on it, so the last
moves are gradient steps without a cut: they put the examples that do not count exactly at zero.
Conjugate gradients are slow where K is badly conditioned: then chunking takes over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bias import root
from ..core import _core
from ..problem import Result
from ..steps.base import Step, keep_weights
from .journal import Journal
from .state import State
from .task import Task
from .wrapper import alternate

PATIENCE = 100  # moves in which the gap has to fall to half of what it was
TINY = np.finfo(float).tiny


class Descent(State):
    """alpha on its way downhill.

    Attributes
    ----------
    matrix : K; `matrix @ v` multiplies.
    step : length of a gradient step: the inverse of the curvature along the last move.
    last : the last move and its product with the second derivative, shape (2, n).
    """

    def __init__(self, task: Task, matrix: _core.Product):
        super().__init__(task)
        self.term, self.matrix = task.problem.term, matrix
        self.step = 1.0
        self.last: np.ndarray | None = None

    def slope(self) -> np.ndarray:
        """Return the gradient, shape (n,)."""
        return self.F + self.term.lin + self.term.curv * self.alpha

    def towards(self, change: np.ndarray) -> np.ndarray:
        """Return the change, shape (n,), that leads to the feasible alpha nearest to the wish."""
        wish, term = self.alpha + change, self.term
        return project(wish, term.lo, term.hi, self.problem.tau) - self.alpha

    def descend(self) -> bool:
        """Make one move; returns whether it led anywhere."""
        slope = self.slope()
        move = self.towards(-self.step * slope)
        if self.last is not None:
            before, bent = self.last
            conjugate = self.towards(move - (move @ bent) / max(before @ bent, TINY) * before)
            move = conjugate if slope @ conjugate < 0 else move
        change = self.matrix @ move
        best = self.best_length(slope, move, change)
        if not best > 0:  # or NaN
            return False
        length = best if best < 1 else min(best, max(1.0, self.room(move)))
        return self.go(length, move, change)

    def settle(self) -> bool:
        """Make a gradient step without a cut, so short that it leads downhill."""
        slope = self.slope()
        while True:
            move = self.towards(-self.step * slope)
            change = self.matrix @ move
            best = self.best_length(slope, move, change)
            if best >= 0.5:  # otherwise the value at 1 would be above that at 0
                return self.go(1.0, move, change)
            if not best > 0:  # or NaN
                return False
            self.step *= best

    def best_length(self, slope: np.ndarray, move: np.ndarray, change: np.ndarray) -> float:
        """Return where along a move the value is least."""
        return -float(slope @ move) / max(float(move @ self.bend(move, change)), TINY)

    def bend(self, move: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the second derivative times a move, whose product with K is known."""
        return self.theta[0] * change + self.term.curv * move

    def room(self, move: np.ndarray) -> float:
        """Return how many times a move fits in before some alpha reaches a bound."""
        moving = move != 0
        bound = np.where(move > 0, self.term.hi, self.term.lo)[moving]
        return float(np.min((bound - self.alpha[moving]) / move[moving], initial=np.inf))

    def go(self, length: float, move: np.ndarray, change: np.ndarray) -> bool:
        """Change alpha by a part of a move; returns whether that is anything."""
        bent = self.bend(move, change)
        self.step = float(move @ move) / max(float(move @ bent), TINY)
        self.last = length * np.stack([move, bent])
        before = self.alpha
        self.alpha = np.clip(before + length * move, self.term.lo, self.term.hi)
        self.engine.restore(self.alpha, self.engine.outputs + length * change)
        return bool(np.any(self.alpha != before))


def conjugate(task: Task, step: Step, before: Journal | None = None) -> Result:
    """Solve a task by conjugate gradients where they suit it, and by chunking otherwise."""
    matrix = task.engine.product() if suits(task, step) else None
    if matrix is None:
        return alternate(task, step, before)
    state, journal = Descent(task, matrix), Journal(task, before)
    moving = settled = True  # a start that is good is left as it is
    while moving and not slow(journal):
        certificate = state.refresh(keep_weights)
        journal.note(certificate, state.theta)
        good = certificate.gap <= task.tol
        if journal.spent or (good and settled):
            return journal.result(certificate, state.alpha, state.theta)
        settled = good
        moving = state.settle() if good else state.descend()
    turns = journal.turns
    most = None if task.max_iter is None else task.max_iter - turns
    result = alternate(replace(state.now(), max_iter=most), step, journal)
    return replace(result, n_iter=turns + result.n_iter)


def suits(task: Task, step: Step) -> bool:
    """Return whether a task has one kernel, a quadratic dual problem, and many examples."""
    one = task.engine.n_kernels == 1 and task.problem.machines == 1 and step is keep_weights
    quadratic = not (task.problem.term.eps.any() or task.problem.term.ent.any())
    return one and quadratic and task.engine.n > task.working_set


def slow(journal: Journal) -> bool:
    """Return whether the gap has not halved for a while."""
    if journal.turns <= PATIENCE:
        return False
    gaps = [past.gap for past in journal.history]
    return min(gaps[-PATIENCE:]) > 0.5 * min(gaps[:-PATIENCE])


def project(wish: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float) -> np.ndarray:
    """Return the nearest point with lo <= alpha <= hi and a given sum, all of shape (n,)."""

    def excess(shift: float) -> tuple[float, float]:
        alpha = np.clip(wish + shift, lo, hi)
        free = np.count_nonzero((alpha > lo) & (alpha < hi))
        return float(alpha.sum()) - total, float(free)

    return np.clip(wish + root(excess, -1.0, 1.0), lo, hi)
