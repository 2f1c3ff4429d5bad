"""Interleaved training against wrappers: our own, and hand-written ones around SVC."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from kernelweave import MKLClassifier, kernels
from kernelweave.kernels import Kernel

from . import data
from .by_hand import silp, simple_mkl
from .report import Table
from .settings import Settings
from .timing import Timing, alternate, blas_threads, timed

GAP = 1e-3
NOTE = (
    "Widths: gamma = 0.001 to 1 on all columns; columns: one RBF kernel with gamma = 0.5 on each. "
    "Interleaved training and our wrapper: best of several; the others: once. One thread, "
    "C = 1, no normalisation; all stop at a certified relative duality gap of 1e-3, those by hand "
    "after ten minutes if that comes first. They hold all kernel matrices in memory."
)


def fit(
    problem: data.Data, family: Kernel, p: float, solver: str, interleaved: bool
) -> MKLClassifier:
    """Fit one way of training."""
    settings = {"norm": p, "normalize": None, "solver": solver, "interleaved": interleaved}
    return MKLClassifier(family, tol=GAP, **settings).fit(problem.X, problem.y)


def compare(
    problem: data.Data, family: Kernel, p: float, others: dict[str, Callable[[], Any]], repeats: int
) -> dict[str, Timing]:
    """Time both ways alternately, and the others once."""
    ways = {
        "interleaved": partial(fit, problem, family, p, "auto", True),
        "wrapper": partial(fit, problem, family, p, "auto", False),
    }
    with blas_threads(1):
        times = alternate(ways, repeats, process_time)
        return times | {name: timed(work, process_time) for name, work in others.items()}


def run(settings: Settings) -> Table:
    """Compare at p = 1, where all of them apply, and at p = 2."""
    problem, M = data.generated(settings.size(4000, 200, 1000)), settings.size(50, 5, 20)
    columns = ("kernels", "p", "training", "CPU s", "times interleaved", "turns", "gap")
    table = Table(f"Interleaved training, {problem.label}", columns, notes=[NOTE])
    gammas = list(np.geomspace(1e-3, 1.0, M))
    families = {
        f"{M} widths": kernels.RBF(gamma=gammas),
        f"{M} columns": kernels.per_feature(kernels.RBF(gamma=0.5, columns=list(range(M)))),
    }
    by_hand = {
        "SVC in a linear program": partial(silp, problem.X, problem.y, gammas, GAP),
        "SVC in SimpleMKL": partial(simple_mkl, problem.X, problem.y, gammas, GAP),
    }
    for (name, family), p in ((pair, p) for pair in families.items() for p in (1.0, 2.0)):
        others: dict[str, Callable[[], Any]] = {}
        if p == 1:
            others["gradient"] = partial(fit, problem, family, p, "gradient", False)
            others |= by_hand if "widths" in name and settings.peers else {}
        times = compare(problem, family, p, others, settings.repeats)
        for way, timing in times.items():
            factor, model = timing.best / times["interleaved"].best, timing.result
            table.add(name, p, way, timing.best, factor, model.n_iter_, model.duality_gap_)
    return table
