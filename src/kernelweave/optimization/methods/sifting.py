"""Sifting: p = 1 with many kernels, solved on some of them at a time.

At p = 1 few kernels have weight, and the dual value needs only max_m s_m of the others. So the
problem is solved on a sample of the kernels; then all kernels are looked at once, which certifies
the model among all of them, and of those that would have had weight some join the sample.

Which of many kernels have weight shows on a few hundred examples, where all kernels together cost
little: that is the first guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...engines.base import Engine
from ...engines.streamed import StreamedEngine
from ...problem.problem import Problem
from ..inner.violations import every_kth
from ..observers import of_kernels, placed
from ..result import Result
from ..run import Run
from ..solver import Solver

INNER_FALL = 0.5  # part of the tolerance to which the last sample is solved,
EARLIER_FALL = 0.1  # and part of the gap among all kernels to which the next sample is
ROOM = 2**22  # kernel values among the examples of a first guess: 32 MB
MOST_KERNELS = 2000  # that a guess tries,
GUESSED = 120  # and if weight steps need M^3 operations
ROUGH = 5e-4  # gap to which a sample is solved as long as kernels are missing
ENTER = 16  # kernels that join a sample at a time, at most
FEW = 8  # kernels that it gives, or more where more have weight
GUESS_TOL = 1e-2  # its relative duality gap

Solve = Callable[[Problem, Engine, np.ndarray, Run], Result]


def sift(
    solve: Solve,
    problem: Problem,
    engine: Engine,
    weights: np.ndarray,
    run: Run,
    chosen: np.ndarray,
    join: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    looks: float = np.inf,
    rough: float = 0.0,
    enough: Callable[[Result, float], bool] = lambda result, excess: True,
) -> Result:
    """Solve a problem by solving it on samples of the kernels of an engine that streams.

    Parameters
    ----------
    solve : solves p = 1, keeping the outputs of all the kernels that it is given.
    weights : array of shape (M,)
        Where the weights start.
    chosen : the first sample, sorted.
    join : from kernels beyond the sample and their s_m / c_m to those that join it.
    looks : at all kernels, at most.
    rough : gap to which a sample is solved as long as the gap among all kernels is wider.
    enough : says of the result of a sample, and of how far s_m / c_m of other kernels exceeds that
        of the sample, whether it is good enough once the gap is; by default it is.
    """
    last = INNER_FALL * run.tol
    tol = max(last, rough)
    while True:
        observe = of_kernels(run.observe, chosen, engine.n_kernels)
        inner = run.inner(tol, run.budget.iterations_left, observe=observe)
        norm, part = problem.norm.among(chosen), _streamed(engine).of_kernels(chosen)
        theta = weights[chosen] / norm.value(weights[chosen])
        result = solve(replace(problem, norm=norm), part, theta, inner)
        F, weights = part.combined(result.weights), placed(result.weights, chosen, engine.n_kernels)
        engine.move_to(result.alpha, F, weights)
        engine.accumulated_update[:] = part.accumulated_update
        s = engine.quadratic()
        certificate = problem.certificate(result.alpha, F, s, weights)
        run.record(certificate, weights, result.n_iter)
        height = s / problem.norm.costs(len(s))
        highest = height[chosen].max()
        beyond = np.flatnonzero(height > highest)
        good = run.converged and enough(result, float(height.max() - highest))
        spent = run.budget.spent or len(run.log.entries) == looks
        exact = tol == last or not result.converged
        if good or spent or (exact and not beyond.size):
            return replace(run.result(certificate, result.alpha, weights), converged=good)
        chosen = np.union1d(chosen, join(beyond, height[beyond]))
        tol = max(last, min(rough, EARLIER_FALL * certificate.gap))


@dataclass(frozen=True)
class SiftedKernels:
    """Solve p = 1 on the kernels that seem to matter, and certify the model among all kernels.

    Parameters
    ----------
    solver : Solver
        Solves p = 1 on some of the kernels, whose outputs fit in memory.
    """

    solver: Solver

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        likely = np.flatnonzero(weights)
        if len(likely) == len(weights):  # no earlier run has chosen among the kernels
            weights, likely = first_guess(self.solver.solve, problem, engine, run, GUESSED)
        return sift(self.solver.solve, problem, engine, weights, run, likely, highest, rough=ROUGH)


def highest(kernels: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the kernels that join the sample: the highest, and ever fewer of the others.

    The very highest are often alike.
    """
    ranks = np.unique(np.geomspace(1, max(len(kernels), 1), ENTER).astype(int)) - 1
    chosen: np.ndarray = kernels[np.argsort(-height)[ranks[: len(kernels)]]]
    return chosen


def spread(kernels: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the kernels, evenly spread: neighbours are often alike."""
    chosen: np.ndarray = kernels[np.unique(np.linspace(0, len(kernels) - 1, count).astype(int))]
    return chosen


def first_guess(
    solve: Solve, problem: Problem, engine: Engine, run: Run, most_kernels: int = MOST_KERNELS
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights to start from, shape (M,), and the kernels to begin with, sorted.

    An engine at alpha = 0 is moved to the alphas of the sample, since costs are as they were.

    Parameters
    ----------
    solve : solves p = 1.
    engine : one that streams.
    """
    tried = spread(np.arange(engine.n_kernels), most_kernels)
    side = np.sqrt(ROOM / len(tried))
    idx = every_kth(problem.y, int(np.ceil(engine.n / side)))
    tau = problem.tau * problem.C[idx].sum() / problem.C.sum()
    small = replace(problem.restricted(idx, tau), norm=problem.norm.among(tried))
    part = _streamed(engine).subset(idx).of_kernels(tried)
    part.move_to(small.risk.feasible_alpha())
    start = small.norm.start(len(tried))
    result = solve(small, part, start, run.unobserved(GUESS_TOL, run.budget.max_iter))
    height = part.quadratic() / small.norm.costs(len(tried))
    likely = np.union1d(np.argsort(-height)[:FEW], np.flatnonzero(result.weights))
    if not engine.alpha.any():  # zero is feasible, so this is
        engine.change(idx, result.alpha)
    return placed(result.weights, tried, engine.n_kernels), tried[likely]


def _streamed(engine: Engine) -> StreamedEngine:
    if not isinstance(engine, StreamedEngine):
        raise TypeError(f"{type(engine).__name__} cannot choose among its kernels")
    return engine
