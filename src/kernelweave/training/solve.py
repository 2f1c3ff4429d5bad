"""A problem solved by its plan: start, loop, finish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..hard_margin import HardMarginProblem, solve_hard_margin
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
    """Solve a problem afresh, or from the alpha of the engine and given weights, shape (M,).

    Where there is nothing to learn the weights of the result are 0: it is the constant model.
    """
    if isinstance(problem, HardMarginProblem) and not problem.nothing_to_learn(0.0):

        def soft(one: Problem, inner: History, start: np.ndarray | None) -> Result:
            return solve(one, engine, plan, inner, start)

        given = plan.alignment is not None
        return solve_hard_margin(problem, engine, history, weights, soft, given=given)
    if weights is None:
        weights = first_weights(problem, engine, plan, history)
    if plan.algorithm is not None and not problem.nothing_to_learn(0.0):  # that of alpha = 0
        result: Result = plan.algorithm.solve(problem, engine, weights, history)
        return _constant(result) if problem.nothing_to_learn(result.dual) else result
    if plan.alignment is not None:
        counted = np.flatnonzero(problem.C)
        targets = problem.y[counted] + problem.centre
        aligned = ALIGNMENTS[plan.alignment](engine.subset(counted), targets)
        weights = aligned / problem.norm.value(aligned) if aligned.any() else weights
        problem = problem.given(weights)
    run = train_on_active_sets if plan.grows else train
    result = run(problem, engine, weights, plan, history)
    if problem.nothing_to_learn(result.dual):
        return _constant(result)
    return drop_small_weights(problem, engine, result, plan, history) if plan.drops else result


def _constant(result: Result) -> Result:
    """Return the constant model, which is what the certificate of the result is that of."""
    return replace(result, weights=np.zeros_like(result.weights))
