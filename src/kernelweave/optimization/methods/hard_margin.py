"""Hard margins by soft margins of growing cost, until no example is misclassified.

If the classes cannot be separated the dual value grows without bound. Along the ray of an alpha it
is largest at (sum_i |alpha_i|)^2 / (2 ||s||_dual), a lower bound of 1/2 ||w||^2 = 1/(2 margin^2).
If this bounds the margin below a small fraction of the norm of the examples, the classes are taken
to be inseparable.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...engines.base import Engine
from ...problem.certificate import Certificate
from ...problem.hard_margin import HardMarginProblem
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver


@dataclass(frozen=True)
class HardMarginTuning:
    """Constants of the sequence of soft margins.

    Attributes
    ----------
    first_cost : first cost of an error, times the largest kernel value.
    growth : ratio of successive costs.
    last_cost : largest cost, times the largest kernel value.
    inner_tol : fraction of the tolerance to which soft margins are solved.
    smallest_margin : margin, relative to the norm of the examples, below which the classes are
        taken to be inseparable.
    """

    first_cost: float = 1e3
    growth: float = 100.0
    last_cost: float = 1e16
    inner_tol: float = 0.5
    smallest_margin: float = 1e-6


@dataclass(frozen=True)
class HardMargin:
    """Solve a hard-margin problem by a sequence of soft margins.

    Parameters
    ----------
    soft : Solver
        Solves the soft-margin problems.
    tuning : HardMarginTuning
        Costs of the soft margins, and when to give up.
    """

    soft: Solver
    tuning: HardMarginTuning = field(default=HardMarginTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve the problem from the engine's alpha and weights, shape (M,).

        Raises
        ------
        ValueError
            If the classes cannot be separated.
        """
        assert isinstance(problem, HardMarginProblem)
        tuning = self.tuning
        size = problem.norm.dual(engine.largest_values)
        cost = max(tuning.first_cost / size, float(np.abs(engine.alpha).max()))
        while True:
            inner = run.inner(tuning.inner_tol * run.tol, run.budget.iterations_left)
            result = self.soft.solve(problem.soft(cost), engine, weights, inner)
            certificate, factor = _rescaled(problem, engine, result.weights)
            if certificate.finite:
                run.record(certificate, result.weights, result.n_iter, factor * engine.alpha)
            if certificate.gap <= run.tol or run.budget.spent:
                break
            largest = _largest_margin(problem, engine)
            hopeless = largest < tuning.smallest_margin * np.sqrt(size)
            if not certificate.finite and (hopeless or cost * size > tuning.last_cost):
                raise ValueError(
                    "C=inf requires a margin without errors, but these kernels cannot separate the "
                    f"classes: no margin exceeds {largest:.1e}, for examples with norms up to "
                    f"{np.sqrt(size):.1e}; choose a finite C, or other kernels"
                )
            if cost * size > tuning.last_cost:
                break
            cost = tuning.growth * cost
            weights = result.weights if result.weights.any() else weights
        engine.move_to(*engine.snapshot().scaled(factor))
        found = run.result(certificate, engine.alpha, result.weights)
        return replace(found, optimality=result.optimality)


def _rescaled(
    problem: HardMarginProblem, engine: Engine, theta: np.ndarray
) -> tuple[Certificate, float]:
    """Return the certificate of alpha divided by its margin, if positive, and that factor."""
    alpha, F, s = engine.alpha, engine.combined(theta), engine.quadratic()
    margin = problem.margin(F, problem.best_bias(F))
    factor = 1.0 / margin if margin > 0 else 1.0
    return problem.certificate(factor * alpha, factor * F, factor**2 * s, theta), factor


def _largest_margin(problem: Problem, engine: Engine) -> float:
    """Return an upper bound of the margin between the classes, by the dual value along a ray."""
    total = np.abs(engine.alpha).sum()
    return float(np.sqrt(problem.norm.dual(engine.quadratic())) / total) if total > 0 else np.inf
