"""Exact zeros at p = 1: weights that the certificate does not need are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Result
from .task import Task

SMALL = 1e-3  # relative to the largest weight: larger ones stay


def prune(task: Task, result: Result) -> Result:
    """Return a result without its small weights, as many as leave its gap at tol or where it was.

    Interior methods only come close to the zeros of a sparse solution. alpha stays as it is. The
    more weights are left out, the wider the gap, as a rule: their number is found by bisection.
    """
    limit = max(task.tol, result.gap)
    s = task.engine.quadratic(result.alpha)
    rising = np.argsort(result.weights, kind="stable")
    least = 0
    most = count = int(np.count_nonzero(result.weights < SMALL * result.weights.max()))
    pruned = result
    while least < most:
        lighter = _without(rising[:count], task, result, s)
        if lighter.gap <= limit:
            least, pruned = count, lighter
        else:
            most = count - 1
        count = (least + most + 1) // 2
    return pruned


def _without(left_out: np.ndarray, task: Task, result: Result, s: np.ndarray) -> Result:
    """Return the result without some kernels, given s, shape (M,), and certified anew."""
    theta = result.weights.copy()
    theta[left_out] = 0.0
    theta /= task.problem.norm.value(theta)
    F = task.engine.combined(theta)
    return replace(
        result, **vars(task.problem.certificate(result.alpha, F, s, theta)), weights=theta
    )
