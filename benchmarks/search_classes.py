"""A search over costs for 27 classes and 36 kernels (protein_fold), against the plain sum."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifierCV

from .accuracy_real import by_views, loaded
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
NORMS = (np.inf, 4.0, 2.0, 4 / 3, 1.0)
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
FOLDS = 3


def run(settings: Settings) -> Table:
    """Time the search of each norm; the first one is the plain sum."""
    X, y, sizes = loaded("protein_fold")
    train, _ = next(iter(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)))
    X, y = StandardScaler().fit_transform(X[train]), y[train]
    classes = np.unique(y)[: settings.size(27, 4)]
    X, y = X[np.isin(y, classes)], y[np.isin(y, classes)]
    kernels = by_views(sizes)
    table = Table(
        f"Search over {len(COSTS)} costs in {FOLDS} folds",
        ("p", "CPU s", "times the plain sum", "best score", "C"),
        notes=[
            f"protein_fold: {len(y)} examples, {len(classes)} classes, {3 * len(sizes)} kernels."
        ],
    )
    first = np.nan
    for norm in settings.size(NORMS, NORMS[:2]):
        model = MKLClassifierCV(kernels, norms=[norm], Cs=COSTS, cv=FOLDS, n_jobs=1)
        with warnings.catch_warnings(), blas_threads(1):
            warnings.simplefilter("ignore")  # classes with few examples
            start = time.process_time()
            model.fit(X, y)
        seconds = time.process_time() - start
        first = seconds if norm == np.inf else first
        table.add(norm, seconds, seconds / first, model.best_score_, model.C_)
        print(*table.rows[-1], sep=" | ", flush=True)
    return table
