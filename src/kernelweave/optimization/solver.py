"""The interface that all solvers share, from a working-set method to a whole schedule."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .result import Result
from .run import Run


@runtime_checkable
class Solver(Protocol):
    """A method that improves alpha, and the kernel weights unless they are fixed.

    Solvers are small frozen objects that contain other solvers: `Wrapper(inner=WorkingSets(...),
    step=Newton(...))`. Their state lives in `solve`.
    """

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights until the run is finished.

        Parameters
        ----------
        problem : Problem
        engine : Engine
            Stores a feasible alpha; it ends at the alpha of the result.
        weights : ndarray of shape (M,)
            Initial weights.
        run : Run
            Tolerance, budget and log.

        Returns
        -------
        Result
        """
        ...
