"""Folds: models are trained without some examples, which are held out.

All folds share one engine and its cache. Held-out examples have cost 0, so that their alphas are 0.
The engine's outputs are then their decision values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..engines import Engine
from ..norms import Norm
from ..optimization.path import follow
from ..optimization.result import Result
from ..problem.problem import Problem
from .fit import Fit
from .prepared import Prepared

if TYPE_CHECKING:
    from .base import MKLEstimator


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

        The engine must be at the alpha of the result: call this before the next fit.
        """
        F = self.engine.combined(result.weights).reshape(problem.n_outputs, -1)
        return np.asarray(F[:, self.test] + np.reshape(result.bias, (-1, 1)))


@dataclass(frozen=True, eq=False)
class FoldTrainer:
    """Trains the models of folds with the parameters of an estimator, on one engine.

    Parameters
    ----------
    estimator : MKLEstimator
        Gives the solver, the tolerance and the other parameters.
    prepared : Prepared
        Kernels, examples and engine.
    deadline : callable
        Returns the time of `time.monotonic` at which the next fit must stop.
    notify : callable, optional
        Called with each result.
    """

    estimator: MKLEstimator
    prepared: Prepared
    deadline: Callable[[], float]
    notify: Callable[[Result], None] | None = None

    def solve(self, engine: Engine, problem: Problem, weights: np.ndarray | None = None) -> Result:
        """Solve the problem of a fold.

        The fit starts from the engine's alpha and from the given weights, shape (M,). Without
        weights the plan chooses the start. The rounding error of the gap is not computed.
        """
        fit = Fit(self.estimator, self.prepared, deadline=self.deadline(), final=False)
        result = fit.solve(problem, engine, weights)
        if self.notify is not None:
            self.notify(result)
        return result

    def along_grid(
        self,
        problems: list[Problem],
        test: np.ndarray,
        norms: Sequence[Norm],
        Cs: np.ndarray,
        *,
        shared: bool = False,
    ) -> np.ndarray:
        """Return the decision values of held-out examples for every norm and C.

        Parameters
        ----------
        problems : list of Problem
            The problem of each output, or one problem of all outputs. Costs are those at C = 1,
            and 0 for held-out examples.
        test : ndarray of shape (t,)
            Positions of the held-out examples.
        norms : sequence of Norm
            Norms of all M kernel weights.
        Cs : ndarray of shape (n_Cs,)
            Values of C.
        shared : bool
            Whether the outputs share their weights.

        Returns
        -------
        ndarray of shape (n_norms, n_Cs, outputs, t)
        """
        suited, engine = self.prepared.suited(problems, shared=shared)
        here = [self.prepared.suited_norm(norm) for norm in norms]
        fold, first = Fold(engine, test), 0
        values = np.empty((len(norms), len(Cs), sum(one.n_outputs for one in suited), len(test)))
        for problem in suited:
            rows = slice(first, first := first + problem.n_outputs)
            path = follow(
                problem, engine, here, Cs, lambda one, theta: self.solve(engine, one, theta)
            )
            for i, j, result in path:
                values[i, j, rows] = fold.values(problem, result)
        return values


def without(problem: Problem, test: np.ndarray) -> Problem:
    """Return a problem whose held-out examples have cost 0, for each of its outputs."""
    costs = problem.C.reshape(problem.n_outputs, -1).copy()
    costs[:, test] = 0.0
    return problem.with_costs(costs.ravel())
