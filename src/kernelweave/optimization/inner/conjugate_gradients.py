"""Conjugate gradients in all alphas, with a quasi-Newton model from recorded products.

Plain conjugate gradients (`descent`) use the last product only, and lose that information when
alphas reach or leave their bounds. All recorded products (`engines.recorded_products`) define a
model of the kernel matrix. Conjugate gradients solve the problem of the model, with its bounds, at
negligible cost, and the next move leads to that solution. This is a projected quasi-Newton method
(Schmidt, van den Berg, Friedlander and Murphy, 2009) that agrees with all recorded products.

Products are recorded if most of their time does not depend on the number of examples. Otherwise,
and after many moves, plain conjugate gradients are used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine
from ...engines.quadratic_model import QuadraticModelEngine
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .descent import SHORT_MOVES, Descent, descended

MODEL_MOVES = 10  # on the model: more of them bring the move to its optimum, not to that of K
FIRST_MOVES = 30  # on a model that knows nothing but other kernels
NEAR = 0.1  # by how much the best length may differ from 1 and be taken for it
MANY_MOVES = 100  # of one descent, after which products are too many for a model
POOR = 0.05  # a best length below which the model is not of this matrix


@dataclass(eq=False)
class ModelledDescent(Descent):
    """An alpha that descends to where a model of its problem is least.

    Attributes
    ----------
    moves : the number of products so far.
    """

    record: bool = False
    moves: int = 0

    @property
    def models(self) -> bool:
        """Whether a model is worth while."""
        bounded = not self.problem.term.is_free
        return self.record and bounded and self.moves <= MANY_MOVES

    def direction(self, slope: np.ndarray) -> np.ndarray:
        seen, term, alpha = self.engine.recorded, self.problem.term, self.engine.alpha
        matrix = seen.model(self.weights) if self.models else None
        if matrix is None:
            return super().direction(slope)
        outputs = slope - term.lin - term.curv * alpha
        own = matrix.sigma + float(term.curv.mean())
        model = Descent(
            self.problem,
            QuadraticModelEngine(matrix, alpha, outputs),
            np.ones(1),
            step=1.0 / own if own > 0 else 1.0,
        )
        for _ in range(MODEL_MOVES if len(seen) else FIRST_MOVES):
            if not model.descend():
                break
        model.settle()  # on the bounds, and not near them
        move = self.towards(model.engine.alpha - alpha)
        falls = slope @ move + self.kinks(move) < 0
        return move if falls else super().direction(slope)

    def settle(self) -> bool:
        """Make a move without a cut, to where the model is least, if the value falls there."""
        if self.short >= SHORT_MOVES or not (self.models and self.engine.recorded.predicts):
            return super().settle()
        slope = self.slope()
        move = self.direction(slope)
        way, bent = self.products(move)
        best = self.best_length(slope, move, way, bent)
        return best > 0 and self.go(1.0 if best >= 0.5 else best, move, way, bent)

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        way, bent = super().products(move)
        self.remember(move, way, self.weights)
        return way, bent

    def remember(self, move: np.ndarray, way: np.ndarray, weights: np.ndarray) -> None:
        """Keep a move, shape (n,), and its products with kernels under weights, shape (M,)."""
        self.moves += 1
        if self.models:
            self.engine.recorded.add(move, way, weights)

    def judged(self, best: float) -> float:
        if not self.models:
            return best
        if best < POOR:
            self.engine.recorded.forget()
        return 1.0 if abs(best - 1) <= NEAR else best

    def go(self, length: float, move: np.ndarray, way: np.ndarray, bent: np.ndarray) -> bool:
        moved = super().go(length, move, way, bent)
        self.whole = self.models and length == 1
        return moved


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients in all alphas, as part of a plan.

    Parameters
    ----------
    then : Solver
        Takes over if the kernel matrix is too ill-conditioned for conjugate gradients.
    above : int
        Problems of at most so many examples are left to `then`.
    separate : bool
        Whether products of single kernels, which cost no more, replace that of their sum.
    record : bool
        Whether products are recorded, since most of their time does not depend on n.
    """

    then: Solver
    above: int = field(repr=False)
    separate: bool = False
    record: bool = False

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        result = None
        if engine.n > self.above:
            descent = ModelledDescent(problem, engine, weights, self.separate, record=self.record)
            result = descended(descent, run)
        return result or self.then.solve(problem, engine, weights, run.continued())
