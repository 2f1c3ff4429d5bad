"""Large tables whose classes overlap: 20 RBF widths against one, and against one SVC."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import alternate

QUICK = False
GAP = 1e-3
WIDTH = 1 / 20
GAMMAS = WIDTH * np.logspace(-2, 2, 20)
NOTE = (
    "y = sign(sin 2 x_0 + x_1 x_2 + x_3 / 2 + 0.3 noise) on 20 normal columns, so that most "
    f"examples are support examples. tol = {GAP:g} (SVC: its own), C = 1, 4 GB of cache, one "
    "thread, CPU seconds of one fit each; gaps are those of the fitted models."
)


def noisy(n: int) -> data.Data:
    """Return n examples of two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    noise = 0.3 * rng.standard_normal(n)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2 + noise
    return data.Data("noisy", X, np.where(f > 0, 1.0, -1.0))


def fit_svc(problem: data.Data) -> SVC:
    """Fit scikit-learn's machine on one width."""
    return SVC(gamma=WIDTH, tol=GAP, cache_size=4000).fit(problem.X, problem.y)


def fit_ours(problem: data.Data, gammas: np.ndarray, p: float) -> MKLClassifier:
    """Fit one width, or learn the weights of many."""
    model = MKLClassifier(kernels.RBF(gamma=list(gammas)), norm=p, tol=GAP, cache_mb=4000)
    return model.fit(problem.X, problem.y)


def run(settings: Settings) -> Table:
    """Compare growing tables."""
    columns = ("n", "fit", "CPU s", "of one width", "support", "turns", "gap")
    table = Table("Noisy tables, 20 columns", columns, notes=[NOTE])
    for n in settings.size((20_000, 50_000), (1200,)):
        problem = noisy(n)
        sides = {
            "one width": partial(fit_ours, problem, np.array([WIDTH]), 1.0),
            "20 widths, p = 1": partial(fit_ours, problem, GAMMAS, 1.0),
            "20 widths, p = 2": partial(fit_ours, problem, GAMMAS, 2.0),
        }
        if settings.peers:
            sides["SVC, one width"] = partial(fit_svc, problem)
        timings = alternate(sides, 1, clock=time.process_time)
        one = timings["one width"].best
        for name, timing in timings.items():
            model = timing.result
            ours = isinstance(model, MKLClassifier)
            table.add(
                n,
                name,
                timing.best,
                timing.best / one,
                len(model.support_),
                model.n_iter_ if ours else None,
                model.duality_gap_ if ours else None,
            )
    return table
