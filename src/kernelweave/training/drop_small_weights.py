"""Exact zeros at p = 1: weights that the certificate does not need are set to 0."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Certificate, Problem, Result
from .history import History
from .loop import train

if TYPE_CHECKING:
    from ..plan import Plan

SMALL_WEIGHTS = 1e-2, 1e-3  # relative to the largest: all below are dropped, first or next
FEW_TURNS = 3  # in which alpha adapts to fewer kernels
ADAPTED = 0.3  # part of the tolerance to which it adapts


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
    least, lightest = int(np.count_nonzero(result.weights == 0)), result
    most = least
    for small in SMALL_WEIGHTS:
        most = count = int(np.count_nonzero(result.weights < small * result.weights.max()))
        if most == least:
            return result
        theta = _without(rising[:most], problem, result)
        if (adapted := _adapted(theta, problem, engine, result, plan, history)) is not None:
            return adapted
    s = engine.quadratic()
    while least < most:
        theta = _without(rising[:count], problem, result)
        certificate = problem.certificate(engine.alpha, engine.combined(theta), s, theta)
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
    turns = FEW_TURNS if left is None else min(FEW_TURNS, left)
    inner = history.inner(ADAPTED * history.tol, turns)
    certificate, n_iter = _certify(theta, problem, engine), result.n_iter
    if certificate.gap > history.tol:
        n_iter += train(problem.given(theta), engine, theta, plan.inner, inner).n_iter
        certificate = _certify(theta, problem, engine)
    if certificate.gap <= history.tol:
        model = {"alpha": engine.alpha.copy(), "weights": theta, "n_iter": n_iter}
        return replace(result, **vars(certificate), **model, converged=True)
    engine.move_to(*before)
    history.observe(engine.alpha, result.weights)
    return None


def _certify(theta: np.ndarray, problem: Problem, engine: Engine) -> Certificate:
    """Certify the engine's alpha with weights theta, shape (M,)."""
    s, F = engine.quadratic(), engine.combined(theta)
    return problem.certificate(engine.alpha, F, s, theta)


def _without(dropped: np.ndarray, problem: Problem, result: Result) -> np.ndarray:
    """Return the weights of a result, shape (M,), without some of them."""
    theta = result.weights.copy()
    theta[dropped] = 0.0
    return theta / problem.norm.value(theta)
