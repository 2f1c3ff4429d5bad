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

ROUGH_SHARE = 0.9  # of the tolerance to which a problem is solved with rough outputs,
ROUGH_TOL = 2e-4  # and no further than this


def solve(
    problem: Problem,
    engine: Engine,
    plan: Plan,
    history: History,
    weights: np.ndarray | None = None,
) -> Result:
    """Solve a problem afresh, or from the alpha of the engine and given weights, shape (M,)."""
    if plan.rough:
        engine.be_rough(True)
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
    if plan.rough:
        tol = max(ROUGH_SHARE * history.tol, ROUGH_TOL)
        inner = history.inner(tol, history.turns_left)
        result = run(problem, engine, weights, plan, inner)
        if plan.drops:
            result = drop_small_weights(problem, engine, result, plan, inner)
        history.absorb(inner)
        weights, run = result.weights, train
        engine.be_rough(False)
    result = run(problem, engine, weights, plan, history)
    return drop_small_weights(problem, engine, result, plan, history) if plan.drops else result
