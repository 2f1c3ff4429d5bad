"""Two-stage baselines: weights from alignments, then one machine with these weights.

The weights do not come from the problem, so its gap would stay open. What is certified is the
machine: the same problem with the weights fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..losses import Loss
from ..problem import Problem, Result
from ..steps.base import keep_weights
from .chunking import Budget, chunking
from .wrapper import Fixed


def two_stage(weigh: Callable[[Engine, np.ndarray], np.ndarray]) -> Callable:
    """Return the solver whose weights are those of `weigh(engine, y)`, scaled to norm 1.

    Where no kernel is aligned with the targets, the weights stay as they start.
    """

    def solve(
        problem: Problem,
        engine: Engine,
        alpha: np.ndarray,
        theta: np.ndarray,
        budget: Budget,
        interleaved: bool,
    ) -> Result:
        counted = np.flatnonzero(problem.C)
        weights = weigh(engine.subset(counted), problem.y[counted])
        if weights.any():
            theta = weights / problem.norm.value(weights)
        alone = replace(problem, norm=Fixed(theta))
        return chunking(alone, engine, keep_weights, alpha, theta, budget)

    return solve


def has_targets(loss: Loss) -> bool:
    """Whether there are targets to align with."""
    return loss.kind != "one-class"
