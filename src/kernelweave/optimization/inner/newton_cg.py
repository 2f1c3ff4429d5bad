"""Newton's method with conjugate gradients on the primal, for smooth risks.

With fixed weights the primal problem 1/2 ||w||^2 + R(v) with a smooth risk R has a gradient and a
Hessian. Let psi be the feature map of the combined kernel. Write w = sum_i beta_i psi(x_i), so that
v = K beta are its outputs. The dual point alpha = -grad R(v) is feasible, the gradient in w is
sum_i (beta_i - alpha_i) psi(x_i), and the Newton step delta of beta satisfies

    (I + D K) delta = alpha - beta,    D the Hessian of R at v (with the best bias).

Conjugate gradients in the inner product of K solve this, with one product with K per iteration.
Let r be their residual. After a full step, in the quadratic model, the primal value of beta exceeds
the dual value of alpha by 1/2 r' K r, and the primal value of alpha exceeds its dual value by
1/2 (K r)' D (K r). Conjugate gradients stop when the sum of both differences is small enough. The
method is that of Lin, Weng and Keerthi (2008), with a kernel and a duality gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine
from ...losses.risk import Response
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from .products import Product, kernel_product

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class NewtonCGTuning:
    """Constants of Newton's method with conjugate gradients.

    Attributes
    ----------
    cg_moves : maximum number of conjugate gradient iterations per Newton step.
    newton_steps : maximum number of Newton steps.
    gap_factor : conjugate gradients stop when the model predicts a gap below this fraction of the
        present one; the quadratic model is not more accurate.
    end : conjugate gradients also stop at a predicted gap below this fraction of the tolerance.
    armijo : fraction of the decrease predicted by the slope that a step must achieve.
    shortest_step : step length at which the line search gives up.
    """

    cg_moves: int = 200
    newton_steps: int = 50
    gap_factor: float = 0.01
    end: float = 0.3
    armijo: float = 1e-4
    shortest_step: float = 1e-6


TUNING = NewtonCGTuning()


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients beta, decision values v = K beta, and the risk at v with its derivatives.

    Attributes
    ----------
    beta, v : ndarrays of shape (n,)
        Coefficients, and decision values without the bias.
    response : Response
        The risk at v, its gradient and its Hessian.
    """

    beta: np.ndarray
    v: np.ndarray
    response: Response

    @classmethod
    def of(cls, problem: Problem, beta: np.ndarray, v: np.ndarray) -> Point:
        """Return the point of coefficients beta and v = K beta, both of shape (n,)."""
        return cls(beta, v, problem.risk.response(v))

    @property
    def value(self) -> float:
        """Primal value."""
        return 0.5 * float(self.beta @ self.v) + self.response.value

    @property
    def alpha(self) -> np.ndarray:
        """The dual point -grad R(v), shape (n,)."""
        return self.response.alpha


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method with conjugate gradients; a component of a `Plan`.

    It stops early if no step length decreases the primal value.

    Parameters
    ----------
    products : {"engine", "matrix"}
        How products with the kernel matrix are computed: by the engine, or with the matrix in
        memory.
    tuning : NewtonCGTuning
        Accuracy of Newton steps, and their maximum number.
    """

    products: str = "engine"
    tuning: NewtonCGTuning = field(default=TUNING, repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        method = _NewtonCG(problem, engine, weights, run, self)
        return run.result(method.run_steps(), engine.alpha, weights)


class _NewtonCG:
    """Newton's method on one problem with fixed weights."""

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        weights: np.ndarray,
        run: Run,
        plan: NewtonCG,
    ):
        self.problem, self.engine, self.weights, self.run = problem, engine, weights, run
        self.product, self.tuning = kernel_product(plan.products, engine, weights), plan.tuning

    def run_steps(self) -> Certificate:
        """Take Newton steps until the run is finished or no step decreases the primal value.

        The engine ends at the last alpha, whose certificate is returned.
        """
        point, iterations = better_start(self.problem, self.engine, self.weights), 0
        while True:
            product = self.product(point.alpha - point.beta)
            F = point.v + product
            certificate = certified_at(self.problem, point.alpha, F, self.weights, point.v)
            self.run.record(certificate, self.weights, min(iterations, 1), point.alpha)
            finished = self.run.finished(self.engine)
            found = None
            if not finished and iterations < self.tuning.newton_steps:
                found = self._step(point, product, certificate)
            if found is None:
                self.engine.move_to(point.alpha, F, self.weights, point.v)
                self.run.notify(self.engine.alpha, self.weights)
                return certificate
            point, iterations = found, iterations + 1

    def _step(self, point: Point, product: np.ndarray, certificate: Certificate) -> Point | None:
        """Return the point after a Newton step; None if no step length decreases the value."""
        wanted = self.tuning.end * self.run.tol * certificate.scale
        present = difference(certificate, 0.5 * float((point.alpha - point.beta) @ product))
        enough, budget = max(wanted, self.tuning.gap_factor * present), self.run.budget
        stop = CGStop(enough, self.tuning.cg_moves, lambda: budget.out_of_time)
        return searched(
            self.problem, point, *newton_step(point, product, self.product, stop), self.tuning
        )


