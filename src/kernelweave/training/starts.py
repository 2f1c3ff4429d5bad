"""Where training starts: a feasible alpha, and the first kernel weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Problem
from .history import History, ignore
from .loop import train
from .violations import every_kth

if TYPE_CHECKING:
    from ..plan import Plan

SAMPLE_EVERY = 4  # one of so many examples is in a sample
SMALLEST_SAMPLED = 1000  # examples from which on a sample is taken
SAMPLE_TOL = 0.1  # the relative duality gap on a sample


def first_weights(problem: Problem, engine: Engine, plan: Plan, history: History) -> np.ndarray:
    """Move an engine to a feasible alpha, and return the weights to start from, shape (M,).

    They are equal, or where the plan says so those of a sample, itself started from a sample. From
    equal weights to sparse ones it takes several steps, and each of them costs a good solution on
    all examples. A sample knows the best weights roughly, at a small part of that cost. Each of its
    examples stands for several: their costs add up to those of all.
    """
    engine.move_to(feasible_alpha(problem))
    chosen = every_kth(problem.y, SAMPLE_EVERY)
    if not plan.samples or engine.n < SMALLEST_SAMPLED or not problem.C[chosen].any():
        return problem.norm.start(engine.n_kernels)
    factor = problem.C.sum() / problem.C[chosen].sum()
    small, part = problem.restricted(chosen, problem.tau, factor), engine.subset(chosen)
    weights = first_weights(small, part, plan, history)
    inner = history.inner(max(SAMPLE_TOL, history.tol), history.max_iter, observe=ignore)
    return train(small, part, weights, plan, inner).weights


def feasible_alpha(problem: Problem) -> np.ndarray:
    """Return an alpha, shape (n,), inside its bounds, with sum tau and finite slopes.

    Zero does where it may be; losses with an entropy need every alpha strictly inside its bounds,
    and one-class problems need a positive sum.
    """
    return np.concatenate([_feasible(output) for output in problem.per_output])


def _feasible(problem: Problem) -> np.ndarray:
    """Return the start of one output."""
    term = problem.term
    if problem.tau == 0 and not term.ent.any():
        return np.zeros_like(problem.y)
    if problem.tau == 0:
        return _balanced(term.lo, term.hi)
    alpha: np.ndarray = problem.tau / term.hi.sum() * term.hi
    return alpha


def _balanced(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Half of the way to the far bound, less on the side with more room, so that the sum is 0."""
    above, below = hi.sum(), -lo.sum()
    less = 0.5 * min(above, below)
    if less == 0:  # one side has no weight: nothing can move
        return np.zeros_like(lo)
    alpha: np.ndarray = np.where(hi > 0, hi * (less / above), lo * (less / below))
    return alpha
