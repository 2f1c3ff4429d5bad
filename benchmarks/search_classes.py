"""Searches over costs for 27 classes and 36 kernels (protein_fold), against the plain sum.

One search for each norm, and one over all that are learned.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifierCV

from .accuracy_real import by_views, loaded
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

QUICK = False
NORMS = (np.inf, 4.0, 2.0, 4 / 3, 1.0)
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
FOLDS = 3


def run(settings: Settings) -> Table:
    """Time the search of each norm, the plain sum first, and one over all the others together."""
    X, y, sizes = loaded("protein_fold")
    train, _ = next(iter(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)))
    X, y = StandardScaler().fit_transform(X[train]), y[train]
    classes = np.unique(y)[: settings.size(27, 4)]
    X, y = X[np.isin(y, classes)], y[np.isin(y, classes)]
    kernels = by_views(sizes)
    table = Table(
        f"Search over {len(COSTS)} costs in {FOLDS} folds",
        (
            "norms of one search, p",
            "CPU s of the search",
            "CPU s per norm, times the plain sum",
            "best score",
            "best p",
            "best C",
        ),
        notes=[
            f"protein_fold: {len(y)} examples, {len(classes)} classes, {3 * len(sizes)} kernels.",
            "The plain sum is p = inf. CPU seconds per norm: those of the search, divided by the "
            "number of its norms. The best of some runs in turn.",
        ],
    )
    norms = settings.size(NORMS, NORMS[:3])
    searches = [*((norm,) for norm in norms), norms[1:]]

    def search(searched: tuple[float, ...]) -> MKLClassifierCV:
        model = MKLClassifierCV(kernels, norms=searched, Cs=COSTS, cv=FOLDS, n_jobs=1)
        with warnings.catch_warnings(), blas_threads(1):
            warnings.simplefilter("ignore")  # classes with few examples
            return model.fit(X, y)

    names = [", ".join(f"{norm:.4g}" for norm in searched) for searched in searches]
    sides = {name: partial(search, one) for name, one in zip(names, searches, strict=True)}
    timings = alternate(sides, settings.repeats, time.process_time)
    first = timings[names[0]].best
    for name, searched in zip(names, searches, strict=True):
        seconds, model = timings[name].best, timings[name].result
        times = seconds / len(searched) / first
        table.add(name, seconds, times, model.best_score_, model.norm_, model.C_)
    return table
