"""A problem solved by its plan: start, loop, finish.

Training starts at a feasible alpha and first kernel weights. At p = 1 it finishes with exact zeros:
weights that the certificate does not need are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Problem, Result
from .history import History, ignore
from .loop import train
from .shrinking import train_on_active_sets
from .violations import every_kth

if TYPE_CHECKING:
    from ..plan import Plan

SAMPLE_EVERY = 4  # one of so many examples is in a sample
SMALLEST_SAMPLED = 1000  # examples from which on a sample is taken
SAMPLE_TOL = 0.1  # the relative duality gap on a sample
SMALL_WEIGHTS = 1e-2, 1e-3  # relative to the largest: all below are dropped, first or next
FEW_TURNS = 3  # in which alpha adapts to fewer kernels


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
    if weights is None:
        weights = first_weights(problem, engine, plan, history)
    if plan.algorithm is not None and not problem.nothing_to_learn(0.0):  # that of alpha = 0
        result: Result = plan.algorithm.solve(problem, engine, weights, history)
        return _constant(result) if problem.nothing_to_learn(result.dual) else result
    if plan.alignment is not None:
        weights = plan.align(problem, engine, weights)
        problem = problem.given(weights)
    run = train_on_active_sets if plan.grows else train
    result = run(problem, engine, weights, plan, history)
    if problem.nothing_to_learn(result.dual):
        return _constant(result)
    return drop_small_weights(problem, engine, result, plan, history) if plan.drops else result


def _constant(result: Result) -> Result:
    """Return the constant model, which is what the certificate of the result is that of."""
    return replace(result, weights=np.zeros_like(result.weights))


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


def drop_small_weights(
    problem: Problem, engine: Engine, result: Result, plan: Plan, history: History
) -> Result:
    """Return a result without its small weights, as many as leave its gap at tol or where it was.

    Interior methods only come close to the zeros of a sparse solution. Without all that are small,
    alpha is given a few turns to adapt. Where these do not help, alpha stays as it is. The more
    weights are then dropped, the wider the gap, as a rule: bisection finds how many.
    """
    limit = max(history.tol, result.gap)
    rising = np.argsort(result.weights, kind="stable")
    least, lightest = 0, result
    for small in SMALL_WEIGHTS:
        most = count = int(np.count_nonzero(result.weights < small * result.weights.max()))
        theta = _without(rising[:most], problem, result)
        if most and (adapted := _adapted(theta, problem, engine, result, plan, history)):
            return adapted
    s = engine.quadratic()
    while least < most:
        theta = _without(rising[:count], problem, result)
        F = engine.combined(theta)
        certificate = problem.certificate(engine.alpha, F, s, theta)
        if certificate.gap <= limit:
            least, lightest = count, replace(result, **vars(certificate), weights=theta)
        else:
            most = count - 1
        count = (least + most + 1) // 2
    return lightest


def _adapted(
    theta: np.ndarray,
    problem: Problem,
    engine: Engine,
    result: Result,
    plan: Plan,
    history: History,
) -> Result | None:
    """Return a model with weights theta, shape (M,), that meets the tolerance after a few turns.

    Otherwise the engine is at the alpha of the result again.
    """
    before, left = engine.snapshot(), history.turns_left
    inner = history.inner(history.tol, FEW_TURNS if left is None else min(FEW_TURNS, left))
    lighter = train(problem, engine, theta, plan.inner, inner)
    if lighter.converged:
        return replace(lighter, n_iter=result.n_iter + lighter.n_iter, history=result.history)
    engine.move_to(*before)
    history.observe(engine.alpha, result.weights)
    return None


def _without(dropped: np.ndarray, problem: Problem, result: Result) -> np.ndarray:
    """Return the weights of a result, shape (M,), without some of them."""
    theta = result.weights.copy()
    theta[dropped] = 0.0
    return theta / problem.norm.value(theta)
