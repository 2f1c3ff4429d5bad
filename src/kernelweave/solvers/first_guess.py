"""A first guess at p = 1: the kernels that matter on some of the examples.

Which of many kernels have weight shows on a few hundred examples, where all kernels together cost
little. What the guess misses is found when all kernels are looked at (`sifting`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Result
from .sifting import among, spread
from .start import first_task
from .task import Task
from .working_set import every_kth

ROOM = 2**22  # values of kernels inside the sample of the examples: 32 MB
MOST = 2000  # kernels that are tried
FEW = 8  # kernels that are guessed, or more where more have weight
ROUGH = 1e-2  # gap of the sample's machine


def first_guess(solve: Callable[[Task], Result], task: Task) -> tuple[Task, np.ndarray]:
    """Return the task with a better start, and the kernels to begin with, sorted.

    Parameters
    ----------
    solve : solves p = 1.
    task : its engine is a `StreamedEngine`.
    """
    engine: Any = task.engine
    tried = spread(np.arange(engine.n_kernels), MOST)
    side = np.sqrt(ROOM / len(tried))
    idx = every_kth(task.problem.y, int(np.ceil(engine.n / side)))
    part = engine.subset(idx).part(tried)
    limits = {"max_iter": task.max_iter, "deadline": task.deadline}
    small = first_task(_restricted(task, idx, tried), part, tol=ROUGH, **limits)
    result = solve(small)
    height = part.quadratic(result.alpha) / small.problem.norm.costs(len(tried))
    likely = np.union1d(np.argsort(-height)[:FEW], np.flatnonzero(result.weights))
    alpha, theta = task.alpha.copy(), np.zeros(engine.n_kernels)
    theta[tried] = result.weights
    if not alpha.any():  # zero is feasible, so this is
        alpha[idx] = result.alpha
    return replace(task, alpha=alpha, theta=theta), tried[likely]


def _restricted(task: Task, idx: np.ndarray, kernels: np.ndarray) -> Any:
    """Return the problem of some examples and kernels.

    Costs are as they were, not raised as in `Problem.sample`: the alphas found here are kept.
    """
    problem = task.problem
    y, C = problem.y[idx], problem.C[idx]
    tau = problem.tau * C.sum() / problem.C.sum()
    return replace(problem, y=y, C=C, tau=tau, norm=among(problem.norm, kernels))
