"""A path through a grid of norms and costs, on which every solution starts from a neighbour's.

At the lowest cost most alphas are at their bounds, and another norm changes few of them. At high
costs they hardly depend on the cost. So the path goes from norm to norm at the lowest cost, and
from each of them upwards through the costs. The engine keeps its outputs all the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from ..engines.base import Engine
from ..norms import Norm
from ..problem import Problem, Result
from .registry import is_sparse
from .start import first_start

FRESH = 1e-3  # share of equal weights in a start: a weight of 0 could never come back
MOST, LEAST = 1e4, np.exp(-10.0)  # factors of alpha that are considered

Start = tuple[np.ndarray, np.ndarray]
Solve = Callable[[Problem, Engine, Start], Result]


def follow(
    problem: Problem, engine: Engine, norms: Sequence[Norm], Cs: np.ndarray, solve: Solve
) -> Iterator[tuple[int, int, Result]]:
    """Solve a problem for every norm and cost.

    Parameters
    ----------
    problem : its costs are those at C = 1, and its norm does not matter.
    engine : the examples.
    norms : the more neighbours are alike, the better.
    Cs : factors of the costs, in any order, shape (costs,).
    solve : ``solve(problem, engine, (alpha, theta)) -> Result``.

    Yields
    ------
    The positions of norm and cost in `norms` and `Cs`, and the result, whose outputs the engine
    holds until the next one is asked for.
    """
    order = np.argsort(Cs, kind="stable").tolist()
    start: Start | None = None
    kept = np.empty(0)
    for i, norm in enumerate(norms):
        here = replace(problem, norm=norm, C=Cs[order[0]] * problem.C)
        if start is None:
            start = first_start(here, engine)
        else:
            engine.restore(kept)
            start = at_norm(here, engine, *start)
        result = solve(here, engine, start)
        start, kept = (result.alpha, result.weights), engine.keep()
        yield i, order[0], result
        for j in order[1:]:
            here = replace(problem, norm=norm, C=Cs[j] * problem.C)
            result = solve(here, engine, at_cost(here, engine, result.alpha, result.weights))
            yield i, j, result


def at_norm(problem: Problem, engine: Engine, alpha: np.ndarray, theta: np.ndarray) -> Start:
    """Return a start from the solution for another norm, whose best weights are often unique."""
    if not is_sparse(problem.norm):
        theta = problem.norm.best(engine.quadratic(alpha))
    return at_cost(problem, engine, alpha, theta)


def at_cost(problem: Problem, engine: Engine, alpha: np.ndarray, theta: np.ndarray) -> Start:
    """Return a start from another solution: alpha times the best factor, no weight quite 0.

    Where costs rise, alphas at their bounds rise with them. Others need not: the dual value says
    how far to go. The outputs follow.
    """
    factor = best_factor(problem, alpha, engine.quadratic(alpha))
    engine.scale(factor)
    equal = problem.norm.start(len(theta))
    theta = (1 - FRESH) * theta / problem.norm.value(theta) + FRESH * equal
    alpha = np.clip(factor * alpha, problem.term.lo, problem.term.hi)
    return alpha, theta / problem.norm.value(theta)


def best_factor(problem: Problem, alpha: np.ndarray, s: np.ndarray) -> float:
    """Return the factor of alpha, shape (n,), that makes the dual value largest."""
    lo, hi = problem.term.lo, problem.term.hi
    support = np.flatnonzero(alpha)
    if len(support) == 0:
        return 1.0

    def loss(exponent: float) -> float:
        factor = np.exp(exponent)
        return -problem.dual(np.clip(factor * alpha, lo, hi), factor**2 * s)

    bounds = np.where(alpha > 0, hi, lo)[support]
    most = min(float((bounds / alpha[support]).min()), MOST)
    end = np.log(most)
    found = minimize_scalar(
        loss, bounds=(end + np.log(LEAST), end), method="bounded", options={"xatol": 1e-6}
    )
    return most if loss(end) <= found.fun else float(np.exp(found.x))
