"""A problem solved by its plan: start, solver, confirmation of the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from ..problem.rounding import RoundingBounds
from .confirm import confirmed
from .plan import Plan
from .result import Result
from .run import Run

ATTEMPTS = 3  # maximum number of attempts to reach a gap below tol including its rounding bound
LARGEST_SHARE = 0.5  # rounding bound, relative to tol, above which no attempt is repeated


def solve(
    problem: Problem, engine: Engine, plan: Plan, run: Run, weights: np.ndarray | None = None
) -> Result:
    """Solve a problem as planned.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the examples; it ends at the alpha of the result.
    plan : Plan
        Start and solver, from `make_plan`.
    run : Run
        Tolerance, budget, log and observer.
    weights : ndarray of shape (M,), optional
        If given, training starts from these weights and the engine's alpha (warm start).

    Returns
    -------
    Result
        Its weights are all 0 if the constant model is optimal.
    """
    problem, weights = _started(problem, engine, plan, run, weights)
    return _solved(problem, engine, plan, run, weights)


def solve_confirmed(
    problem: Problem,
    engine: Engine,
    plan: Plan,
    run: Run,
    rounding: RoundingBounds,
    weights: np.ndarray | None = None,
) -> Result:
    """Solve a problem, and confirm that its gap is below the tolerance despite rounding.

    If the gap plus the bound on its rounding error exceeds the tolerance, training continues to a
    gap that is smaller by this bound. `rounding` bounds the rounding errors of the kernels; the
    other parameters are those of `solve`.
    """
    tol = run.tol
    problem, weights = _started(problem, engine, plan, run, weights)
    for _ in range(ATTEMPTS):
        found = _solved(problem, engine, plan, run, weights)
        result = confirmed(problem, engine, found, rounding, tol)
        hopeless = (
            found.gap > tol or result.rounding_bound > LARGEST_SHARE * tol or run.budget.spent
        )
        if result.converged or hopeless:
            break
        run, weights = run.with_tol(tol - result.rounding_bound), result.weights
    return result


def _started(
    problem: Problem, engine: Engine, plan: Plan, run: Run, weights: np.ndarray | None
) -> tuple[Problem, np.ndarray]:
    """Return the problem, with fixed weights if the start fixes them, and first weights, (M,)."""
    if weights is None:
        engine.move_to(problem.risk.feasible_alpha())
    if weights is None or plan.start.fixes_weights:
        weights = plan.start.weights(problem, engine, run)
    return problem.with_weights(weights) if plan.start.fixes_weights else problem, weights


def _solved(problem: Problem, engine: Engine, plan: Plan, run: Run, weights: np.ndarray) -> Result:
    result = replace(plan.solver.solve(problem, engine, weights, run), plan=plan)
    if problem.constant_is_optimal(result.dual):
        return replace(result, weights=np.zeros_like(result.weights))
    return result
