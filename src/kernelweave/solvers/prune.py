"""Exact zeros at p = 1: weights that the certificate does not need are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Result
from .task import Task

SMALL = np.geomspace(1e-3, 1e-12, 10)  # relative to the largest weight, boldest first


def prune(task: Task, result: Result) -> Result:
    """Return a result without its small weights, as many as leave its gap at tol or where it was.

    Interior methods only come close to the zeros of a sparse solution. alpha stays as it is.
    """
    problem, engine = task.problem, task.engine
    s = engine.quadratic(result.alpha)
    for small in SMALL:
        theta = np.where(result.weights < small * result.weights.max(), 0.0, result.weights)
        theta /= problem.norm.value(theta)
        certificate = problem.certificate(result.alpha, engine.combined(theta), s, theta)
        if certificate.gap <= max(task.tol, result.gap):
            return replace(result, **vars(certificate), weights=theta)
    return result
