"""A problem solved by its plan: start, loop, finish."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..plan import ALIGNMENTS, Plan
from ..problem import Problem, Result
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
) -> Result:
    """Solve a problem afresh, or from the alpha of the engine and given weights, shape (M,)."""
    if weights is None:
        weights = first_weights(problem, engine, plan, history)
    if plan.algorithm is not None:
        result: Result = plan.algorithm.solve(problem, engine, weights, history)
        return result
    if plan.alignment is not None:
        counted = np.flatnonzero(problem.C)
        targets = problem.y[counted] + problem.centre
        aligned = ALIGNMENTS[plan.alignment](engine.subset(counted), targets)
        weights = aligned / problem.norm.value(aligned) if aligned.any() else weights
        problem = problem.given(weights)
    run = train_on_active_sets if plan.grows else train
    result = run(problem, engine, weights, plan, history)
    return drop_small_weights(problem, engine, result, plan, history) if plan.drops else result
