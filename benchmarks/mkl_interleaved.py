"""Interleaved training against wrappers: our own, SVC in a linear program, and SimpleMKL."""

from __future__ import annotations

from functools import partial

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .silp import silp
from .timing import alternate, blas_threads, timed

NOTE = (
    "Interleaved training and our wrapper: best of several; `gradient` and SVC were timed once. One "
    "thread, C = 1, gamma = 0.001 to 1, no normalisation; all stop at a certified relative duality "
    "gap of 1e-3. SVC in the semi-infinite linear program holds all kernel matrices in memory."
)


def widths(M: int) -> list[float]:
    """Return M values of gamma."""
    return list(np.geomspace(1e-3, 1.0, M))


def fit(problem: data.Data, M: int, p: float, solver: str, interleaved: bool) -> MKLClassifier:
    """Fit M widths with one way of training."""
    family = kernels.RBF(gamma=widths(M))
    model = MKLClassifier(family, norm=p, normalize=None, solver=solver, interleaved=interleaved)
    return model.fit(problem.X, problem.y)


def run(settings: Settings) -> Table:
    """Compare at p = 1, where all three apply, and at p = 2."""
    problem, M = data.generated(settings.size(4000, 200)), settings.size(50, 5)
    columns = ("p", "training", "s", "times interleaved", "turns", "gap")
    table = Table(f"{M} RBF widths, {problem.label}", columns, notes=[NOTE])
    for p in (1.0, 2.0):
        ways = {
            "interleaved": partial(fit, problem, M, p, "auto", True),
            "wrapper": partial(fit, problem, M, p, "auto", False),
        }
        with blas_threads(1):
            times = alternate(ways, settings.repeats)
            if p == 1:
                times["gradient"] = timed(partial(fit, problem, M, p, "gradient", False))
                by_hand = partial(silp, problem.X, problem.y, widths(M), 1e-3)
                times["wrapper around SVC"] = timed(by_hand)
        for way, timing in times.items():
            factor, model = timing.best / times["interleaved"].best, timing.result
            table.add(p, way, timing.best, factor, model.n_iter_, model.duality_gap_)
    return table
