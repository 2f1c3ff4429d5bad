"""Sifting (column generation): p = 1 with many kernels, solved on a growing set of kernels.

At p = 1 few kernels have weight, and the dual value depends on the others only by max_m s_m. So the
problem is solved on a sample of the kernels. One pass over all kernels then certifies the model for
the full problem, and some of the kernels that violate their KKT condition join the sample.

The first sample comes from a few hundred examples, on which all kernels together cost little. With
thousands of kernels, the problem is first solved on every 16th kernel, also by sifting. Passes over
these are cheap, and few passes over all kernels remain (partial pricing in the simplex method).

Here s_m = alpha' K_m alpha, and c_m is the cost of kernel m in the norm, sum_m c_m theta_m = 1.
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

INNER_TOL = 0.5  # gap to which the last sample is solved, relative to the tolerance
EARLY_FACTOR = 0.1  # gap to which the next sample is solved, relative to the gap of all kernels
EARLY_TOL = 5e-4  # largest gap to which a sample is solved while kernels are missing
ENTER = 64  # maximum number of kernels that join a sample at a time
# The first guess.
ROOM = 2**22  # kernel values in memory: 32 MB
MOST_KERNELS = 2000  # maximum number of kernels
MOST_FOR_STEPS = 120  # the same if weight steps need M^3 operations
FEW = 8  # minimum number of kernels in the first sample
GUESS_TOL = 1e-2  # relative duality gap
# The first sifting, on some of the kernels.
MANY = 5000  # minimum number of kernels
SHARE = 16  # every 16th kernel takes part

Solve = Callable[[Problem, Engine, np.ndarray, Run], Result]


def at_spaced_ranks(kernels: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return at most `ENTER` of some kernels, at geometrically spaced ranks of their `height`.

    The height of kernel m is alpha' K_m alpha / c_m, with its cost c_m in the norm. The
    kernels of the first ranks alone would often be near-duplicates of each other.
    """
    ranks = np.unique(np.geomspace(1, max(len(kernels), 1), ENTER).astype(int)) - 1
    return kernels[np.argsort(-height)[ranks[: len(kernels)]]]


