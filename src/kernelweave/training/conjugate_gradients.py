"""Conjugate gradients on a model of the kernel matrix, made of the products that it took so far.

A conjugate gradient (`descent`) knows the last product only, and bounds that alphas reach or leave
spoil what that says of the next move. All products that have been seen (`engines.seen_products`)
make a model of the matrix. For the problem of the model, bounds and all, conjugate gradients cost
next to nothing, and a move leads to where they come. This is a quasi-Newton method with
projections (Schmidt, van den Berg, Friedlander and Murphy, 2009) that agrees with all products.

Without bounds these would be the moves of conjugate gradients.
"""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..engines.modelled import ModelledEngine
from ..problem import Problem
from .descent import Descent, descended
from .history import History, Result

MODEL_MOVES = 10  # on the model: more of them bring the move to its optimum, not to that of K
NEAR = 0.1  # by how much the best length may differ from 1 and be taken for it
POOR = 0.05  # a best length below which the model is not of this matrix


class ModelledDescent(Descent):
    """An alpha that descends to where a model of its problem is least."""

    def direction(self, slope: np.ndarray) -> np.ndarray:
        seen, term, alpha = self.engine.seen, self.problem.term, self.engine.alpha
        if not seen.knows(self.weights):
            return super().direction(slope)
        matrix = seen.matrix(self.weights)
        outputs = slope - term.lin - term.curv * alpha
        step = 1.0 / (matrix.sigma + float(term.curv.mean()))
        model = Descent(self.problem, ModelledEngine(matrix, alpha, outputs), np.ones(1), step=step)
        for _ in range(MODEL_MOVES):
            if not model.descend():
                break
        move = self.towards(model.engine.alpha - alpha)
        falls = slope @ move + self.kinks(move) < 0
        return move if falls else super().direction(slope)

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        way, bent = super().products(move)
        self.engine.seen.add(move, way, self.weights)
        return way, bent

    def judged(self, best: float) -> float:
        if best < POOR:
            self.engine.seen.forget()
        return 1.0 if abs(best - 1) <= NEAR else best


def conjugate_gradients(
    problem: Problem, engine: Engine, weights: np.ndarray, history: History
) -> Result | None:
    """Solve a problem with given weights, shape (M,); None where that would be slow.

    Then alpha has been improved.
    """
    kind = Descent if problem.term.is_free else ModelledDescent
    return descended(kind(problem, engine, weights), history)
