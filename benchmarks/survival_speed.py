"""CPU time and memory of survival models: several views of few patients, many widths of many."""

from __future__ import annotations

import resource
from time import perf_counter, process_time
from typing import Any

import numpy as np

from kernelweave import MKLSurvival, Views
from kernelweave.estimators.survival_targets import survival_array
from kernelweave.kernels import RBF

from .report import Table
from .settings import Settings
from .timing import blas_threads, in_own_process

QUICK = False
WIDTHS = {"views": (100, 100, 50, 20, 5), "signals": (1.5, 0.7, 0.4, 0.0, 1.0)}


def targets(risk: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return exponential times with hazards exp(risk), censored at uniform times."""
    death, end = rng.exponential(60 * np.exp(-risk)), rng.uniform(12, 120, size=len(risk))
    return survival_array(death <= end, np.minimum(death, end))


def several_views(n: int) -> tuple[Any, np.ndarray, list[RBF]]:
    """Return five tables of which four follow the risk, targets, and three widths for each."""
    rng = np.random.default_rng(0)
    risk, views = rng.normal(size=n), {}
    for k, (width, signal) in enumerate(zip(WIDTHS["views"], WIDTHS["signals"], strict=True)):
        values = rng.normal(size=(n, width))
        values[:, :4] += signal * risk[:, None]
        views[f"view {k}"] = values
    kernels = [
        RBF(gamma / width, columns=f"view {k}")
        for k, width in enumerate(WIDTHS["views"])
        for gamma in (0.3, 1.0, 3.0)
    ]
    return Views(views), targets(risk, rng), kernels


def many_widths(n: int) -> tuple[Any, np.ndarray, list[RBF]]:
    """Return ten columns with a nonlinear risk, targets, and twenty widths."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    risk = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    return X, targets(risk, rng), [RBF(gamma) for gamma in np.geomspace(1e-3, 3.0, 20)]


def measured(kind: str, n: int, loss: str, norm: float, jobs: int) -> tuple[float, ...]:
    """Return CPU and wall-clock seconds, the duality gap and the peak memory of a fit in MB."""
    X, y, kernels = (several_views if kind == "views" else many_widths)(n)
    with blas_threads(jobs):
        cpu, wall = process_time(), perf_counter()
        model = MKLSurvival(kernels, norm=norm, loss=loss, n_jobs=jobs).fit(X, y)
        cpu, wall = process_time() - cpu, perf_counter() - wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return cpu, wall, model.duality_gap_, memory


def run(settings: Settings) -> Table:
    """Time fits, each in a separate process; `--sizes` times many widths alone."""
    columns = ("data", "loss", "p", "CPU s", "wall s", "gap", "MB")
    threads = "one thread" if settings.jobs == 1 else f"{settings.jobs} threads"
    table = Table("Speed of survival models", columns, notes=[f"C = 1, tol = 1e-3, {threads}."])
    few = settings.size(2000, 100)
    many = settings.sizes or settings.size((10_000, 25_000), (1200,))
    cases = [("widths", n, "cox", 1) for n in many]
    if not settings.sizes:
        losses = ("cox", "ranking", "regression")
        cases = [("views", few, loss, p) for loss in losses for p in (1, 2)] + cases
    for kind, n, loss, p in cases:
        what = "5 views x 3 widths" if kind == "views" else "20 widths"
        cpu, wall, gap, memory = in_own_process(measured, kind, n, loss, p, settings.jobs)
        table.add(f"{n:,} x {what}", loss, p, cpu, wall, f"{gap:.0e}", round(memory))
        print(*table.rows[-1], sep=" | ", flush=True)
    return table
