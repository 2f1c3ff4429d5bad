"""Weights from a sample: where to start, if every change of the weights is dear.

From equal weights to sparse ones it takes several steps. Each of them waits for a good machine on
all examples, and an engine that keeps combined outputs begins again after it. A sample knows the
best weights roughly, at a small part of the price: each of its examples stands for several, so that
it is the same problem with fewer terms. Where new weights cost nothing a sample gains nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..steps.base import Step
from .start import first_task
from .task import Task
from .working_set import every_kth
from .wrapper import alternate

EVERY = 4  # one of so many examples is in the sample
FEW = 1000  # examples with which a solver may begin at once
ROUGH = 0.1  # the gap on a sample


def sampled_weights(task: Task, make_step: Callable[[], Step]) -> np.ndarray:
    """Return weights to start from, shape (M,): those of a sample, if the task starts afresh.

    The sample starts from a sample as well, while that is not small.
    """
    problem = task.problem
    chosen = every_kth(problem.y, EVERY)
    if not (_is_worth_it(task) and problem.C[chosen].any()):
        return task.theta
    small = first_task(
        problem.sample(chosen),
        task.engine.subset(chosen),
        tol=max(ROUGH, task.tol),
        max_iter=task.max_iter,
        deadline=task.deadline,
        working_set=task.working_set,
    )
    small = replace(small, theta=sampled_weights(small, make_step))
    return alternate(small, make_step()).weights


def _is_worth_it(task: Task) -> bool:
    """Return whether one machine starts afresh, on many examples, and new weights are dear."""
    dear = task.engine.turns_per_step > 1
    large = len(task.alpha) >= FEW and task.problem.machines == 1
    return dear and large and np.array_equal(task.theta, task.problem.norm.start(len(task.theta)))
