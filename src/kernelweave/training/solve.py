"""A problem solved by its plan: start, loop, finish."""

from __future__ import annotations

from collections.abc import Callable

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
    if not plan.rough:
        return _trained(run, problem, engine, weights, plan, history)
    inner = history.inner(max(ROUGH_SHARE * history.tol, ROUGH_TOL), history.turns_left)
    inner.phase, inner.watch = "single precision", history.watch
    rough = _trained(run, problem, engine, weights, plan, inner)
    history.absorb(inner)
    engine.be_rough(False)
    return _trained(train, problem, engine, rough.weights, plan, history, dropped=rough.weights)


def _trained(
    run: Callable[[Problem, Engine, np.ndarray, Plan, History], Result],
    problem: Problem,
    engine: Engine,
    weights: np.ndarray,
    plan: Plan,
    history: History,
    dropped: np.ndarray | None = None,
) -> Result:
    """Train, then drop small weights, but for those of weights that are `dropped` already."""
    result = run(problem, engine, weights, plan, history)
    if not plan.drops or np.array_equal(result.weights, dropped):
        return result
    return drop_small_weights(problem, engine, result, plan, history)
