"""Single precision first: the gap is closed in single precision, then certified in double."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .result import Result
from .run import Run
from .solver import Solver

SHARE = 0.9  # a problem is solved in single precision to this fraction of the tolerance,
LEAST_GAP = 2e-4  # but to no smaller gap than this: rounding of outputs changes gaps by about 1e-5


@dataclass(frozen=True)
class SinglePrecision:
    """Solve in single precision, then continue in double precision.

    Parameters
    ----------
    first : Solver
        Solver in single precision.
    then : Solver
        Solver in double precision, which starts from the solution of `first`.
    """

    first: Solver
    then: Solver

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        single = run.in_single_precision(max(SHARE * run.tol, LEAST_GAP))
        engine.single_precision = True
        result = self.first.solve(problem, engine, weights, single)
        run.absorb(single)
        engine.single_precision = False
        return self.then.solve(problem, engine, result.weights, run)
