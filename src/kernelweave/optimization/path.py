"""A path through a grid of norms and costs, on which every solution starts from a neighbour's.

At the lowest cost most alphas are at their bounds, and another norm changes few of them. At high
costs they hardly depend on the cost. So the path goes from norm to norm at the lowest cost, and
from each of them upwards through the costs. The engine keeps its outputs all the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..engines.snapshot import Snapshot
from ..norms import Norm
from ..problem.problem import Problem
from .result import Result

FRESH = 1e-6  # share of equal weights in a start with zeros: a weight of 0 could never come back


def follow(
    problem: Problem,
    engine: Engine,
    norms: Sequence[Norm],
    Cs: np.ndarray,
    solve: Callable[[Problem, np.ndarray | None], Result],
) -> Iterator[tuple[int, int, Result]]:
    """Solve a problem for every norm and cost.

    Parameters
    ----------
    problem : its costs are those at C = 1, and its norm does not matter.
    engine : the examples.
    norms : the more neighbours are alike, the better.
    Cs : factors of the costs, in any order, shape (costs,).
    solve : solves a problem afresh, or from the engine's alpha and given weights, shape (M,).

    Yields
    ------
    The positions of norm and cost in `norms` and `Cs`, and the result, whose outputs the engine
    holds until the next one is asked for.
    """
    order = np.argsort(Cs, kind="stable").tolist()
    lowest: tuple[Snapshot, np.ndarray] | None = None
    for i, norm in enumerate(norms):
        here = _posed(problem, norm, Cs[order[0]])
        if lowest is None:
            result = solve(here, None)
        else:
            engine.move_to(*lowest[0])
            result = solve(here, at_norm(here, engine, lowest[1]))
        lowest = engine.snapshot(), result.weights
        yield i, order[0], result
        for j in order[1:]:
            here = _posed(problem, norm, Cs[j])
            result = solve(here, at_cost(here, engine, result.weights))
            yield i, j, result


def _posed(problem: Problem, norm: Norm, C: float) -> Problem:
    """Return a problem with another norm and its costs multiplied by C."""
    return replace(problem, norm=norm, risk=replace(problem.risk, C=C * problem.C))


def at_norm(problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Make a start of the solution for another norm: best weights are often unique."""
    norm = problem.norm
    return at_cost(problem, engine, weights if norm.is_sparse else norm.best(engine.quadratic()))


def at_cost(problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Move the engine to a feasible alpha for another cost, and return weights, shape (M,).

    No weight is exactly 0 unless the norm is sparse: analytic steps could not bring it back.
    """
    norm = problem.norm
    if not weights.any():  # the constant model was optimal
        weights = norm.start(len(weights))
    weights = weights / norm.value(weights)
    alpha = np.clip(engine.alpha, *problem.risk.bounds)
    if not np.array_equal(alpha, engine.alpha):
        engine.move_to(alpha)
    if norm.is_sparse or weights.all():
        return weights
    weights = (1 - FRESH) * weights + FRESH * norm.start(len(weights))
    started: np.ndarray = weights / norm.value(weights)
    return started
