"""Conjugate gradients in alpha, with the best kernel weights for every alpha.

Where the ball of the norm is round, the best weights theta(s) for an alpha are a smooth function of
s_m = alpha' K_m alpha, and so is the dual problem of alpha alone,

    minimise  1/2 ||s(alpha)||_dual + lin' alpha + eps' |alpha| + 1/2 alpha' diag(curv) alpha.

Its gradient is that of a machine with weights theta(s). Along a move every s_m is a parabola, so
that the best length costs no product. A move costs the products of all single kernels, which is
what their sum costs where an engine `separates`. There are no weight steps: all moves of one
machine do for the machine and its weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...common.roots import root
from ...engines.base import Engine, kernel_blocks, mat_vec
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .conjugate_gradients import ModelledDescent
from .descent import descended


class BestWeightsDescent(ModelledDescent):
    """An alpha that descends, and the best weights for it."""

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        every = np.ones(self.engine.n_kernels)
        way = mat_vec(self.engine).matvec(move, every, each=True)
        self.remember(move, way, every)
        return way, self.weights @ way + self.problem.term.curv * move

    def follow(self, alpha: np.ndarray, length: float, way: np.ndarray) -> None:
        self.engine.move_to(alpha, kernel_blocks(self.engine).outputs() + length * way)

    def best_length(
        self, slope: np.ndarray, move: np.ndarray, way: np.ndarray, bent: np.ndarray
    ) -> float:
        norm, s = self.problem.norm, self.engine.quadratic()
        halves, squares = kernel_blocks(self.engine).outputs() @ move, way @ move
        curvature = float(move @ (self.problem.term.curv * move))
        rest = float(slope @ move) - float(self.weights @ halves)

        def rate(t: float) -> tuple[float, float]:
            theta = norm.best(s + t * (2.0 * halves + t * squares)) if t > 0 else self.weights
            value = rest + t * curvature + theta @ (halves + t * squares)
            return float(value) + self.kinks(move, t), float(curvature + theta @ squares)

        return root(rate, 0.0, 1.0) if rate(0.0)[0] < 0 else 0.0

    def go(self, length: float, move: np.ndarray, way: np.ndarray, bent: np.ndarray) -> bool:
        before = self.slope()
        moved = super().go(length, move, way, bent)
        self.weights = self.problem.norm.best(self.engine.quadratic())
        self.last = length * move, self.slope() - before
        return moved


@dataclass(frozen=True)
class JointDescent:
    """Conjugate gradients in alpha with the best weights for every alpha, as part of a plan.

    Parameters
    ----------
    then : Solver
        Takes over if progress is slow.
    above : int
        Problems of at most so many examples are left to `then`.
    record : bool
        Whether products are recorded, since most of their time does not depend on n.
    """

    then: Solver
    above: int = field(repr=False)
    record: bool = False

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        if engine.n <= self.above:
            return self.then.solve(problem, engine, weights, run)
        best = problem.norm.best(engine.quadratic())
        descent = BestWeightsDescent(problem, engine, best, record=self.record)
        result = descended(descent, run)
        return result or self.then.solve(problem, engine, descent.weights, run.continued())
