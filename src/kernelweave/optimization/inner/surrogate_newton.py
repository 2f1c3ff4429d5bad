"""Newton's method for smooth risks of many examples, with few products with the kernel matrix.

A product with the kernel matrix K of many examples takes longer than anything else. So the Newton
equations (`newton_cg`) are solved for a Nystroem approximation of K, whose products are cheap. The
solution is a good direction but not the Newton step: the primal problem is minimised over the span
of this direction and the previous ones, whose products with K are known. So a step needs one
product. One more product certifies the model, once the approximation of K predicts that the gap is
small enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lstsq

from ...engines.base import Engine
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from .newton_cg import CGStop, Point, better_start, certified_at, newton_step, searched
from .products import Product, kernel_product


@dataclass(frozen=True)
class SurrogateNewtonTuning:
    """Constants of Newton's method with an approximate kernel matrix.

    Attributes
    ----------
    steps : maximum number of directions.
    moves : maximum number of conjugate gradient moves for a direction.
    directions : number of last directions whose span is searched in each step.
    space_steps : maximum number of Newton steps in this span.
    gap_factor : fraction of the present gap to which the approximate equations are solved.
    start_steps : maximum number of Newton steps from the constant model with the approximate matrix
        alone.
    certify : a model is certified once its predicted gap is below this multiple of the tolerance.
    """

    steps: int = 200
    moves: int = 50
    directions: int = 12
    space_steps: int = 4
    gap_factor: float = 0.03
    start_steps: int = 8
    certify: float = 3.0


@dataclass(frozen=True)
class SurrogateNewton:
    """Newton's method with directions from a Nyström approximation; a component of a `Plan`."""

    tuning: SurrogateNewtonTuning = field(default=SurrogateNewtonTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        method = _SurrogateNewton(problem, engine, weights, run, self.tuning)
        return run.result(method.run_steps(), engine.alpha, weights)


class _SurrogateNewton:
    """Newton's method on one problem with fixed weights."""

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        weights: np.ndarray,
        run: Run,
        tuning: SurrogateNewtonTuning,
    ):
        self.problem, self.engine, self.weights, self.run = problem, engine, weights, run
        self.tuning, self.space = tuning, Space(tuning)
        self._surrogate: Product | None = None

    def run_steps(self) -> Certificate:
        """Take steps until the run is finished or no step decreases the primal value.

        The engine ends at the last alpha, whose certificate is returned.
        """
        alpha, F = self.engine.alpha.copy(), self.engine.combined(self.weights).copy()
        origin = self.engine.origin
        certificate, steps = self._recorded(alpha, F, origin, 0), 0
        point = self._start()
        for _ in range(self.tuning.steps):
            if self.run.finished(self.engine):
                break
            found = self._step(point)
            if found is not None:
                point, steps = found, steps + 1
                if self._too_early(point, certificate, steps):
                    continue
            if steps:
                residual = point.alpha - point.beta
                product = self.product(residual)
                alpha, F, origin = point.alpha, point.v + product, point.v
                certificate, steps = self._recorded(alpha, F, origin, steps), 0
                self.space.add(residual, product)
            if found is None:
                break
        self.engine.move_to(alpha, F, self.weights, origin)
        self.run.notify(self.engine.alpha, self.weights)
        return certificate

    def _too_early(self, point: Point, last: Certificate, steps: int) -> bool:
        """Return whether not to certify yet: the predicted gap is far above the tolerance."""
        budget = self.run.budget
        if budget.out_of_time or steps == budget.iterations_left:
            return False
        return self._predicted(point) > self.tuning.certify * self.run.tol * last.scale

    def _predicted(self, point: Point) -> float:
        """Return the difference of primal and dual value that the approximate matrix predicts."""
        residual = point.alpha - point.beta
        product = self.surrogate(residual)
        curved = product @ point.response.hessian(product)
        return 0.5 * float(residual @ product + curved)

    def _recorded(
        self, alpha: np.ndarray, F: np.ndarray, origin: np.ndarray | None, iterations: int
    ) -> Certificate:
        """Record and return the certificate of alpha; see `certified_at`."""
        certificate = certified_at(self.problem, alpha, F, self.weights, origin)
        self.run.record(certificate, self.weights, iterations, alpha)
        return certificate

    def product(self, v: np.ndarray) -> np.ndarray:
        """Return the product of the kernel matrix with a vector, shape (n,)."""
        self.engine.move_to(v)
        return self.engine.combined(self.weights).copy()

    @property
    def surrogate(self) -> Product:
        """Product with the approximate kernel matrix, which is computed when first needed."""
        if self._surrogate is None:
            self._surrogate = kernel_product("sample", self.engine, self.weights)
        return self._surrogate

    def _start(self) -> Point:
        """Return the present model, or the optimum of the approximate problem if that is better."""
        point = better_start(self.problem, self.engine, self.weights)
        if point.beta.any():
            return point
        beta = minimum(self.problem, point, self.surrogate, self.tuning).beta
        found = Point.of(self.problem, beta, self.product(beta))
        return found if found.value < point.value else point

    def _step(self, point: Point) -> Point | None:
        """Add a direction; return a better point in the span of all, or None if there is none."""
        product = self.surrogate(point.alpha - point.beta)
        enough = self.tuning.gap_factor * self._predicted(point)
        stop = CGStop(enough, self.tuning.moves)
        direction, _ = newton_step(point, product, self.surrogate, stop)
        self.space.add(direction, self.product(direction))
        return self.space.minimum(self.problem, point)


class Space:
    """The span of the last directions, with their products with the kernel matrix."""

    def __init__(self, tuning: SurrogateNewtonTuning):
        self.tuning = tuning
        self._directions: list[np.ndarray] = []  # shape (n,) each
        self._products: list[np.ndarray] = []

    def add(self, direction: np.ndarray, product: np.ndarray) -> None:
        """Add a direction and its product with the kernel matrix, both of shape (n,)."""
        size = float(np.sqrt(max(direction @ product, 0.0)))
        if not size > 0:
            return
        self._directions.append(direction / size)
        self._products.append(product / size)
        del self._directions[: -self.tuning.directions], self._products[: -self.tuning.directions]

    def minimum(self, problem: Problem, point: Point) -> Point | None:
        """Return the point after a few Newton steps in the span; None if no step improves it."""
        if not self._directions:
            return None
        S, KS = np.array(self._directions), np.array(self._products)
        own, found = S @ KS.T, None
        for _ in range(self.tuning.space_steps):
            curvature = own + KS @ np.array([point.response.hessian(one) for one in KS]).T
            # Directions may be linearly dependent: take the solution of minimum norm.
            c = lstsq(0.5 * (curvature + curvature.T), KS @ (point.alpha - point.beta))[0]
            better = searched(problem, point, c @ S, c @ KS)
            if better is None:
                break
            gain, point = point.value - better.value, better
            found = point
            if gain <= self.tuning.gap_factor * 0.5 * float(c @ curvature @ c):
                break
        return found


def minimum(
    problem: Problem, point: Point, product: Product, tuning: SurrogateNewtonTuning
) -> Point:
    """Return an approximate minimum of the primal problem, by Newton steps from a point.

    `product` multiplies with the kernel matrix.
    """
    for _ in range(tuning.start_steps):
        residual = point.alpha - point.beta
        K_residual = product(residual)
        enough = tuning.gap_factor * 0.5 * float(residual @ K_residual)
        step = newton_step(point, K_residual, product, CGStop(enough, tuning.moves))
        found = searched(problem, point, *step)
        if found is None or point.value - found.value <= tuning.gap_factor**2 * abs(found.value):
            return point if found is None else found
        point = found
    return point
