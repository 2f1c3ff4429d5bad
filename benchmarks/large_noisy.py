"""Large tables whose classes overlap: 20 RBF widths against one, and against one SVC.

``--sizes 100000 --jobs 2`` chooses other sizes and threads. From `HUGE` examples on only 20 widths
at p = 1 are fitted, to a gap of 1e-2.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import timed

QUICK = False
GAP, ROUGH_GAP = 1e-3, 1e-2
LARGE, HUGE = 100_000, 500_000  # from which on SVC, and all but one fit, are left out
WIDTH = 1 / 20
GAMMAS = WIDTH * np.logspace(-2, 2, 20)
NOTE = (
    "y = sign(sin 2 x_0 + x_1 x_2 + x_3 / 2 + 0.3 noise) on 20 normal columns, so that most "
    f"examples are support examples. tol = {GAP:g} (SVC: its own; {ROUGH_GAP:g} from {HUGE:,} "
    "examples on), C = 1, 4 GB of cache, one fit each. CPU seconds are those of all threads. Pairs "
    "are those of examples that were evaluated, samples included, relative to support x n. "
    "Gaps are those of the fitted models."
)


def noisy(n: int) -> data.Data:
    """Return n examples of two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    noise = 0.3 * rng.standard_normal(n)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2 + noise
    return data.Data("noisy", X, np.where(f > 0, 1.0, -1.0))


def fit_svc(problem: data.Data) -> SVC:
    """Fit scikit-learn's SVM on one width."""
    return SVC(gamma=WIDTH, tol=GAP, cache_size=4000).fit(problem.X, problem.y)


def fit_ours(problem: data.Data, gammas: np.ndarray, p: float, jobs: int) -> MKLClassifier:
    """Fit one width, or learn the weights of many."""
    tol = GAP if len(problem.y) < HUGE else ROUGH_GAP
    model = MKLClassifier(
        kernels.RBF(gamma=list(gammas)), norm=p, tol=tol, cache_mb=4000, n_jobs=jobs
    )
    return model.fit(problem.X, problem.y)


def fits(n: int, settings: Settings) -> dict[str, Callable[[], Any]]:
    """Return what is timed on n examples, by name."""
    problem = noisy(n)
    many = partial(fit_ours, problem, GAMMAS, jobs=settings.jobs)
    sides: dict[str, Callable[[], Any]] = {"20 widths, p = 1": partial(many, 1.0)}
    if n < HUGE:
        one = partial(fit_ours, problem, np.array([WIDTH]), 1.0, settings.jobs)
        sides = {"one width": one, **sides, "20 widths, p = 2": partial(many, 2.0)}
    if settings.peers and n < LARGE:
        sides["SVC, one width"] = partial(fit_svc, problem)
    return sides


def passes(model: MKLClassifier, n: int) -> str:
    """Return how many pairs a fit has evaluated, by kind, relative to support x n."""
    size = len(model.support_) * n
    done = model.history_[-1]["pairs"].items()
    return ", ".join(f"{kind} {pairs / size:.1f}" for kind, pairs in done)


def run(settings: Settings) -> Table:
    """Compare growing tables."""
    columns = ("n", "fit", "CPU s", "wall s", "of one width", "support", "turns", "gap", "pairs")
    table = Table("Noisy tables, 20 columns", columns, notes=[NOTE])
    for n in settings.sizes or settings.size((20_000, 50_000), (1200,)):
        one = None
        for name, fit in fits(n, settings).items():
            started = time.perf_counter()
            timing = timed(fit, time.process_time)
            wall, model = time.perf_counter() - started, timing.result
            one = timing.best if name == "one width" else one
            cells = [n, name, timing.best, wall, one and timing.best / one, len(model.support_)]
            if isinstance(model, MKLClassifier):
                table.add(*cells, model.n_iter_, model.duality_gap_, passes(model, n))
            else:
                table.add(*cells, None, None, None)
    return table
