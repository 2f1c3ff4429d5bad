"""A thousand kernels: seconds for 1,000 RBF widths on 1,000 points at p = 1."""

from __future__ import annotations

from functools import partial

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads


def fit(problem: data.Data, M: int, n_jobs: int) -> MKLClassifier:
    """Learn sparse weights of M widths."""
    family = kernels.RBF(gamma=list(np.geomspace(1e-3, 1.0, M)))
    return MKLClassifier(family, norm=1.0, normalize=None, n_jobs=n_jobs).fit(problem.X, problem.y)


def run(settings: Settings) -> Table:
    """Time with one thread and with two."""
    problem, M = data.generated(settings.size(1000, 100, 700)), settings.size(1000, 20)
    sides = {n_jobs: partial(fit, problem, M, n_jobs) for n_jobs in (1, 2)}
    with blas_threads(1):
        times = alternate(sides, settings.repeats)
    columns = ("n_jobs", "s", "turns", "kernels used", "gap")
    title = f"{M:,} RBF widths, {problem.label}, p = 1"
    table = Table(title, columns, notes=["gamma = 0.001 to 1, C = 1, tol = 1e-3; best times."])
    for n_jobs, timing in times.items():
        model = timing.result
        used = int(np.count_nonzero(model.weights_))
        table.add(n_jobs, timing.best, model.n_iter_, used, model.duality_gap_)
    return table
