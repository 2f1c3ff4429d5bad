"""Exact zeros at p = 1: weights that the certificate does not need are dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .certifier import certified
from .result import Result
from .run import Run
from .solver import Solver

SMALL_WEIGHT = 1e-2  # relative to the largest weight
ADAPTED_GAP = 0.3  # fraction of the tolerance to which alpha is improved after weights are dropped


@dataclass(frozen=True)
class DropSmallWeights:
    """Solve a problem, then set as many small weights to zero as the tolerance allows.

    Interior point methods only approach the zeros of a sparse solution.

    Parameters
    ----------
    solver : Solver
        Finds alpha and the weights.
    inner : Solver
        Improves alpha under fixed weights.
    iterations : int
        Maximum number of iterations that improve alpha after weights are dropped.
    """

    solver: Solver
    inner: Solver = field(repr=False)
    iterations: int

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), then drop small weights."""
        result = self.solver.solve(problem, engine, weights, run)
        unchanged = not weights.all() and np.array_equal(result.weights, weights)
        if unchanged or problem.constant_is_optimal(result.dual):
            return result
        return self._dropped(problem, engine, result, run)

    def _dropped(self, problem: Problem, engine: Engine, result: Result, run: Run) -> Result:
        """Return a result with small weights set to 0 as far as its gap stays below the tolerance.

        First all small weights are dropped and alpha is improved for the others. If the gap stays
        too large, alpha is restored, and bisection finds the number of weights to drop: the gap
        grows with this number.
        """
        limit = max(run.tol, result.gap)
        rising = np.argsort(result.weights, kind="stable")
        least, lightest = int(np.count_nonzero(result.weights == 0)), result
        most = int(np.count_nonzero(result.weights < SMALL_WEIGHT * result.weights.max()))
        if most <= least:
            return result
        theta = _without(rising[:most], problem, result)
        if adapted := self._adapted(theta, problem, engine, result, run):
            return adapted
        s, count = engine.quadratic(), most
        while least < most:
            theta = _without(rising[:count], problem, result)
            F, origin = engine.combined(theta), engine.origin
            certificate = problem.certificate(engine.alpha, F, s, theta, origin)
            if certificate.gap <= limit:
                least, lightest = count, replace(result, **vars(certificate), weights=theta)
            else:
                most = count - 1
            count = (least + most + 1) // 2
        return lightest

    def _adapted(
        self, theta: np.ndarray, problem: Problem, engine: Engine, result: Result, run: Run
    ) -> Result | None:
        """Return a model with weights theta, shape (M,), whose gap is below the tolerance.

        alpha adapts to the weights in a few iterations. If the gap stays above the tolerance, the
        result is None, and the engine returns to the alpha of `result`.
        """
        left = run.budget.iterations_left
        iterations = self.iterations if left is None else min(self.iterations, left)
        before = engine.snapshot() if iterations else None
        certificate, n_iter = certified(problem, engine, theta), result.n_iter
        if certificate.gap > run.tol and before is not None:
            inner = run.inner(ADAPTED_GAP * run.tol, iterations)
            n_iter += self.inner.solve(problem.with_weights(theta), engine, theta, inner).n_iter
            certificate = certified(problem, engine, theta)
        if certificate.gap <= run.tol:
            return replace(
                result,
                **vars(certificate),
                alpha=engine.alpha.copy(),
                weights=theta,
                n_iter=n_iter,
                converged=True,
            )
        if before is not None:
            engine.move_to(*before)
            run.notify(engine.alpha, result.weights)
        return None


def _without(dropped: np.ndarray, problem: Problem, result: Result) -> np.ndarray:
    """Return the weights of a result, shape (M,), with some of them set to 0."""
    theta = result.weights.copy()
    theta[dropped] = 0.0
    return theta / problem.norm.value(theta)
