"""Conjugate gradients: all alphas at once, where the kernel matrix multiplies vectors cheaply.

With given weights, and a loss without entropies, the dual problem is

    minimise  1/2 alpha' K alpha + lin' alpha + eps' |alpha| + 1/2 alpha' diag(curv) alpha
    over      lo <= alpha <= hi,  sum alpha = tau.

A move starts as a gradient step, is made conjugate to the move before it, and is projected to where
alpha may be; its length is the best one, up to where alpha would leave its bounds. One product with
K is all a move costs. What such a move cuts short is near its bound but not on it, so the last
moves are gradient steps without a cut: they put the examples that do not count exactly at zero.

Where eps is not 0, there is a kink at 0. A gradient step then leads to the alpha that is best for
the gradient and the kinks together: what is near enough to 0 goes there. Moves may cross 0, and the
best length counts what each alpha loses at its kink.

Conjugate gradients are slow where K is badly conditioned: then working sets take over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.roots import root
from ...engines.base import Engine, kernel_blocks, mat_vec
from ...problem.problem import Problem
from ..certifier import certified
from ..kkt_system import longest_step
from ..log import distance
from ..result import Result
from ..run import Run

# Moves in which the gap has to fall to half of what it was, or as many as a part of the free
# alphas: badly conditioned problems take long at first, and working sets that hold few of the free
# examples take longer. In fewer moves the best values have to come closer to each other at least.
PATIENCE, MOVES_PER_FREE = 100, 0.25
STANDSTILL, LITTLE = 300, 0.99
# After so many moves in a row that kinks cut to less than this part, a gradient step without a cut
# puts alphas on their kinks (epsilon-insensitive loss).
SHORT_MOVES, SHORT = 3, 0.01
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
    last : the last move, and its product with the Hessian, both of shape (n,).
    short : number of short moves in a row.
    whole : whether the last move was without a cut, so that alphas are on their bounds.
    """

    problem: Problem
    engine: Engine
    weights: np.ndarray
    separate: bool = False
    step: float = 1.0
    last: tuple[np.ndarray, np.ndarray] | None = None
    short: int = 0
    whole: bool = True

    @property
    def free(self) -> int:
        """The number of alphas that are strictly between their bounds, and not 0 at a kink."""
        term, alpha = self.problem.term, self.engine.alpha
        inside = (alpha > term.lo) & (alpha < term.hi)
        return int(np.count_nonzero(inside & ((alpha != 0) | (term.eps == 0))))

    def slope(self) -> np.ndarray:
        """Return the gradient without kinks, shape (n,)."""
        term, alpha = self.problem.term, self.engine.alpha
        slope: np.ndarray = self.engine.combined(self.weights) + term.lin + term.curv * alpha
        return slope

    def kinks(self, move: np.ndarray, t: float = 0.0) -> float:
        """Return the slope of the kinks along a move, shape (n,), behind t times the move."""
        term, alpha = self.problem.term, self.engine.alpha
        if not term.eps.any():
            return 0.0
        there = alpha + t * move
        return float(term.eps @ np.where(there == 0, np.abs(move), np.sign(there) * move))

    def towards(self, change: np.ndarray, step: float = 0.0) -> np.ndarray:
        """Return the change, shape (n,), to the feasible alpha nearest to that after it.

        With a `step` kinks count so many times.
        """
        term, alpha = self.problem.term, self.engine.alpha
        kinks = step * term.eps
        nearest = project(alpha + change, term.lo, term.hi, self.problem.tau, kinks)
        way: np.ndarray = nearest - alpha
        return way

    def descend(self) -> bool:
        """Make one move; returns whether it led anywhere."""
        if self.short >= SHORT_MOVES:
            return self.settle()
        slope = self.slope()
        move = self.direction(slope)
        way, bent = self.products(move)
        best = self.judged(self.best_length(slope, move, way, bent))
        if not best > 0:  # or NaN
            return False
        length = best if best < 1 else min(best, max(1.0, self.room(move)))
        return self.go(length, move, way, bent)

    def direction(self, slope: np.ndarray) -> np.ndarray:
        """Return a move, shape (n,), down a slope, shape (n,): conjugate to the last one."""
        move = self.towards(-self.step * slope, self.step)
        if self.last is None:
            return move
        before, bent = self.last
        ratio = float(move @ bent) / max(float(before @ bent), TINY)
        conjugate = self.towards(move - ratio * before)
        falls = slope @ conjugate + self.kinks(conjugate) < 0
        return conjugate if falls else move

    def judged(self, best: float) -> float:
        """Return the length to take for the best one."""
        return best

    def settle(self) -> bool:
        """Make a gradient step without a cut, so short that the value falls."""
        slope = self.slope()
        while True:
            move = self.towards(-self.step * slope, self.step)
            way, bent = self.products(move)
            best = self.best_length(slope, move, way, bent)
            if best >= 0.5:  # otherwise the value at 1 would be above that at 0
                moved = self.go(1.0, move, way, bent)
                self.whole = True
                return moved
            if not best > 0:
                return False
            self.step *= best

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return K times a move, and the Hessian times it, shape (n,).

        K is that of the sum of the kernels, shape (n,), or of each of them that has a weight,
        shape (k, n), where that costs no more.
        """
        way = mat_vec(self.engine).matvec(move, self.weights, each=self.separate)
        combined = self.weights[self.weights != 0] @ way if self.separate else way
        return way, combined + self.problem.term.curv * move

    def follow(self, alpha: np.ndarray, length: float, way: np.ndarray) -> None:
        """Move the engine to an alpha that is `length` times a move away, given its products."""
        if way.ndim == 2:
            outputs = (
                kernel_blocks(self.engine).outputs(np.flatnonzero(self.weights)) + length * way
            )
        else:
            outputs = self.engine.combined(self.weights) + length * way
        self.engine.move_to(alpha, outputs, self.weights)

    def best_length(
        self, slope: np.ndarray, move: np.ndarray, way: np.ndarray, bent: np.ndarray
    ) -> float:
        """Return where along a move, whose products are known, the value is least."""
        fall, curvature = float(slope @ move) + self.kinks(move), max(float(move @ bent), TINY)
        eps, alpha = self.problem.term.eps, self.engine.alpha
        crossing = np.flatnonzero(eps * alpha * move < 0)
        if not len(crossing):
            return -fall / curvature
        places, jumps = -alpha[crossing] / move[crossing], 2.0 * (eps * np.abs(move))[crossing]
        return first_zero(fall, curvature, places, jumps)

    def room(self, move: np.ndarray) -> float:
        """Return how many times a move fits in before some alpha reaches a bound."""
        term, alpha = self.problem.term, self.engine.alpha
        return longest_step(np.where(move > 0, term.hi - alpha, alpha - term.lo), -np.abs(move))

    def go(self, length: float, move: np.ndarray, way: np.ndarray, bent: np.ndarray) -> bool:
        """Change alpha by a part of a move, given its products; returns whether it changes."""
        self.step = float(move @ move) / max(float(move @ bent), TINY)
        self.last = length * move, length * bent
        self.short = self.short + 1 if length < SHORT else 0
        self.whole = False
        before, term = self.engine.alpha.copy(), self.problem.term
        alpha = np.clip(before + length * move, term.lo, term.hi)
        self.follow(alpha, length, way)
        return bool(np.any(alpha != before))


def first_zero(value: float, rate: float, places: np.ndarray, jumps: np.ndarray) -> float:
    """Return where a slope that is `value` at 0 and rises at a rate, and by jumps, reaches zero.

    Jumps, shape (k,), are at places > 0 in any order.
    """
    order = np.argsort(places)
    places, risen = places[order], np.cumsum(jumps[order])
    reached = np.flatnonzero(value + rate * places + risen >= 0)
    if not len(reached):
        return float(-(value + risen[-1]) / rate)
    first = reached[0]
    before = value + (risen[first - 1] if first else 0.0)
    return float(min(places[first], -before / rate))


def descended(descent: Descent, run: Run) -> Result | None:
    """Move until the run is finished; None where the gap falls slowly."""
    problem, engine = descent.problem, descent.engine
    moving, turns = True, 0
    while moving and not slow(run, descent.free):
        weights = descent.weights
        certificate = certified(problem, engine, weights)
        run.record(certificate, weights, turns, engine.alpha)
        if run.budget.spent or (run.converged and descent.whole):
            return run.result(certificate, engine.alpha, weights)
        turns = 1
        moving = descent.settle() if run.converged else descent.descend()
        run.notify(engine.alpha, descent.weights)
    return None


def slow(run: Run, free: int) -> bool:
    """Return whether the gap has not halved for a while, the longer the more alphas are free.

    Nor may the best primal and dual values stand still.
    """
    patience = max(PATIENCE, int(MOVES_PER_FREE * free))
    gaps = [past.gap for past in run.log.entries]
    if len(gaps) > patience + 1 and min(gaps[-patience:]) > 0.5 * min(gaps[:-patience]):
        return True
    before = run.log.entries[:-STANDSTILL]
    return len(before) > 1 and distance(run.log.entries) > LITTLE * distance(before)


def project(
    point: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float, kinks: Any = 0.0
) -> np.ndarray:
    """Return the nearest alpha to a point with lo <= alpha <= hi and a given sum, shape (n,).

    With kinks, shape (n,), half the square of the distance plus kinks' |alpha| is least; lo <= 0
    <= hi then.
    """

    def shifted(shift: float) -> np.ndarray:
        moved = point + shift
        if np.any(kinks):
            moved = np.sign(moved) * np.maximum(np.abs(moved) - kinks, 0.0)
        alpha: np.ndarray = np.clip(moved, lo, hi)
        return alpha

    def excess(shift: float) -> tuple[float, float]:
        alpha = shifted(shift)
        free = np.count_nonzero((alpha > lo) & (alpha < hi) & ((alpha != 0) | (kinks == 0)))
        return float(alpha.sum()) - total, float(free)

    return shifted(root(excess, -1.0, 1.0))
