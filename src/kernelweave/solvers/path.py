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
from ..norms.kinds import is_sparse
from ..problem import Problem, Result
from .start import first_task
from .task import Task

FRESH = 1e-3  # share of equal weights in a start: a weight of 0 could never come back
MOST, LEAST = 1e4, np.exp(-10.0)  # factors of alpha that are considered


def follow(
    problem: Problem,
    engine: Engine,
    norms: Sequence[Norm],
    Cs: np.ndarray,
    solve: Callable[[Task], Result],
) -> Iterator[tuple[int, int, Result]]:
    """Solve a problem for every norm and cost.

    Parameters
    ----------
    problem : its costs are those at C = 1, and its norm does not matter.
    engine : the examples.
    norms : the more neighbours are alike, the better.
    Cs : factors of the costs, in any order, shape (costs,).
    solve : ``solve(task) -> Result``.

    Yields
    ------
    The positions of norm and cost in `norms` and `Cs`, and the result, whose outputs the engine
    holds until the next one is asked for.
    """
    order = np.argsort(Cs, kind="stable").tolist()
    lowest: Result | None = None
    kept = np.empty(0)
    for i, norm in enumerate(norms):
        here = replace(problem, norm=norm, C=Cs[order[0]] * problem.C)
        if lowest is None:
            task = first_task(here, engine)
        else:
            engine.restore(lowest.alpha, kept)
            task = at_norm(Task(here, engine, lowest.alpha, lowest.weights))
        result = lowest = solve(task)
        kept = engine.keep()
        yield i, order[0], result
        for j in order[1:]:
            here = replace(problem, norm=norm, C=Cs[j] * problem.C)
            result = solve(at_cost(Task(here, engine, result.alpha, result.weights)))
            yield i, j, result


def at_norm(task: Task) -> Task:
    """Make a start of the solution for another norm: best weights are often unique."""
    norm = task.problem.norm
    if is_sparse(norm):
        return at_cost(task)
    return at_cost(replace(task, theta=norm.best(task.engine.quadratic(task.alpha))))


def at_cost(task: Task) -> Task:
    """Make a start of another solution: alpha times the best factor, no weight quite 0.

    Where costs rise, alphas at their bounds rise with them. Others need not: the dual value says
    how far to go. The outputs follow.
    """
    norm, term = task.problem.norm, task.problem.term
    factor = best_factor(task.problem, task.alpha, task.engine.quadratic(task.alpha))
    task.engine.scale(factor)
    equal = norm.start(len(task.theta))
    theta = (1 - FRESH) * task.theta / norm.value(task.theta) + FRESH * equal
    alpha = np.clip(factor * task.alpha, term.lo, term.hi)
    return replace(task, alpha=alpha, theta=theta / norm.value(theta))


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
