"""Newton's method with conjugate gradients: all alphas at once, where dual terms have entropies.

Such losses are smooth: with given weights the primal problem has a gradient and a Hessian. Its w is
the sum of beta_i psi(x_i), v = K beta are its outputs, and the best bias for them is always taken.
Then alpha_i = -C_i V'(v_i + b, y_i) is a feasible alpha, the gradient in w is that of beta - alpha,
and the step delta that Newton's method asks for obeys

    (I + D K) delta = alpha - beta,    D = diag(d) - d d' / sum d,    d_i = C_i V''(v_i + b, y_i).

Conjugate gradients in the inner product of K solve this, with one product with K for each move. Of
the residual r that they leave, 1/2 r' K r is how far the primal value of beta is above the dual
value of alpha after a full step, and 1/2 (K r)' D (K r) how far that of alpha is, which is the
model: so they know when they are good enough. This is the method of Lin, Weng and Keerthi (2008)
with a kernel, and with a duality gap for its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine, mat_vec
from ...problem.problem import Problem
from ...problem.risk import Response
from ..certifier import certified
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


def newton_step(
    point: Point,
    engine: Engine,
    weights: np.ndarray,
    product: np.ndarray,
    enough: float,
    late: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the step of beta and that of its outputs, both of shape (n,).

    Parameters
    ----------
    product : K (alpha - beta), shape (n,).
    enough : how far apart the values of alpha may be after the step.
    late : says when to make do with what has been found.
    """
    rest, of_rest = point.alpha - point.beta, product
    move, of_move = rest, of_rest
    delta, of_delta = np.zeros_like(rest), np.zeros_like(rest)
    energy = float(rest @ of_rest)
    for _ in range(MOST_MOVES):
        bent = point.response.hessian(of_move)
        length = energy / max(float(move @ of_move + of_move @ bent), TINY)
        delta, of_delta = delta + length * move, of_delta + length * of_move
        rest = rest - length * (move + bent)
        of_rest = mat_vec(engine).matvec(rest, weights)
        before, energy = energy, float(rest @ of_rest)
        apart = 0.5 * (energy + float(of_rest @ point.response.hessian(of_rest)))
        if apart <= enough or not energy > 0 or late():
            break
        move = rest + (energy / before) * move
        of_move = of_rest + (energy / before) * of_move
    return delta, of_delta


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method with conjugate gradients, as part of a plan.

    Parameters
    ----------
    then : Solver
        Takes over if no step of Newton's method brings progress.
    above : int
        Problems of at most so many examples are left to `then`.
    """

    then: Solver
    above: int = field(repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        result = newton_cg(problem, engine, weights, run) if engine.n > self.above else None
        return result or self.then.solve(problem, engine, weights, run)


def newton_cg(problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result | None:
    """Solve a problem with fixed weights, shape (M,); return None if it does not converge.

    Alpha has been improved in any case.
    """
    nothing = np.zeros(engine.n)
    starts = (engine.alpha.copy(), engine.combined(weights).copy()), (nothing, nothing)
    point = min((Point.of(problem, *start) for start in starts), key=lambda start: start.value)
    for turns in range(MOST_STEPS):
        product = mat_vec(engine).matvec(point.alpha - point.beta, weights)
        engine.move_to(point.alpha, point.v + product, weights)
        run.notify(engine.alpha, weights)
        certificate = certified(problem, engine, weights)
        run.record(certificate, weights, min(turns, 1), engine.alpha)
        if run.budget.spent or run.converged:
            return run.result(certificate, engine.alpha, weights)
        wanted = END * run.tol * certificate.scale
        apart = certificate.primal - certificate.dual
        enough = max(wanted, FALL * apart)
        delta, of_delta = newton_step(
            point, engine, weights, product, enough, lambda: run.budget.out_of_time
        )
        slope = float((point.beta - point.alpha) @ of_delta)
        length, found = 1.0, Point.of(problem, point.beta + delta, point.v + of_delta)
        while not found.value <= point.value + ARMIJO * length * slope:
            length *= 0.5
            if length < SHORTEST:
                return None
            found = Point.of(problem, point.beta + length * delta, point.v + length * of_delta)
        point = found
    return None