@dataclass(frozen=True)
class Sifting:
    """Solve p = 1 on growing samples of the kernels of a streamed engine.

    Attributes
    ----------
    on_sample : callable
        Solves p = 1 on a sample, whose outputs are cached.
    join : callable
        Returns the kernels that join the sample, from the kernels that violate their KKT condition
        and their s_m / c_m.
    enough : callable
        Additional stopping criterion. Its arguments are the result of a sample, and the excess of
        max s_m / c_m over all kernels above that of the sample.
    max_passes : float
        Maximum number of passes over all kernels.
    early_tol : float
        Gap to which a sample is solved while the gap of all kernels is larger.
    inner_tol : float
        Gap to which the last sample is solved, relative to the tolerance.
    """

    on_sample: Solve
    join: Callable[[np.ndarray, np.ndarray], np.ndarray] = at_spaced_ranks
    enough: Callable[[Result, float], bool] = lambda result, excess: True
    max_passes: float = np.inf
    early_tol: float = EARLY_TOL
    inner_tol: float = INNER_TOL

    def solve(
        self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run, chosen: np.ndarray
    ) -> Result:
        """Return the model with the smallest gap among all kernels; the engine has its alpha.

        Parameters
        ----------
        problem : Problem
        engine : StreamedEngine
        weights : ndarray of shape (M,)
            Initial weights.
        run : Run
        chosen : ndarray of int
            Kernels of the first sample, sorted.

        Returns
        -------
        Result
        """
        last = self.inner_tol * run.tol
        tol, best = max(last, self.early_tol), None
        while True:
            observe = of_kernels(run.observe, chosen, engine.n_kernels)
            inner = run.inner(tol, run.budget.iterations_left, observe=observe)
            norm, part = problem.norm.among(chosen), _streamed(engine).of_kernels(chosen)
            theta = weights[chosen] / norm.value(weights[chosen])
            result = self.on_sample(replace(problem, norm=norm), part, theta, inner)
            F = part.combined(result.weights)
            weights = placed(result.weights, chosen, engine.n_kernels)
            engine.move_to(result.alpha, F, weights)
            engine.accumulated_update[:] = part.accumulated_update
            s = engine.quadratic()
            certificate = problem.certificate(result.alpha, F, s, weights)
            run.record(certificate, weights, result.n_iter)
            height = s / problem.norm.costs(len(s))
            highest = height[chosen].max()
            beyond = np.flatnonzero(height > highest)
            good = run.converged and self.enough(result, float(height.max() - highest))
            spent = run.budget.spent or len(run.log.entries) == self.max_passes
            exact = tol == last or not result.converged
            found = replace(run.result(certificate, result.alpha, weights), converged=good)
            best = found if best is None or good or found.gap < best.gap else best
            if good or spent or (exact and not beyond.size):
                if best is not found:
                    engine.move_to(best.alpha)
                    best = replace(best, n_iter=found.n_iter, late=found.late)
                return best
            chosen = np.union1d(chosen, self.join(beyond, height[beyond]))
            tol = max(last, min(self.early_tol, EARLY_FACTOR * certificate.gap))

    def among_some(
        self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run, chosen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and a sample of kernels, from a solution on every `SHARE`-th kernel.

        The problem on these kernels and those in `chosen` is solved by `solve`, which has the same
        parameters. The alpha of the engine becomes that of the solution.

        Returns
        -------
        weights : ndarray of shape (M,)
        kernels : ndarray of int, sorted
            The kernels of positive weight, and a few with the largest s_m / c_m.
        """
        M = engine.n_kernels
        some = np.union1d(spread(np.arange(M), M // SHARE), chosen)
        part, small = _streamed(engine).among(some), replace(problem, norm=problem.norm.among(some))
        inner = run.unobserved(run.tol, run.budget.iterations_left)
        result = self.solve(small, part, weights[some], inner, np.searchsorted(some, chosen))
        run.budget.used += result.n_iter
        engine.move_to(result.alpha)
        height = part.quadratic() / small.norm.costs(len(some))
        likely = np.union1d(np.argsort(-height)[:FEW], np.flatnonzero(result.weights))
        return placed(result.weights, some, M), some[likely]


@dataclass(frozen=True)
class SiftedKernels:
    """Solve p = 1 on a growing set of kernels, and certify the model among all kernels.

    Parameters
    ----------
    solver : Solver
        Solves p = 1 on some of the kernels, whose outputs fit in memory.
    """

    solver: Solver

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        solve, likely = self.solver.solve, np.flatnonzero(weights)
        sifting = Sifting(solve)
        if len(likely) == len(weights):  # not a warm start with sparse weights
            weights, likely = first_guess(solve, problem, engine, run, MOST_FOR_STEPS)
            if len(weights) >= MANY:
                weights, likely = sifting.among_some(problem, engine, weights, run, likely)
        return sifting.solve(problem, engine, weights, run, likely)


def spread(kernels: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the kernels, evenly spaced since neighbours are often similar."""
    return kernels[np.unique(np.linspace(0, len(kernels) - 1, count).astype(int))]


def first_guess(
    solve: Solve, problem: Problem, engine: Engine, run: Run, most_kernels: int = MOST_KERNELS
) -> tuple[np.ndarray, np.ndarray]:
    """Return initial weights and a first sample of kernels, from a solution on few examples.

    If the engine is at alpha = 0, it is moved to the alpha of that solution, which is feasible
    since the costs of the examples are unchanged.

    Parameters
    ----------
    solve : callable
        Solves p = 1.
    problem : Problem
    engine : StreamedEngine
    run : Run
    most_kernels : int
        Maximum number of kernels in the small problem.

    Returns
    -------
    weights : ndarray of shape (M,)
    kernels : ndarray of int, sorted
    """
    tried = spread(np.arange(engine.n_kernels), most_kernels)
    side = np.sqrt(ROOM / len(tried))
    idx = every_kth(problem.y, int(np.ceil(engine.n / side)))
    tau = problem.tau
    if tau is not None:
        tau = tau * float(problem.C[idx].sum() / problem.C.sum())
    small = replace(problem.restricted(idx, tau), norm=problem.norm.among(tried))
    part = _streamed(engine).subset(idx).of_kernels(tried)
    part.move_to(small.risk.feasible_alpha())
    start = small.norm.start(len(tried))
    result = solve(small, part, start, run.unobserved(GUESS_TOL, run.budget.max_iter))
    height = part.quadratic() / small.norm.costs(len(tried))
    likely = np.union1d(np.argsort(-height)[:FEW], np.flatnonzero(result.weights))
    if not engine.alpha.any():
        engine.change(idx, result.alpha)
    return placed(result.weights, tried, engine.n_kernels), tried[likely]


def _streamed(engine: Engine) -> StreamedEngine:
    """Return the engine if it is a `StreamedEngine`; raise TypeError otherwise."""
    if not isinstance(engine, StreamedEngine):
        raise TypeError(f"{type(engine).__name__} cannot choose among its kernels")
    return engine
