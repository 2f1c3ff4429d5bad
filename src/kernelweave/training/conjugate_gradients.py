"""Conjugate gradients: all alphas at once, where the kernel matrix multiplies vectors cheaply.

With given weights, and a loss without entropies, the dual problem is

    minimise  1/2 alpha' K alpha + lin' alpha + eps' |alpha| + 1/2 alpha' diag(curv) alpha
    over      lo <= alpha <= hi,  sum alpha = tau.

Where eps is not 0, alpha is the sum of two parts, 0 <= first <= hi and lo <= second <= 0, and the
kink is gone: their slopes are lin + eps and lin - eps.

A move starts as a gradient step, is made conjugate to the move before it, and is projected to where
alpha may be; its length is the best one, up to where alpha would leave its bounds. One product with
K is all a move costs. What such a move cuts short is near its bound but not on it, so the last
moves are gradient steps without a cut: they put the examples that do not count exactly at zero.
Conjugate gradients are slow where K is badly conditioned: then working sets take over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines.base import Engine
from ..kkt_system import longest_step
from ..losses.base import root
from ..problem import Problem
from .certified import certified
from .history import History, Result

PATIENCE = 100  # moves in which the gap has to fall to half of what it was
TINY = np.finfo(float).tiny


@dataclass(eq=False)
class Descent:
    """An alpha that descends.

    Attributes
    ----------
    problem, engine : what is solved, and who holds alpha.
    weights : array of shape (M,)
        The given weights of the kernels.
    step : length of a gradient step: the inverse of the curvature along the last move.
    last : the last move, shape (parts, n), and its product with the Hessian, (n,).
    """

    problem: Problem
    engine: Engine
    weights: np.ndarray
    step: float = 1.0
    last: tuple[np.ndarray, np.ndarray] | None = None

    def __post_init__(self) -> None:
        term = self.problem.term
        self._lo, self._hi, self._kinks = term.lo[None], term.hi[None], np.zeros((1, 1))
        if term.eps.any():
            none = np.zeros_like(term.lo)
            self._lo, self._hi = np.stack([none, term.lo]), np.stack([term.hi, none])
            self._kinks = np.stack([term.eps, -term.eps])

    @property
    def parts(self) -> np.ndarray:
        """The parts of alpha, of which one at most is not 0, shape (parts, n)."""
        parts: np.ndarray = np.clip(self.engine.alpha, self._lo, self._hi)
        return parts

    def slope(self) -> np.ndarray:
        """Return the gradient, shape (parts, n)."""
        term, alpha = self.problem.term, self.engine.alpha
        slope: np.ndarray = self.engine.combined(self.weights) + term.lin + term.curv * alpha
        return slope + self._kinks

    def towards(self, change: np.ndarray) -> np.ndarray:
        """Return the change, shape (parts, n), to the feasible alpha nearest to that after it."""
        parts = self.parts
        nearest: np.ndarray = project(parts + change, self._lo, self._hi, self.problem.tau) - parts
        return nearest

    def descend(self) -> bool:
        """Make one move; returns whether it led anywhere."""
        slope = self.slope()
        move = self.towards(-self.step * slope)
        if self.last is not None:
            before, bent = self.last
            ratio = along(move, bent) / max(along(before, bent), TINY)
            conjugate = self.towards(move - ratio * before)
            move = conjugate if np.sum(slope * conjugate) < 0 else move
        change, bent = self.products(move)
        best = best_length(slope, move, bent)
        if not best > 0:  # or NaN
            return False
        length = best if best < 1 else min(best, max(1.0, self.room(move)))
        return self.go(length, move, change, bent)

    def settle(self) -> bool:
        """Make a gradient step without a cut, so short that the value falls."""
        slope = self.slope()
        while True:
            move = self.towards(-self.step * slope)
            change, bent = self.products(move)
            best = best_length(slope, move, bent)
            if best >= 0.5:  # otherwise the value at 1 would be above that at 0
                return self.go(1.0, move, change, bent)
            if not best > 0:
                return False
            self.step *= best

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the combined K times a move, and the Hessian times it, both of shape (n,)."""
        total = move.sum(axis=0)
        change = self.engine.matvec(total, self.weights)
        return change, change + self.problem.term.curv * total

    def room(self, move: np.ndarray) -> float:
        """Return how many times a move fits in before some part reaches a bound."""
        parts = self.parts
        return longest_step(np.where(move > 0, self._hi - parts, parts - self._lo), -np.abs(move))

    def go(self, length: float, move: np.ndarray, change: np.ndarray, bent: np.ndarray) -> bool:
        """Change alpha by a part of a move, given its products; returns whether it changes."""
        self.step = float(np.sum(move**2)) / max(along(move, bent), TINY)
        self.last = length * move, length * bent
        before = self.engine.alpha.copy()
        alpha = np.clip(self.parts + length * move, self._lo, self._hi).sum(axis=0)
        combined = self.engine.combined(self.weights) + length * change
        self.engine.move_to(alpha, combined, self.weights)
        return bool(np.any(alpha != before))


def along(move: np.ndarray, bent: np.ndarray) -> float:
    """Return the product of a move, shape (parts, n), with what the Hessian made, (n,)."""
    return float(move.sum(axis=0) @ bent)


def best_length(slope: np.ndarray, move: np.ndarray, bent: np.ndarray) -> float:
    """Return where along a move, whose product with the Hessian is known, the value is least."""
    return -float(np.sum(slope * move)) / max(along(move, bent), TINY)


def conjugate_gradients(
    problem: Problem, engine: Engine, weights: np.ndarray, history: History
) -> Result | None:
    """Solve a problem with given weights, shape (M,); None where that would be slow.

    Then alpha has been improved.
    """
    descent = Descent(problem, engine, weights)
    moving = settled = True  # a start that is good is left as it is
    turns = 0
    while moving and not slow(history):
        certificate = certified(problem, engine, weights)
        history.add(certificate, weights, turns)
        if history.spent or (history.converged and settled):
            return history.result(certificate, engine.alpha, weights)
        settled, turns = history.converged, 1
        moving = descent.settle() if settled else descent.descend()
        history.observe(engine.alpha, weights)
    return None


def slow(history: History) -> bool:
    """Return whether the gap has not halved for a while."""
    if len(history.entries) <= PATIENCE + 1:
        return False
    gaps = [past.gap for past in history.entries]
    return min(gaps[-PATIENCE:]) > 0.5 * min(gaps[:-PATIENCE])


def project(point: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float) -> np.ndarray:
    """Return the nearest point with lo <= point <= hi and a given sum, all of one shape."""

    def excess(shift: float) -> tuple[float, float]:
        alpha = np.clip(point + shift, lo, hi)
        free = np.count_nonzero((alpha > lo) & (alpha < hi))
        return float(alpha.sum()) - total, float(free)

    return np.clip(point + root(excess, -1.0, 1.0), lo, hi)
