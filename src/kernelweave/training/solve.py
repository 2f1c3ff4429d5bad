"""A problem solved by its plan: start, loop, finish."""

from __future__ import annotations

import numpy as np

from ..digits import Digits
from ..engines.base import Engine
from ..plan import ALIGNMENTS, Plan
from ..problem import Problem, Result
from .confirm import confirmed
from .drop_small_weights import drop_small_weights
from .history import History
from .loop import train
from .shrinking import train_on_active_sets
from .starts import first_weights


def solve(
    problem: Problem,
    engine: Engine,
    plan: Plan,
    history: History,
    weights: np.ndarray | None = None,
    digits: Digits | None = None,
) -> Result:
    """Solve a problem afresh, or from the alpha of the engine and given weights, shape (M,).

    With the `digits` of its kernels the result is confirmed.
    """
    if weights is None:
        weights = first_weights(problem, engine, plan, history)
    if plan.alignment is not None:
        counted = np.flatnonzero(problem.C)
        targets = problem.y[counted] + problem.centre
        aligned = ALIGNMENTS[plan.alignment](engine.subset(counted), targets)
        weights = aligned / problem.norm.value(aligned) if aligned.any() else weights
        problem = problem.given(weights)

    def attempt(weights: np.ndarray) -> Result:
        return _solve_from(weights, problem, engine, plan, history)

    if digits is None:
        return attempt(weights)
    return confirmed(problem, engine, weights, history, digits, attempt)


def _solve_from(
    weights: np.ndarray, problem: Problem, engine: Engine, plan: Plan, history: History
) -> Result:
    """Solve a problem from the alpha of the engine and weights, shape (M,)."""
    if plan.algorithm is not None:
        result: Result = plan.algorithm.solve(problem, engine, weights, history)
        return result
    run = train_on_active_sets if plan.grows else train
    result = run(problem, engine, weights, plan, history)
    return drop_small_weights(problem, engine, result, plan, history) if plan.drops else result
