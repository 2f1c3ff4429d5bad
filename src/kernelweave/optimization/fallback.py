"""A solver that takes over if another one stalls, or if there are few examples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .result import Result
from .run import Run
from .solver import Solver


@dataclass(frozen=True)
class Fallback:
    """Solve a problem by one solver; if it stalls, continue with another one.

    Parameters
    ----------
    first : Solver
        Solves the problem until it stalls.
    then : Solver
        Continues from the alpha and weights of `first`.
    above : int
        Problems with at most this many examples are solved by `then` alone.
    """

    first: Solver
    then: Solver
    above: int = field(default=0, repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        if engine.n <= self.above:
            return self.then.solve(problem, engine, weights, run)
        result = self.first.solve(problem, engine, weights, run)
        if result.converged or run.budget.spent:
            return result
        return self.then.solve(problem, engine, result.weights, run.continued())
