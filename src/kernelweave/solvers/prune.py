"""Exact zeros at p = 1: weights that the certificate does not need are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Result
from ..steps.base import keep_weights
from .chunking import chunking
from .task import Task, silent

SMALL = 1e-2, 1e-3  # relative to the largest weight: all below are left out, first or next
FEW_TURNS = 3  # in which a machine gets used to fewer kernels


def prune(task: Task, result: Result) -> Result:
    """Return a result without its small weights, as many as leave its gap at tol or where it was.

    Interior methods only come close to the zeros of a sparse solution. Without all that are small,
    the machine is given a few turns to get used to it. Where these do not help, alpha stays as it
    is. The more weights are then left out, the wider the gap, as a rule: bisection finds how many.
    """
    limit = max(task.tol, result.gap)
    rising = np.argsort(result.weights, kind="stable")
    least, pruned = 0, result
    for small in SMALL:
        most = count = int(np.count_nonzero(result.weights < small * result.weights.max()))
        if most and (settled := _settled(rising[:most], task, result)):
            return settled
    s = task.engine.quadratic(result.alpha)
    while least < most:
        lighter = _without(rising[:count], task, result, s)
        if lighter.gap <= limit:
            least, pruned = count, lighter
        else:
            most = count - 1
        count = (least + most + 1) // 2
    return pruned


def _settled(left_out: np.ndarray, task: Task, result: Result) -> Result | None:
    """Return a machine without some kernels that meets the tolerance, if a few turns lead to one.

    Otherwise the engine holds the outputs of the result again.
    """
    kept = task.engine.keep()
    theta = _lighter(left_out, task, result)
    turns = FEW_TURNS if task.max_iter is None else min(FEW_TURNS, task.max_iter - result.n_iter)
    few = replace(task, alpha=result.alpha, theta=theta, max_iter=turns, watch=silent)
    machine = chunking(few, keep_weights)
    if machine.converged:
        return replace(machine, n_iter=result.n_iter + machine.n_iter, history=result.history)
    task.engine.restore(result.alpha, kept)
    return None


def _without(left_out: np.ndarray, task: Task, result: Result, s: np.ndarray) -> Result:
    """Return the result without some kernels, given s, shape (M,), and certified anew."""
    theta = _lighter(left_out, task, result)
    F = task.engine.combined(theta)
    certificate = task.problem.certificate(result.alpha, F, s, theta)
    return replace(result, **vars(certificate), weights=theta)


def _lighter(left_out: np.ndarray, task: Task, result: Result) -> np.ndarray:
    """Return the weights of a result, shape (M,), without some of them."""
    theta = result.weights.copy()
    theta[left_out] = 0.0
    return theta / task.problem.norm.value(theta)
