"""Sifting: p = 1 with very many kernels, solved on some of them at a time.

At p = 1 few kernels have weight, and the dual value needs only max_m s_m of the others. So the
problem is solved on a sample of the kernels; then all kernels are looked at once, which certifies
the model among all of them, and those that would have had weight join the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..norms import Lp, Norm
from ..problem import Result
from .journal import Journal
from .task import Task, silent

FIRST = 2000  # kernels of the first sample
ENTER = 1000  # kernels that join it after a look, at most
LOOKS = 4
INNER = 0.5  # part of the tolerance to which a sample is solved


def sift(solve: Callable[[Task], Result], task: Task) -> Result:
    """Solve a task by solving it on samples of the kernels of its `StreamedEngine`.

    Parameters
    ----------
    solve : solves p = 1, keeping the outputs of all the kernels that it is given.
    """
    M = task.engine.n_kernels
    cost = task.problem.norm.costs(M)
    chosen = _spread(np.arange(M), FIRST)
    journal, rounds = Journal(task), 0
    while True:
        sample = _sample(task, chosen)
        result = solve(sample)
        rounds += result.n_iter
        s, theta = task.engine.quadratic(result.alpha), np.zeros(M)
        theta[chosen] = result.weights
        F = sample.engine.combined(result.weights)
        certificate = task.problem.certificate(result.alpha, F, s, theta)
        journal.note(certificate, theta)
        entering = np.flatnonzero(s / cost > (s / cost)[chosen].max())
        if certificate.gap <= task.tol or not entering.size or len(journal.history) == LOOKS:
            return journal.result(certificate, result.alpha, theta, rounds)
        chosen = np.union1d(chosen, _spread(entering, ENTER))


def _sample(task: Task, chosen: np.ndarray) -> Task:
    """Return the task on some of the kernels, from the beginning."""
    engine: Any = task.engine
    norm = _among(task.problem.norm, chosen)
    return replace(
        task,
        problem=replace(task.problem, norm=norm),
        engine=engine.part(chosen),
        alpha=np.zeros(engine.n),
        theta=norm.start(len(chosen)),
        tol=INNER * task.tol,
        watch=silent,
    )


def _spread(kernels: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the kernels, evenly spread: neighbours are often alike."""
    return kernels[np.unique(np.linspace(0, len(kernels) - 1, count).astype(int))]


def _among(norm: Norm, chosen: np.ndarray) -> Norm:
    """Return the norm of the weights of some kernels."""
    if isinstance(norm, Lp) and norm.weights is not None:
        return replace(norm, weights=tuple(np.array(norm.weights)[chosen]))
    return norm
