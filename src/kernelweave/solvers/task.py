"""What a solver is given: a problem, its examples, where to start, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import Engine
from ..norms import Fixed
from ..problem import Problem, Progress


def silent(progress: Progress) -> None:
    """Tell nobody: what happens inside a larger task is nothing to report."""


@dataclass(frozen=True, eq=False)
class Task:
    """A problem to be solved from where an engine stands.

    Attributes
    ----------
    problem : what is solved.
    engine : holds the n examples, and the outputs of `alpha`. A solver leaves those of its result.
    alpha : array of shape (n,), feasible
    theta : array of shape (M,), feasible
    tol : relative duality gap at which to stop.
    max_iter : bound on the number of turns, or None.
    deadline : time (`time.monotonic`) at which to stop; whoever works for long looks at `late`.
    working_set : number of examples worked on in a turn.
    interleaved : whether weights may change before a machine is complete.
    watch : is told of every turn.
    """

    problem: Problem
    engine: Engine
    alpha: np.ndarray
    theta: np.ndarray
    tol: float = 1e-3
    max_iter: int | None = None
    deadline: float = np.inf
    working_set: int = 1000
    interleaved: bool = True
    watch: Callable[[Progress], None] = silent

    @property
    def late(self) -> bool:
        """Whether time has run out."""
        return time.monotonic() >= self.deadline

    def subset(self, idx: np.ndarray, set_aside: float = 0.0) -> Task:
        """Return the task of some examples of one machine.

        The alphas of its other examples stay as they are, and add up to `set_aside`.
        """
        return replace(
            self,
            problem=self.problem.subset(idx, set_aside),
            engine=self.engine.subset(idx),
            alpha=self.alpha[idx],
            watch=silent,
        )

    def with_weights(self, theta: np.ndarray) -> Task:
        """Return the task of the machines whose combination has fixed weights, shape (M,)."""
        return replace(self, problem=replace(self.problem, norm=Fixed(theta)), theta=theta)
