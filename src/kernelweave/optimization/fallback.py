"""A solver that takes over where another one stalls."""

from __future__ import annotations

from dataclasses import dataclass

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
    then : Solver
        Starts at the alpha and weights of the first.
    """

    first: Solver
    then: Solver

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        result = self.first.solve(problem, engine, weights, run)
        if result.converged or run.budget.spent:
            return result
        return self.then.solve(problem, engine, result.weights, run.continued())
