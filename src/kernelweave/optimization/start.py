"""Starting points of training: a feasible alpha, and the first kernel weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .inner.violations import every_kth
from .run import Run
from .solver import Solver


@runtime_checkable
class Start(Protocol):
    """A rule for the first weights.

    Attributes
    ----------
    fixes_weights : bool
        Whether training keeps these weights.
    """

    @property
    def fixes_weights(self) -> bool: ...

    def weights(self, problem: Problem, engine: Engine, run: Run) -> np.ndarray:
        """Return the first weights, shape (M,). The engine is at a feasible alpha."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Start from equal weights."""

    fixes_weights: ClassVar[bool] = False

    def weights(self, problem: Problem, engine: Engine, run: Run) -> np.ndarray:
        return problem.norm.start(engine.n_kernels)


@dataclass(frozen=True)
class SampleTuning:
    """Sizes and tolerance of the samples on which training starts.

    Attributes
    ----------
    every : a sample has at most about one in this many examples.
    smallest : smallest number of examples for which training starts on a sample.
    largest : largest number of examples in a sample.
    tol : relative duality gap to which a sample is solved.
    """

    every: int = 4
    smallest: int = 1000
    largest: int = 5000
    tol: float = 0.1


@dataclass(frozen=True)
class Sample:
    """Start from the weights learned on a sample, itself started from a smaller sample.

    It takes several weight steps from equal to sparse weights, and each needs an accurate solution
    on all examples. A sample finds approximate weights at a small part of that cost.

    Sampled examples are up-weighted so that the total cost is preserved. Samples are solved in
    single precision if the engine supports it, since their weights are only a start.

    Parameters
    ----------
    solver : Solver
        Solves the problem of a sample.
    """

    solver: Solver
    tuning: SampleTuning = field(default=SampleTuning(), repr=False)
    fixes_weights: ClassVar[bool] = False

    def weights(self, problem: Problem, engine: Engine, run: Run) -> np.ndarray:
        tuning = self.tuning
        chosen = every_kth(problem.y, max(tuning.every, round(engine.n / tuning.largest)))
        if engine.n < tuning.smallest or not problem.C[chosen].any():
            return problem.norm.start(engine.n_kernels)
        factor = problem.C.sum() / problem.C[chosen].sum()
        small, part = problem.restricted(chosen, problem.tau, factor), engine.subset(chosen)
        part.single_precision = True
        weights = self.weights(small, part, run)
        part.move_to(small.risk.feasible_alpha())
        inner = run.unobserved(max(tuning.tol, run.tol), run.budget.max_iter)
        return self.solver.solve(small, part, weights, inner).weights
