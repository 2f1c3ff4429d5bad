"""Sifting: p = 1 with many kernels, solved on some of them at a time.

At p = 1 few kernels have weight, and the dual value needs only max_m s_m of the others. So the
problem is solved on a sample of the kernels; then all kernels are looked at once, which certifies
the model among all of them, and of those that would have had weight some join the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..norms import Lp, Norm
from ..problem import Certificate, Result
from .journal import Journal
from .task import Task, silent

INNER = 0.5  # part of the tolerance to which the last sample is solved,
EARLIER = 0.1  # and part of the gap among all kernels to which the next sample is


def any_result(result: Result, excess: float) -> bool:
    """Return True: the gap alone says when to stop."""
    return True


def sift(
    solve: Callable[[Task], Result],
    task: Task,
    chosen: np.ndarray,
    join: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    looks: float = np.inf,
    rough: float = 0.0,
    enough: Callable[[Result, float], bool] = any_result,
) -> Result:
    """Solve a task by solving it on samples of the kernels of its `StreamedEngine`.

    Parameters
    ----------
    solve : solves p = 1, keeping the outputs of all the kernels that it is given.
    chosen : the first sample, sorted.
    join : from kernels beyond the sample and their s_m / c_m to those that join it.
    looks : at all kernels, at most.
    rough : gap that will do for a sample as long as the gap among all kernels is wider.
    enough : says of the result of a sample, and of how far s_m / c_m of other kernels exceeds that
        of the sample, whether it will do where the gap does.
    """
    journal, turns, tol = Journal(task), 0, max(INNER * task.tol, rough)
    while True:
        sample = replace(_sample(task, chosen, turns), tol=tol)
        result = solve(sample)
        turns += result.n_iter
        look = _Look.at(task, chosen, sample, result)
        journal.note(look.certificate, look.theta)
        good = look.certificate.gap <= task.tol and enough(result, look.excess)
        spent = turns == task.max_iter or len(journal.history) == looks or task.late
        exact = tol == INNER * task.tol or not result.converged
        if good or spent or (exact and not look.beyond.size):
            task.engine.rebuild(result.alpha)
            result = journal.result(look.certificate, result.alpha, look.theta, turns)
            return replace(result, converged=good)
        task = replace(task, alpha=result.alpha, theta=look.theta)
        chosen = np.union1d(chosen, join(look.beyond, look.height[look.beyond]))
        tol = max(INNER * task.tol, min(rough, EARLIER * look.certificate.gap))


@dataclass(frozen=True, eq=False)
class _Look:
    """What all kernels say of the result of a sample.

    Attributes
    ----------
    certificate : that of the result among all kernels.
    theta : array of shape (M,)
        The weights.
    height : array of shape (M,)
        s_m / c_m.
    beyond : kernels that are higher than all of the sample.
    excess : how much higher.
    """

    certificate: Certificate
    theta: np.ndarray
    height: np.ndarray
    beyond: np.ndarray
    excess: float

    @classmethod
    def at(cls, task: Task, chosen: np.ndarray, sample: Task, result: Result) -> _Look:
        """Look at all kernels."""
        s, theta = task.engine.quadratic(result.alpha), np.zeros_like(task.theta)
        theta[chosen] = result.weights
        F = sample.engine.combined(result.weights)
        certificate = task.problem.certificate(result.alpha, F, s, theta)
        height = s / task.problem.norm.costs(len(s))
        highest = height[chosen].max()
        beyond = np.flatnonzero(height > highest)
        return cls(certificate, theta, height, beyond, float(height.max() - highest))


def _sample(task: Task, chosen: np.ndarray, turns: int) -> Task:
    """Return the task on some of the kernels, after some turns."""
    engine: Any = task.engine
    part = engine.part(chosen)
    part.rebuild(task.alpha)
    norm, theta = among(task.problem.norm, chosen), task.theta[chosen]
    return replace(
        task,
        problem=replace(task.problem, norm=norm),
        engine=part,
        theta=theta / norm.value(theta),
        max_iter=None if task.max_iter is None else task.max_iter - turns,
        watch=silent,
    )


def spread(kernels: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the kernels, evenly spread: neighbours are often alike."""
    return kernels[np.unique(np.linspace(0, len(kernels) - 1, count).astype(int))]


def among(norm: Norm, chosen: np.ndarray) -> Norm:
    """Return the norm of the weights of some kernels."""
    if isinstance(norm, Lp) and norm.weights is not None:
        return replace(norm, weights=tuple(np.array(norm.weights)[chosen]))
    return norm