def better_start(problem: Problem, engine: Engine, weights: np.ndarray) -> Point:
    """Return the better of an engine's model with weights, shape (M,), and the constant model."""
    zero = np.zeros(engine.n)
    present = engine.alpha.copy(), engine.combined(weights).copy()
    points = [Point.of(problem, *start) for start in (present, (zero, zero))]
    return min(points, key=lambda point: point.value)


def certified_at(
    problem: Problem,
    alpha: np.ndarray,
    F: np.ndarray,
    weights: np.ndarray,
    origin: np.ndarray | None,
) -> Certificate:
    """Return the certificate of alpha with fixed weights.

    Parameters
    ----------
    alpha, F : ndarrays of shape (n,)
        Feasible dual variables and their outputs.
    weights : ndarray of shape (M,)
    origin : ndarray of shape (n,) or None
        Decision values at which the gradient of the risk is -alpha, if known.
    """
    total = float(alpha @ F)  # theta . s
    s = np.full(len(weights), total / max(float(weights.sum()), TINY))
    return problem.certificate(alpha, F, s, weights, origin)


def difference(certificate: Certificate, predicted: float) -> float:
    """Return primal minus dual value, or a predicted difference if the dual value is -inf.

    The dual value is -inf if rounding moves alpha to the boundary of its domain.
    """
    found = certificate.primal - certificate.dual
    return found if np.isfinite(found) else predicted


@dataclass(frozen=True)
class CGStop:
    """Stopping rule of conjugate gradients: they stop if one of three conditions holds.

    Attributes
    ----------
    enough : float
        Predicted difference of primal and dual value at which they stop.
    moves : int
        Maximum number of iterations.
    late : callable
        Returns whether the time limit is reached.
    """

    enough: float
    moves: int
    late: Callable[[], bool] = lambda: False


def newton_step(
    point: Point, K_residual: np.ndarray, product: Product, stop: CGStop
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Newton step of the coefficients beta, and its product with K, of shape (n,).

    Parameters
    ----------
    point : Point
        Start of the step.
    K_residual : ndarray of shape (n,)
        K (alpha - beta), with the kernel matrix K.
    product : callable
        Multiplies with K.
    stop : CGStop
        Accuracy of the step, and limits of its computation.
    """
    hessian = point.response.hessian
    step = np.zeros_like(point.beta), np.zeros_like(point.beta)
    for found in newton_iterates(
        hessian, product, point.alpha - point.beta, K_residual, stop.moves
    ):
        step = found.x, found.K_x
        curved = float(found.K_residual @ hessian(found.K_residual))
        if 0.5 * (float(found.squared) + curved) <= stop.enough or stop.late():
            break
    return step


@dataclass(frozen=True, eq=False)
class NewtonIterate:
    """An approximate solution x of (I + D K) x = right, for one or k right-hand sides.

    K is the kernel matrix, D the Hessian of the risk.

    Attributes
    ----------
    x, residual : ndarrays of shape (n,) or (n, k)
        Solution, and right - (I + D K) x.
    K_x, K_residual : ndarrays of shape (n,) or (n, k)
        Their products with K.
    squared : ndarray of shape () or (k,)
        residual' K residual.
    """

    x: np.ndarray
    K_x: np.ndarray
    residual: np.ndarray
    K_residual: np.ndarray
    squared: np.ndarray


def newton_iterates(
    hessian: Product, product: Product, right: np.ndarray, K_right: np.ndarray, moves: int
) -> Iterator[NewtonIterate]:
    """Yield the iterates of conjugate gradients for (I + D K) x = right, from x = 0.

    They use the inner product of K, and end once all residuals are 0.

    Parameters
    ----------
    hessian, product : callables
        Multiply with D and with K.
    right, K_right : ndarrays of shape (n,) or (n, k)
        Right-hand sides, and their products with K.
    moves : int
        Maximum number of iterates.
    """
    x, K_x = np.zeros_like(right), np.zeros_like(right)
    residual, K_residual = right, K_right
    move, K_move, squared = residual, K_residual, _dots(residual, K_residual)
    for _ in range(moves):
        hessian_move = hessian(K_move)
        curvature = _dots(move, K_move) + _dots(K_move, hessian_move)
        length = squared / np.maximum(curvature, TINY)
        x, K_x = x + length * move, K_x + length * K_move
        residual = residual - length * (move + hessian_move)
        K_residual = product(residual)
        before, squared = squared, np.maximum(_dots(residual, K_residual), 0.0)
        yield NewtonIterate(x, K_x, residual, K_residual, squared)
        if not squared.any():
            return
        factor = squared / np.maximum(before, TINY)
        move, K_move = residual + factor * move, K_residual + factor * K_move


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the dot products of the columns of two arrays, of shape (n,) or (n, k)."""
    return np.asarray(np.einsum("i...,i...->...", a, b))


def searched(
    problem: Problem,
    point: Point,
    delta: np.ndarray,
    K_delta: np.ndarray,
    tuning: NewtonCGTuning = TUNING,
) -> Point | None:
    """Return the point after a backtracking line search; None if no length decreases the value.

    `delta` is the search direction of the coefficients beta, and `K_delta` that of the decision
    values K beta; both have shape (n,).
    """
    slope = float((point.beta - point.alpha) @ K_delta)
    length = 1.0
    while length >= tuning.shortest_step:
        found = Point.of(problem, point.beta + length * delta, point.v + length * K_delta)
        if found.value <= point.value + tuning.armijo * length * slope:
            return found
        length *= 0.5
    return None
