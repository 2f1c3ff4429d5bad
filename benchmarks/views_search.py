"""A search over norms and costs on Views, against the same on one wide array (breast_tcga)."""

from __future__ import annotations

import time

import numpy as np

from kernelweave import MKLClassifierCV, Views
from kernelweave.kernels import RBF, Kernel

from .absent_views import SETS, read, standardised
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.25, 1.0, 4.0)  # times 1 / columns


def run(settings: Settings) -> Table:
    """Time both alternately, and compare what they find."""
    table = Table("Search on views", ("X", "CPU s", "ratio", "best score", "p", "C"))
    repeats = settings.size(settings.repeats, 1)
    grid = {"norms": NORMS, "Cs": COSTS} if not settings.tiny else {"norms": (2,), "Cs": (1.0,)}
    tables, y = read("breast_tcga")
    tables, _ = standardised(tables, tables)
    ways = {"one wide array": wide(tables), "Views": by_view(tables)}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    found = {}
    with blas_threads(1):
        for _ in range(repeats):
            for way, (X, kernels) in ways.items():
                start = time.process_time()
                found[way] = MKLClassifierCV(kernels, n_jobs=1, **grid).fit(X, y)
                seconds[way].append(time.process_time() - start)
    first = min(seconds["one wide array"])
    for way, model in found.items():
        best = min(seconds[way])
        table.add(way, best, best / first, model.best_score_, model.norm_, model.C_)
    table.notes.append(
        f"{len(y)} examples, {len(SETS['breast_tcga'][0])} views, {len(WIDTHS)} widths each, "
        f"{len(grid['norms'])} norms, {len(grid['Cs'])} costs, 5 folds; best of {repeats}."
    )
    return table


def wide(tables: dict[str, np.ndarray]) -> tuple[np.ndarray, list[Kernel]]:
    """Return the views side by side, and their kernels."""
    sizes = [table.shape[1] for table in tables.values()]
    ends = np.cumsum(sizes)
    kernels = [
        RBF([width / d for width in WIDTHS], columns=slice(int(end - d), int(end)))
        for d, end in zip(sizes, ends, strict=True)
    ]
    return np.hstack(list(tables.values())), kernels


def by_view(tables: dict[str, np.ndarray]) -> tuple[Views, dict[str, Kernel]]:
    """Return the views as they are, and their kernels."""
    kernels = {
        name: RBF([width / table.shape[1] for width in WIDTHS]) for name, table in tables.items()
    }
    return Views(tables), kernels
