"""Newton's method with conjugate gradients on the primal, for smooth risks.

With fixed weights the primal problem of a smooth loss has a gradient and a Hessian. Write w as the
sum of beta_i psi(x_i), so that v = K beta are its outputs. The dual point alpha = -grad R(v) is
feasible, the gradient in w is that of beta - alpha, and the Newton step delta satisfies

    (I + D K) delta = alpha - beta,    D the Hessian of R at v (with the best bias).

Conjugate gradients in the inner product of K solve this, with one product with K for each move. If
r is their residual, 1/2 r' K r is the distance of the primal value of beta from the dual value of
alpha after a full step, and 1/2 (K r)' D (K r) that of the model of alpha. So they know when to
stop. This is the method of Lin, Weng and Keerthi (2008) with a kernel and a duality gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine, mat_vec
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ...problem.risk import Response
from ..result import Result
from ..run import Run
from ..solver import Solver

MOST_MOVES = 200  # of conjugate gradients for a Newton step
MOST_STEPS = 50  # of Newton's method
FALL = 0.01  # part to which a step lets the gap fall as long as the quadratic model is good
END = 0.3  # part of the tolerance that is good enough
ARMIJO = 1e-4  # part of the decrease predicted by the slope that a step must bring
SHORTEST = 1e-6  # step
TINY = np.finfo(float).tiny

Product = Callable[[np.ndarray], np.ndarray]
"""Returns the product of the kernel matrix with a vector, shape (n,)."""


@dataclass(frozen=True, eq=False)
class Point:
    """A beta, its outputs v = K beta, and the response of the risk to them.

    Attributes
    ----------
    beta, v : ndarrays of shape (n,)
    response : Response
    """

    beta: np.ndarray
    v: np.ndarray
    response: Response

    @classmethod
    def of(cls, problem: Problem, beta: np.ndarray, v: np.ndarray) -> Point:
        """Return the point of a beta and its outputs, both of shape (n,)."""
        return cls(beta, v, problem.risk.response(v))

    @property
    def value(self) -> float:
        """Primal value."""
        return 0.5 * float(self.beta @ self.v) + self.response.value

    @property
    def alpha(self) -> np.ndarray:
        """Dual point of the outputs, shape (n,)."""
        return self.response.alpha


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method with conjugate gradients, as part of a plan.

    Parameters
    ----------
    then : Solver, optional
        Takes over if no step of Newton's method brings progress, if the risk allows working sets.
    above : int
        Problems of at most so many examples are left to `then`.
    products : {"engine", "matrix", "moves"}
        How products with the kernel matrix are computed: by the engine; with the matrix in memory;
        or as the combined outputs of an engine that is moved to the vector.
    """

    then: Solver | None
    above: int = field(repr=False)
    products: str = "engine"

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        if self.then is not None and engine.n <= self.above:
            return self.then.solve(problem, engine, weights, run)
        method = _NewtonCG(problem, engine, weights, run, self._product(engine, weights))
        certificate = method.run_steps()
        if self.then is not None and not (run.converged or run.budget.spent):
            return self.then.solve(problem, engine, weights, run.continued())
        return run.result(certificate, engine.alpha, weights)

    def _product(self, engine: Engine, weights: np.ndarray) -> Product:
        if self.products == "engine":
            return lambda v: mat_vec(engine).matvec(v, weights)
        if self.products == "matrix":
            matrix = engine.block(np.arange(engine.n), weights)
            return lambda v: np.asarray(matrix @ v)

        def moved(v: np.ndarray) -> np.ndarray:
            engine.move_to(v)
            return engine.combined(weights).copy()

        return moved


class _NewtonCG:
    """Newton's method on one problem with fixed weights."""

    def __init__(
        self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run, product: Product
    ):
        self.problem, self.engine, self.weights, self.run = problem, engine, weights, run
        self.product = product

    def run_steps(self) -> Certificate:
        """Take Newton steps until the run is finished or no step brings progress.

        The engine ends at the last dual point, whose certificate is returned.
        """
        point, iterations = self._start(), 0
        while True:
            product = self.product(point.alpha - point.beta)
            F = point.v + product
            certificate = self._certified(point.alpha, F)
            self.run.record(certificate, self.weights, min(iterations, 1), point.alpha)
            finished = self.run.finished(self.engine) if iterations else self.run.converged
            found = None
            if not finished and iterations < MOST_STEPS:
                found = self._step(point, product, certificate)
            if found is None:
                self.engine.move_to(point.alpha, F, self.weights)
                self.run.notify(self.engine.alpha, self.weights)
                return certificate
            point, iterations = found, iterations + 1

    def _start(self) -> Point:
        """Return the better of the present model and the constant model."""
        nothing = np.zeros(self.engine.n)
        present = self.engine.alpha.copy(), self.engine.combined(self.weights).copy()
        points = [Point.of(self.problem, *start) for start in (present, (nothing, nothing))]
        return min(points, key=lambda point: point.value)

    def _certified(self, alpha: np.ndarray, F: np.ndarray) -> Certificate:
        """Return the certificate of alpha with outputs F, both of shape (n,)."""
        total = float(alpha @ F)  # theta . s
        s = np.full(len(self.weights), total / max(float(self.weights.sum()), TINY))
        return self.problem.certificate(alpha, F, s, self.weights)

    def _step(self, point: Point, product: np.ndarray, certificate: Certificate) -> Point | None:
        """Return the point after a step with a line search; None if no length brings progress."""
        wanted = END * self.run.tol * certificate.scale
        enough = max(wanted, FALL * (certificate.primal - certificate.dual))
        delta, of_delta = self._direction(point, product, enough)
        slope = float((point.beta - point.alpha) @ of_delta)
        length = 1.0
        while length >= SHORTEST:
            found = Point.of(self.problem, point.beta + length * delta, point.v + length * of_delta)
            if found.value <= point.value + ARMIJO * length * slope:
                return found
            length *= 0.5
        return None

    def _direction(
        self, point: Point, product: np.ndarray, enough: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the Newton step of beta and that of its outputs, both of shape (n,).

        Parameters
        ----------
        product : ndarray of shape (n,)
            K (alpha - beta).
        enough : float
            Distance of the values of alpha after the step at which conjugate gradients stop.
        """
        hessian = point.response.hessian
        rest, of_rest = point.alpha - point.beta, product
        move, of_move = rest, of_rest
        delta, of_delta = np.zeros_like(rest), np.zeros_like(rest)
        energy = float(rest @ of_rest)
        for _ in range(MOST_MOVES):
            bent = hessian(of_move)
            length = energy / max(float(move @ of_move + of_move @ bent), TINY)
            delta, of_delta = delta + length * move, of_delta + length * of_move
            rest = rest - length * (move + bent)
            of_rest = self.product(rest)
            before, energy = energy, float(rest @ of_rest)
            distance = 0.5 * (energy + float(of_rest @ hessian(of_rest)))
            if distance <= enough or not energy > 0 or self.run.budget.out_of_time:
                break
            move = rest + (energy / before) * move
            of_move = of_rest + (energy / before) * of_move
        return delta, of_delta
