"""Where training starts: a feasible alpha, and the first kernel weights."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..plan import Plan
from ..problem import Problem
from .feasible import feasible_alpha
from .history import History, ignore
from .loop import train
from .violations import every_kth

SAMPLE_EVERY = 4  # one of so many examples is in a sample
SMALLEST_SAMPLED = 1000  # examples from which on a sample is taken
SAMPLE_TOL = 0.1  # the relative duality gap on a sample


def first_weights(problem: Problem, engine: Engine, plan: Plan, history: History) -> np.ndarray:
    """Move an engine to a feasible alpha, and return the weights to start from, shape (M,)."""
    engine.move_to(feasible_alpha(problem))
    weights = problem.norm.start(engine.n_kernels)
    return sampled_weights(problem, engine, weights, plan, history) if plan.samples else weights


def sampled_weights(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> np.ndarray:
    """Return the weights, shape (M,), that are best on a sample, itself started from a sample.

    From equal weights to sparse ones it takes several steps, and each of them costs a good solution
    on all examples. A sample knows the best weights roughly, at a small part of that cost. Each of
    its examples stands for several: their costs add up to those of all.
    """
    chosen = every_kth(problem.y, SAMPLE_EVERY)
    if engine.n < SMALLEST_SAMPLED or not problem.C[chosen].any():
        return weights
    factor = problem.C.sum() / problem.C[chosen].sum()
    small, part = problem.restricted(chosen, problem.tau, factor), engine.subset(chosen)
    part.move_to(feasible_alpha(small))
    weights = sampled_weights(small, part, weights, plan, history)
    inner = history.inner(max(SAMPLE_TOL, history.tol), history.max_iter, observe=ignore)
    return train(small, part, weights, plan, inner).weights
