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

from ...engines.base import Engine, recorded_products
from ...engines.quadratic_model import QuadraticModelEngine
from ...engines.recorded_products import RecordedProducts
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from .descent import Descent, DescentTuning, descended


@dataclass(frozen=True)
class ConjugateGradientTuning(DescentTuning):
    """Constants of conjugate gradients with a quadratic model, besides those of `DescentTuning`.

    Attributes
    ----------
    model_moves : conjugate gradient moves on the model per product with K. More moves would
        approach the optimum of the model, which differs from that of K.
    first_model_moves : the same before any product with K is recorded; the model is then built from
        products recorded for other kernels or weights only.
    unit_length : lengths that differ from 1 by at most this are set to 1, so that alphas which are
        bounded at the minimum of the model reach their bounds exactly.
    most_products : number of products of one descent after which no model is used: its cost grows
        with the number of recorded products.
    poor_length : if the line search finds a smaller length, the recorded products are discarded
        because they do not describe this kernel matrix.
    """

    model_moves: int = 10
    first_model_moves: int = 30
    unit_length: float = 0.1
    most_products: int = 100
    poor_length: float = 0.05


@dataclass(eq=False)
class QuasiNewtonDescent(Descent):
    """Descent whose moves lead to the minimum of a quadratic model of the dual problem.

    Attributes
    ----------
    record : bool
        Whether products are recorded.
    n_products : int
        Number of products so far.
    tuning : ConjugateGradientTuning
    """

    tuning: ConjugateGradientTuning = ConjugateGradientTuning()
    record: bool = False
    n_products: int = 0

    @property
    def uses_model(self) -> bool:
        """Whether moves are computed with a model: alpha has bounds and products are few."""
        bounded = not self.problem.term.is_free
        return self.record and bounded and self.n_products <= self.tuning.most_products

    @property
    def recorded(self) -> RecordedProducts:
        return recorded_products(self.engine)

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        term, alpha = self.problem.term, self.engine.alpha
        matrix = self.recorded.model(self.weights) if self.uses_model else None
        if matrix is None:
            return super().direction(gradient)
        outputs = gradient - term.lin - term.curv * alpha
        curvature = matrix.sigma + float(term.curv.mean())
        model = Descent(
            self.problem,
            QuadraticModelEngine(matrix, alpha, outputs),
            np.ones(1),
            step=1.0 / curvature if curvature > 0 else 1.0,
        )
        tuning = self.tuning
        for _ in range(tuning.model_moves if len(self.recorded) else tuning.first_model_moves):
            if not model.descend():
                break
        model.unclipped_step()  # moves bounded alphas exactly to their bounds
        move = self.projected(model.engine.alpha - alpha)
        descends = gradient @ move + self.kink_slope(move) < 0
        return move if descends else super().direction(gradient)

    def unclipped_step(self) -> bool:
        """Move to the minimum of the model, without truncation at bounds if the line search allows.

        Returns whether alpha has changed.
        """
        predicts = self.uses_model and self.recorded.predicts
        if self.at_kinks or not predicts:
            return super().unclipped_step()
        gradient = self.gradient()
        move = self.direction(gradient)
        products, hessian_product = self.products(move)
        best = self.best_length(gradient, move, products, hessian_product)
        length = 1.0 if best >= 0.5 else best
        return best > 0 and self.take(length, move, products, hessian_product)

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        products, hessian_product = super().products(move)
        self.record_products(move, products, self.weights)
        return products, hessian_product

    def record_products(self, move: np.ndarray, products: np.ndarray, weights: np.ndarray) -> None:
        """Record the products of a move, shape (n,), with kernels of weights of shape (M,)."""
        self.n_products += 1
        if self.uses_model:
            self.recorded.add(move, products, weights)

    def rounded_length(self, best: float) -> float:
        if not self.uses_model:
            return best
        if best < self.tuning.poor_length:
            self.recorded.forget()
        return 1.0 if abs(best - 1) <= self.tuning.unit_length else best

    def take(
        self,
        length: float,
        move: np.ndarray,
        products: np.ndarray,
        hessian_product: np.ndarray,
    ) -> bool:
        moved = super().take(length, move, products, hessian_product)
        self.exact_bounds = self.uses_model and length == 1
        return moved


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients in all alphas; a component of a `Plan`.

    They stop early if the kernel matrix is too ill-conditioned.

    Parameters
    ----------
    separate : bool
        Whether products are computed for each kernel instead of for their sum. Set it if this costs
        no more.
    record : bool
        Whether products are recorded for a model of the kernel matrix.
    tuning : ConjugateGradientTuning
        Limits of slow progress, and constants of the model.
    """

    separate: bool = False
    record: bool = False
    tuning: ConjugateGradientTuning = field(default=ConjugateGradientTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        descent = QuasiNewtonDescent(
            problem, engine, weights, self.separate, tuning=self.tuning, record=self.record
        )
        return descended(descent, run)
