"""Very many kernels at p = 1: time, gap and memory of every solver, up to a million kernels.

`--ours` runs "auto" and "skm" only.
"""

from __future__ import annotations

import resource
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, kernels

from .report import Table
from .settings import Settings
from .timing import blas_threads, in_own_process

QUICK = False
ROWS, COLUMNS, TOL = 208, 60, 0.01
SIZES = (1_200, 2_400, 4_020, 8_040, 12_000, 20_040, 30_000, 40_020, 100_020, 1_000_020)
# "hessian" is the name of Newton steps that older versions know (`benchmarks.against`).
SOLVERS = ("auto", "skm", "hessian", "cutting-plane", "mwu")
MOST = 50_000  # kernels up to which every solver is run
BOTH = 500_000  # kernels up to which `auto` and `skm` are run; above, `auto` alone
ONCE = 100_000  # number of kernels from which a fit is timed once


def measured(solver: str, M: int) -> tuple[float, float, int, float]:
    """Return CPU seconds, gap, number of kernels with weight, and peak memory in GB of a fit.

    The examples are random numbers; the target is a noisy sum of a column and a product of two.
    There are M / 60 widths for each column.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=ROWS) > 0.75
    family = kernels.per_feature(kernels.RBF(gamma=np.geomspace(0.01, 10, M // COLUMNS)))
    model = MKLClassifier(
        family, norm=1, loss="squared_hinge", normalize=None, tol=TOL, solver=solver, n_jobs=1
    )
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return seconds, model.duality_gap_, int(np.count_nonzero(model.weights_)), memory


def solvers(M: int, *, peers: bool) -> tuple[str, ...]:
    """Return the solvers to run with M kernels; `peers` says whether slow ones are wanted."""
    if peers and M <= MOST:
        return SOLVERS
    return SOLVERS[:2] if M <= BOTH else SOLVERS[:1]


def best(names: tuple[str, ...], M: int, repeats: int) -> dict[str, tuple[float, ...]]:
    """Return the result of the fastest fit of each solver.

    Every fit has its own process; the solvers alternate.
    """
    rounds = [
        {solver: in_own_process(measured, solver, M) for solver in names} for _ in range(repeats)
    ]
    return {solver: min(results[solver] for results in rounds) for solver in names}


def run(settings: Settings) -> Table:
    """Fit every size with every solver."""
    columns = ("kernels", "solver", "CPU s", "gap", "kernels with weight", "GB")
    title = f"Very many kernels at p = 1, {ROWS} rows, tol = {TOL}"
    note = "Squared hinge, C = 1, RBF widths on each of 60 columns, one thread; best CPU time."
    table = Table(title, columns, notes=[note])
    for M in settings.sizes or settings.size(SIZES, (120,), SIZES[:3]):
        repeats = settings.repeats if M < ONCE else 1
        for solver, result in best(solvers(M, peers=settings.peers), M, repeats).items():
            row: list[Any] = [f"{M:,}", f"`{solver}`", *result]
            table.add(*row)
            print(*row, flush=True)
    return table
