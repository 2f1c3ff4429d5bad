"""Fewer kernels with the same alpha: others take over as long as the model stays a solution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Result
from .optimality import best_weights
from .task import Task


def sparsify(task: Task, result: Result) -> Result:
    """Return a result of p = 1 without the kernels that others can take over, lightest first.

    Removing kernels one by one, with a linear program for the weights of the others (Bach et al.,
    2004). alpha stays, and with it the dual value.
    """
    support = np.flatnonzero(result.weights)
    g = task.engine.outputs_of(support)
    for m in support[np.argsort(result.weights[support], kind="stable")]:
        others = np.flatnonzero((result.weights[support] > 0) & (support != m))
        if result.weights[m] > 0 and others.size:
            lighter = _with_weights(task, result, support[others], g[others])
            result = lighter if lighter is not None and lighter.gap <= task.tol else result
    return result


def _with_weights(task: Task, result: Result, kernels: np.ndarray, g: np.ndarray) -> Result | None:
    """Return the result with the best weights of some kernels, given their outputs, (k, n)."""
    problem, M = task.problem, len(result.weights)
    weights = best_weights(problem, result.alpha, g, problem.norm.costs(M)[kernels])
    if weights is None:
        return None
    theta, s = np.zeros((2, M))
    theta[kernels], s[kernels] = weights, g @ result.alpha
    F = weights @ g
    bias = problem.best_bias(F)
    primal = problem.primal(F, s, theta, bias)
    gap = problem.gap(primal, result.dual)
    return replace(result, primal=primal, gap=gap, bias=bias, weights=theta)
