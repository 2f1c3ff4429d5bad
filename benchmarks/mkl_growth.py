"""How the time of MKL grows with the examples and with the kernels, with fitted exponents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads


def sizes(settings: Settings) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Give what grows, and the pairs (n, M) to time."""
    examples = settings.size([500, 1000, 2000, 4000, 8000], [50, 100])
    widths = settings.size([5, 10, 20, 40, 80, 160, 320], [5, 10])
    yield "examples n (M = 20)", [(n, 20) for n in examples]
    n = settings.size(2000, 100)
    yield f"kernels M (n = {n:,})", [(n, M) for M in widths]


def fit(problem: data.Data, M: int, p: float) -> MKLClassifier:
    """Learn the weights of M widths."""
    family = kernels.RBF(gamma=list(np.geomspace(1e-3, 1.0, M)))
    return MKLClassifier(family, norm=p, normalize=None).fit(problem.X, problem.y)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of the seconds over the sizes, both as logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def run(settings: Settings) -> Table:
    """Time p = 1 and p = 2 at growing sizes."""
    note = "One thread, C = 1, gamma = 0.001 to 1, no normalisation, tol = 1e-3; best CPU times."
    table = Table("Growth", ("what grows", "p", "sizes", "CPU seconds", "exponent"), notes=[note])
    for what, pairs in sizes(settings):
        grown = [n if "examples" in what else M for n, M in pairs]
        problems = {n: data.generated(n) for n, _ in pairs}
        for p in (1.0, 2.0):
            fits = {(n, M): partial(fit, problems[n], M, p) for n, M in pairs}
            with blas_threads(1):
                times = alternate(fits, settings.repeats, process_time)
            seconds = [times[pair].best for pair in pairs]
            shown = " ".join(f"{size:,}" for size in grown), " ".join(f"{s:.2f}" for s in seconds)
            table.add(what, p, *shown, exponent(grown, seconds))
    return table
