"""A problem solved by its plan: start, loop, finish.

Training starts at a feasible alpha and first kernel weights. At p = 1 it finishes with exact zeros:
weights that the certificate does not need are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem.hard_margin import HardMarginProblem, solve_hard_margin
from ..problem.problem import Problem
from ..problem.rounding import Digits
from .active_sets import first_set, train_on_active_sets
from .confirm import confirmed
from .history import History, Result
from .inner.violations import every_kth, is_crowded
from .inner.working_sets import certified
from .loop import train
from .methods.alignment import WEIGHTS

if TYPE_CHECKING:
    from .plan import Plan

SAMPLE_EVERY = 4  # one of so many examples is in a sample
SMALLEST_SAMPLED = 1000  # examples from which on a sample is taken
SAMPLE_TOL = 0.1  # the relative duality gap on a sample
SMALL_WEIGHTS = 1e-2, 1e-3  # relative to the largest: all below are dropped, first or next
FEW_TURNS = 3  # in which alpha adapts to fewer kernels
ADAPTED = 0.3  # part of the tolerance to which it adapts
ATTEMPTS = 3  # to reach a gap that is certain, each with a smaller tolerance
LARGEST_SHARE = 0.5  # of the tolerance that rounding may take before it is not worth an attempt
ROUGH_SHARE = 0.9  # of the tolerance to which a problem is solved with rough outputs,
ROUGH_TOL = 2e-4  # and no further than this


def solve(
    problem: Problem,
    engine: Engine,
    plan: Plan,
    history: History,
    weights: np.ndarray | None = None,
    digits: Digits | None = None,
) -> Result:
    """Solve a problem afresh, or from the alpha of the engine and given weights, shape (M,).

    Where there is nothing to learn the weights of the result are 0: it is the constant model. With
    the `digits` of its kernels the result is one to be kept: it is confirmed, and small weights are
    worth turns that may drop them.
    """
    if isinstance(problem, HardMarginProblem) and not problem.nothing_to_learn(0.0):

        def soft(one: Problem, inner: History, start: np.ndarray | None) -> Result:
            return solve(one, engine, plan, inner, start)

        given = plan.alignment is not None
        return solve_hard_margin(problem, engine, history, weights, soft, given=given)
    if plan.rough:
        engine.rough = True
    if weights is None:
        weights, _ = first_weights(problem, engine, plan, history)
    if plan.alignment is not None:
        weights = aligned_weights(problem, engine, plan.alignment, weights)
        problem = problem.given(weights)
    tol, attempts = history.tol, 1 if digits is None else ATTEMPTS
    turns = 0 if digits is None else FEW_TURNS
    for _ in range(attempts):
        result = found = _solve_from(problem, engine, plan, history, weights, turns)
        if digits is not None:
            result = confirmed(problem, engine, found, digits, tol)
        hopeless = found.gap > tol or result.doubt > LARGEST_SHARE * tol or history.spent
        if result.converged or hopeless:
            break
        history.tol, weights = tol - result.doubt, result.weights
    history.tol = tol
    return result


def _solve_from(
    problem: Problem,
    engine: Engine,
    plan: Plan,
    history: History,
    weights: np.ndarray,
    turns: int,
) -> Result:
    """Solve a problem from the alpha of the engine and weights, shape (M,).

    Some more turns may go into dropping small weights.
    """
    result: Result
    if plan.algorithm is not None and not problem.nothing_to_learn(0.0):  # that of alpha = 0
        result = plan.algorithm.solve(problem, engine, weights, history)
    else:
        run = train_on_active_sets if plan.grows else train
        dropped = None if weights.all() else weights  # a solution of another problem, or of this
        if engine.rough:  # passes in single precision come first
            inner = history.inner(max(ROUGH_SHARE * history.tol, ROUGH_TOL), history.turns_left)
            inner.phase, inner.watch = "single precision", history.watch
            result = run(problem, engine, weights, plan, inner)
            if plan.drops and not problem.nothing_to_learn(result.dual):
                result = drop_small_weights(problem, engine, result, plan, inner, turns)
            history.absorb(inner)
            engine.rough = False
            run, dropped, weights = train, result.weights, result.weights
        result = run(problem, engine, weights, plan, history)
        done = dropped is not None and np.array_equal(result.weights, dropped)
        if plan.drops and not done and not problem.nothing_to_learn(result.dual):
            result = drop_small_weights(problem, engine, result, plan, history, turns)
    if problem.nothing_to_learn(result.dual):  # then it is the constant model that is certified
        return replace(result, weights=np.zeros_like(result.weights))
    return result


def first_weights(
    problem: Problem, engine: Engine, plan: Plan, history: History
) -> tuple[np.ndarray, bool]:
    """Move an engine to a feasible alpha, and return the weights to start from, shape (M,).

    They are equal, or where the plan says so those of a sample, itself started from a sample. From
    equal weights to sparse ones it takes several steps, and each of them costs a good solution on
    all examples. A sample knows the best weights roughly, at a small part of that cost. Active sets
    that grow start from the weights of the first one.

    Each example of a sample stands for several: their costs add up to those of all. Where classes
    overlap they would be fitted too closely, and have the costs that they have: most of a smaller
    sample is support then, though the loss lets alphas be 0. Whether that is so comes second.
    """
    engine.move_to(feasible_alpha(problem))
    if plan.grows:
        active = first_set(problem, engine.alpha)
        small, part = problem.restricted(active, problem.tau), engine.subset(active)
        return first_weights(small, part, replace(plan, grows=False), history)
    chosen = every_kth(problem.y, SAMPLE_EVERY)
    if not plan.samples or engine.n < SMALLEST_SAMPLED or not problem.C[chosen].any():
        return problem.norm.start(engine.n_kernels), False
    factor = problem.C.sum() / problem.C[chosen].sum()
    small, part = problem.restricted(chosen, problem.tau, factor), engine.subset(chosen)
    weights, crowded = first_weights(small, part, plan, history)
    if crowded:
        small = problem.restricted(chosen, problem.tau / factor)
        part.move_to(feasible_alpha(small))
    inner = history.inner(max(SAMPLE_TOL, history.tol), history.max_iter)
    inner.observe = None
    result = train(small, part, weights, plan, inner)
    spares = not (problem.term.is_free or problem.term.ent.any())
    return result.weights, spares and is_crowded(result.alpha)


def aligned_weights(
    problem: Problem, engine: Engine, alignment: str, weights: np.ndarray
) -> np.ndarray:
    """Return the weights of an alignment by its name, shape (M,); `weights` where these are 0."""
    counted = np.flatnonzero(problem.C)
    targets = problem.y[counted] + problem.centre
    aligned = WEIGHTS[alignment](engine.subset(counted), targets)
    return aligned / problem.norm.value(aligned) if aligned.any() else weights


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
    alpha: np.ndarray = np.minimum(problem.tau / term.hi.sum() * term.hi, term.hi)
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
    problem: Problem, engine: Engine, result: Result, plan: Plan, history: History, turns: int
) -> Result:
    """Return a result without its small weights, as many as leave its gap at tol or where it was.

    Interior methods only come close to the zeros of a sparse solution. Without all that are small,
    alpha is given some turns to adapt. Where these do not help, alpha stays as it is. The more
    weights are then dropped, the wider the gap, as a rule: bisection finds how many.
    """
    limit = max(history.tol, result.gap)
    rising = np.argsort(result.weights, kind="stable")
    least, lightest = int(np.count_nonzero(result.weights == 0)), result
    tried = None
    for small in SMALL_WEIGHTS:
        most = count = int(np.count_nonzero(result.weights < small * result.weights.max()))
        if most <= least:
            return result
        if most == tried:
            continue
        tried = most
        theta = _without(rising[:most], problem, result)
        if adapted := _adapted(theta, problem, engine, result, plan, history, turns):
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
    turns: int,
) -> Result | None:
    """Return a model with weights theta, shape (M,), that meets the tolerance after some turns.

    Otherwise the engine is at the alpha of the result again.
    """
    turns = turns if history.turns_left is None else min(turns, history.turns_left)
    before = engine.snapshot() if turns else None
    certificate, n_iter = certified(problem, engine, theta), result.n_iter
    if certificate.gap > history.tol and before is not None:
        inner = history.inner(ADAPTED * history.tol, turns)
        n_iter += train(problem.given(theta), engine, theta, plan.inner, inner).n_iter
        certificate = certified(problem, engine, theta)
    if certificate.gap <= history.tol:
        return replace(
            result,
            **vars(certificate),
            alpha=engine.alpha.copy(),
            weights=theta,
            n_iter=n_iter,
            converged=True,
        )
    if before is not None:
        engine.move_to(*before)
        history.tell(engine.alpha, result.weights)
    return None


def _without(dropped: np.ndarray, problem: Problem, result: Result) -> np.ndarray:
    """Return the weights of a result, shape (M,), without some of them."""
    theta = result.weights.copy()
    theta[dropped] = 0.0
    return theta / problem.norm.value(theta)
