"""Two-stage baselines: weights from alignments, then one machine with these weights.

The weights do not come from the problem, so its gap would stay open. What is certified is the
machine: the same problem with the weights fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engines.base import Engine
from ..losses import Loss
from ..problem import Result
from ..steps.base import keep_weights
from .chunking import chunking
from .task import Task


def two_stage(weigh: Callable[[Engine, np.ndarray], np.ndarray]) -> Callable[[Task], Result]:
    """Return the solver whose weights are those of `weigh(engine, y)`, scaled to norm 1.

    Where no kernel is aligned with the targets, the weights stay as they start.
    """

    def solve(task: Task) -> Result:
        counted, norm = np.flatnonzero(task.problem.C), task.problem.norm
        targets = task.problem.y[counted] + task.problem.centre
        weights = weigh(task.engine.subset(counted), targets)
        theta = weights / norm.value(weights) if weights.any() else task.theta
        return chunking(task.with_weights(theta), keep_weights)

    return solve


def has_targets(loss: Loss) -> bool:
    """Whether there are targets to align with."""
    return loss.kind != "one-class"
