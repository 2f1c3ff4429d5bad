"""Where to start: a feasible alpha for every loss, and equal weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engines.base import Engine
from ..problem import Problem
from .task import Task


def first_task(problem: Problem, engine: Engine, **how: Any) -> Task:
    """Return the task of a problem from a feasible alpha, of which the engine is told.

    `how` is what else a `Task` may say.
    """
    alpha = feasible_alpha(problem)
    engine.rebuild(alpha)
    return Task(problem, engine, alpha, problem.norm.start(engine.n_kernels), **how)


def feasible_alpha(problem: Problem) -> np.ndarray:
    """Return an alpha, shape (n,), inside its bounds, with sum tau and finite slopes.

    Zero does where it may be; losses with an entropy need every alpha strictly inside its bounds,
    and one-class problems need a positive sum.
    """
    return np.concatenate([_feasible(machine) for machine in problem.alone])


def _feasible(problem: Problem) -> np.ndarray:
    """Return the start of one machine."""
    term = problem.term
    if problem.tau == 0 and not term.ent.any():
        return np.zeros_like(problem.y)
    if problem.tau == 0:
        return _balanced(term.lo, term.hi)
    return problem.tau / term.hi.sum() * term.hi


def _balanced(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Half of the way to the far bound, less on the side with more room, so that the sum is 0."""
    above, below = hi.sum(), -lo.sum()
    less = 0.5 * min(above, below)
    if less == 0:  # one side has no weight: nothing can move
        return np.zeros_like(lo)
    return np.where(hi > 0, hi * (less / above), lo * (less / below))
