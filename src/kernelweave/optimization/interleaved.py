"""The interleaved schedule: a weight step after every working set.

Sonnenburg et al. (2006) and Kloft et al. (2011) call it the chunking-based algorithm. The inner
problem is never solved to optimality before the weights move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .inner.working_sets import WorkingSets
from .iterate import Iterate
from .result import Result
from .run import Run
from .steps.base import WeightStep


@dataclass(frozen=True)
class Interleaved:
    """Alternate between one working set and one weight step.

    Parameters
    ----------
    inner : WorkingSets
        Improves alpha on one working set at a time.
    step : WeightStep
        Computes the next weights.
    """

    inner: WorkingSets
    step: WeightStep

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        method, step = self.inner.begin(problem, engine, run), self.step.begin(problem, engine)

        def solve_inner(theta: np.ndarray) -> Iterate:
            self.inner.solve(problem.with_weights(theta), engine, theta, run.inner(run.tol))
            return Iterate.of(method, theta, solve_inner, run.tol)

        iterations = 0
        while True:
            iterate = Iterate.of(method, weights, solve_inner, run.tol)
            if iterations:  # the first certificate, before any iteration, may already end the run
                weights = step(iterate)
            certificate = method.certify(weights, iterate.s)
            run.record(certificate, weights, iterations, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)
            method.advance(weights, all_active=False, wanted=run.tol / certificate.gap)
            iterations = 1
