"""Warm starts on a grid of norms and costs: each fit starts from a neighbouring solution.

At the lowest C most alphas are at their bounds, and another norm changes few of them. At high C
they hardly depend on C. So the path goes from norm to norm at the lowest C, and from each of them
upwards through the values of C. The engine keeps its alpha and outputs between problems.
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

FRESH = 1e-6  # share of equal weights in a warm start: analytic steps cannot raise a weight of 0


def follow(
    problem: Problem,
    engine: Engine,
    norms: Sequence[Norm],
    Cs: np.ndarray,
    solve: Callable[[Problem, np.ndarray | None], Result],
) -> Iterator[tuple[int, int, Result]]:
    """Solve a problem for every norm and every C.

    Parameters
    ----------
    problem : Problem
        Has the costs at C = 1; its norm is ignored.
    engine : Engine
        Stores the examples and alpha.
    norms : sequence of Norm
        The solution for each norm is the start for the next one, so sort them by similarity.
    Cs : ndarray of shape (costs,)
        Values of C, in any order.
    solve : callable
        Solves a problem from the engine's alpha and weights of shape (M,), or, if these are None,
        from the default start.

    Yields
    ------
    norm, cost : int
        Positions in `norms` and `Cs`.
    result : Result
        The engine stores the alpha of this result until the next one is requested.
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
    """Return initial weights, shape (M,), from the solution for another norm.

    If the norm is not sparse, they are the best weights for the engine's alpha, which are unique.
    """
    norm = problem.norm
    return at_cost(problem, engine, weights if norm.is_sparse else norm.best(engine.quadratic()))


def at_cost(problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Make the engine's alpha feasible for a new C, and return initial weights, shape (M,).

    `weights` are those of the last solution. Unless the norm is sparse, no initial weight is
    exactly 0, since analytic steps cannot raise it again.
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
    return weights / norm.value(weights)
