"""Matrices of 20 RBF widths: one family against 20 calls of scikit-learn's rbf_kernel."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelweave import kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

GRIDS = {
    "geometric, 0.001 to 1": np.geomspace(1e-3, 1.0, 20),
    "powers of two, 2^-15 to 2^4": 2.0 ** np.arange(-15, 5),
}


def run(settings: Settings) -> Table:
    """Compare on two grids of widths, with one thread and with two."""
    X = data.generated(settings.size(4000, 200)).X
    note = "BLAS has as many threads as n_jobs on both sides; best times."
    columns = ("widths", "n_jobs", "kernelweave s", "rbf_kernel s", "ratio")
    table = Table(f"20 RBF matrices of {len(X):,} x {X.shape[1]}", columns, notes=[note])
    for name, gammas in GRIDS.items():
        for n_jobs in (1, 2):
            with blas_threads(n_jobs):
                ours, theirs = compare(X, gammas, n_jobs, settings.repeats)
            table.add(name, n_jobs, ours, theirs, ours / theirs)
    return table


def compare(X: np.ndarray, gammas: np.ndarray, n_jobs: int, repeats: int) -> tuple[float, float]:
    """Return the best seconds of both sides; each gives its matrices back before the other runs."""

    def family() -> None:
        kernels.RBF(gamma=list(gammas))(X, n_jobs=n_jobs)

    def one_by_one() -> None:
        _ = [rbf_kernel(X, gamma=gamma) for gamma in gammas]

    times = alternate({"family": family, "one by one": one_by_one}, repeats)
    return times["family"].best, times["one by one"].best
