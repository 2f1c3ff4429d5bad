"""A fold of a search: some examples train, the others are held out.

All folds share one engine and its cache. A fold trains with cost 0 for the examples that it holds
out, so their alphas are 0, and the engine's outputs are their decision values at no extra cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines import Engine
from ..optimization.result import Result
from ..problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Fold:
    """The held-out examples of a fold, on the engine of all examples.

    Parameters
    ----------
    engine : Engine
        Trains the models of the fold.
    test : ndarray of shape (t,)
        Positions of the held-out examples.
    """

    engine: Engine
    test: np.ndarray

    def values(self, problem: Problem, result: Result) -> np.ndarray:
        """Return the decision values of the held-out examples, shape (outputs, t).

        The engine must still hold the alpha of the result.
        """
        F = self.engine.combined(result.weights).reshape(problem.n_outputs, -1)
        return np.asarray(F[:, self.test] + np.reshape(result.bias, (-1, 1)))
