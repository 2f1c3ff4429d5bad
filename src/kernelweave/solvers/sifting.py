"""Sifting: p = 1 with very many kernels, solved on some of them at a time.

At p = 1 few kernels have weight, and the dual value needs only max_m s_m of the others. So the
problem is solved on a sample of the kernels; then all kernels are looked at once, which certifies
the model among all of them, and those that would have had weight join the sample.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..norms import Lp, Norm
from ..problem import Problem, Progress, Result
from .chunking import Budget
from .optimality import costs

FIRST = 2000  # kernels of the first sample
ENTER = 1000  # kernels that join it after a look, at most
LOOKS = 4
INNER = 0.5  # part of the tolerance to which a sample is solved


class Solver(Protocol):
    """A solver of p = 1 that needs the outputs of all kernels that it is given."""

    def solve(self, problem, engine, alpha, theta, budget, interleaved=True) -> Result:
        """Solve a problem."""


def sift(solver: Solver, problem: Problem, engine: Any, budget: Budget) -> Result:
    """Solve a problem by solving it on samples of the kernels of a `StreamedEngine`."""
    M, started = engine.n_kernels, time.perf_counter()
    cost = costs(problem.norm, M)
    chosen = _spread(np.arange(M), FIRST)
    inner = replace(budget, tol=INNER * budget.tol, watch=_quiet)
    history: list[Progress] = []
    rounds = 0
    while True:
        part = engine.part(chosen)
        small = replace(problem, norm=_among(problem.norm, chosen))
        start = np.zeros(engine.n), small.norm.start(len(chosen))
        result = solver.solve(small, part, *start, inner)
        rounds += result.n_iter
        s, theta = engine.quadratic(result.alpha), np.zeros(M)
        theta[chosen] = result.weights
        F = part.combined(result.weights)
        certificate = problem.certificate(result.alpha, F, s, theta)
        seconds = time.perf_counter() - started
        history.append(Progress(**vars(certificate), seconds=seconds, weights=theta))
        budget.watch(history[-1])
        entering = np.flatnonzero(s / cost > (s / cost)[chosen].max())
        converged = certificate.gap <= budget.tol
        if converged or not entering.size or len(history) == LOOKS:
            return Result(
                **vars(certificate),
                alpha=result.alpha,
                weights=theta,
                n_iter=rounds,
                history=history,
                converged=converged,
            )
        chosen = np.union1d(chosen, _spread(entering, ENTER))


def _spread(kernels: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the kernels, evenly spread: neighbours are often alike."""
    return kernels[np.unique(np.linspace(0, len(kernels) - 1, count).astype(int))]


def _among(norm: Norm, chosen: np.ndarray) -> Norm:
    """Return the norm of the weights of some kernels."""
    if isinstance(norm, Lp) and norm.weights is not None:
        return replace(norm, weights=tuple(np.array(norm.weights)[chosen]))
    return norm


def _quiet(progress: Progress) -> None:
    """Samples of the kernels are nothing to report."""
