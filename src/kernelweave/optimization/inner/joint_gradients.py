"""Conjugate gradients in alpha, with the best kernel weights for every alpha.

If the ball of the norm is strictly convex, the best weights theta(s) for an alpha are a smooth
function of the squared block norms s_m = alpha' K_m alpha. So is the dual problem in alpha alone,

    minimise  1/2 ||s(alpha)||_dual + lin' alpha + eps' |alpha| + 1/2 alpha' diag(curv) alpha.

Its gradient is that of an SVM with fixed weights theta(s). Along a move every s_m is a parabola, so
the line search needs no product. A move needs the product with each kernel, which some engines
compute at the cost of the product with their sum. There are no weight steps: alpha and the weights
together take about as many moves as alpha alone in a single SVM.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...common.roots import root
from ...engines.base import Engine, kernel_blocks, mat_vec
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from .conjugate_gradients import ConjugateGradientTuning, QuasiNewtonDescent
from .descent import descended


class BestWeightsDescent(QuasiNewtonDescent):
    """Conjugate gradients in alpha; after every move the weights are the best ones for alpha."""

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ones = np.ones(self.engine.n_kernels)
        products = mat_vec(self.engine).matvec(move, ones, each=True)
        self.record_products(move, products, ones)
        return products, self.weights @ products + self.problem.term.curv * move

    def update_engine(self, alpha: np.ndarray, length: float, products: np.ndarray) -> None:
        self.engine.move_to(alpha, kernel_blocks(self.engine).outputs() + length * products)

    def best_length(
        self,
        gradient: np.ndarray,
        move: np.ndarray,
        products: np.ndarray,
        hessian_product: np.ndarray,
    ) -> float:
        # s_m(t) = s_m + 2 t mixed_m + t^2 squares_m
        norm, s = self.problem.norm, self.engine.quadratic()
        mixed, squares = kernel_blocks(self.engine).outputs() @ move, products @ move
        curvature = float(move @ (self.problem.term.curv * move))
        linear = float(gradient @ move) - float(self.weights @ mixed)

        def slope_and_curvature(t: float) -> tuple[float, float]:
            theta = norm.best(s + t * (2.0 * mixed + t * squares)) if t > 0 else self.weights
            slope = linear + t * curvature + theta @ (mixed + t * squares)
            return float(slope) + self.kink_slope(move, t), float(curvature + theta @ squares)

        return root(slope_and_curvature, 0.0, 1.0) if slope_and_curvature(0.0)[0] < 0 else 0.0

    def take(
        self,
        length: float,
        move: np.ndarray,
        products: np.ndarray,
        hessian_product: np.ndarray,
    ) -> bool:
        before = self.gradient()
        moved = super().take(length, move, products, hessian_product)
        self.weights = self.problem.norm.best(self.engine.quadratic())
        self.last = length * move, self.gradient() - before
        return moved


@dataclass(frozen=True)
class JointDescent:
    """Conjugate gradients in alpha with the best weights for every alpha; a component of a `Plan`.

    They stop early if progress is slow.

    Parameters
    ----------
    record : bool
        Whether products are recorded for a model of the kernel matrix.
    tuning : ConjugateGradientTuning
        Limits of slow progress, and constants of the model.
    """

    record: bool = False
    tuning: ConjugateGradientTuning = field(default=ConjugateGradientTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        best = problem.norm.best(engine.quadratic())
        descent = BestWeightsDescent(problem, engine, best, tuning=self.tuning, record=self.record)
        return descended(descent, run)
