"""Several classes: what a second thread gains in wall time, and what it costs in CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Kernel

from . import classes_speed, data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

QUICK = False
COST = 10.0
WIDTHS = np.geomspace(0.01, 1.0, 20)
NOTE = (
    f"C = {COST:g}. Wall seconds of the best of several alternating fits with one and two threads; "
    "they need two cores without other work. CPU ratio: CPU time with two threads over that with "
    "one. CPU gain: CPU time with one thread over that of the busier of two threads. It bounds the "
    "gain and hardly depends on other work. CPU times are those of the last fits."
)
Case = tuple[str, Kernel, str]  # data, kernel, multi_class


def generated(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of ten classes in 16 columns."""
    X, y = make_classification(n, 16, n_informative=12, n_classes=10, random_state=0)
    return StandardScaler().fit_transform(X), y


def cases() -> dict[str, Case]:
    """Return the fits by name."""
    alone = RBF(gamma=1 / 16)
    return {
        "generated, pairs": ("generated", alone, "ovo"),
        "generated, against the rest": ("generated", alone, "ovr"),
        "letters, pairs, 20 widths": ("letters", RBF(gamma=WIDTHS), "ovo"),
        "mnist, pairs": ("mnist", RBF(gamma=1 / 696), "ovo"),
    }


def of(name: str, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return training examples and classes."""
    if name == "generated":
        return generated(most or 16_000)
    X, y, _, _ = classes_speed.split(name, most)
    return X, y


def cpu_of(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds of all threads, and of the busier of two."""
    whole, main = time.process_time(), time.thread_time()
    work()
    whole, main = time.process_time() - whole, time.thread_time() - main
    return whole, max(main, whole - main)


def run(settings: Settings) -> Table:
    """Compare one and two threads."""
    columns = ("fit", "1 thread s", "2 threads s", "gain", "CPU ratio", "CPU gain")
    table = Table("Several classes: two threads", columns, notes=[NOTE])
    for name, (source, kernel, form) in cases().items():
        try:
            X, y = of(source, settings.size(None, 300))
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        sides = {
            f"{n_jobs}": partial(
                MKLClassifier(kernel, C=COST, multi_class=form, n_jobs=n_jobs).fit, X, y
            )
            for n_jobs in (1, 2)
        }
        with blas_threads(1):
            found = alternate(
                {k: partial(cpu_of, fit) for k, fit in sides.items()}, settings.repeats
            )
        (one, _), (two, busiest) = (found[n_jobs].result for n_jobs in "12")
        wall = [found[n_jobs].best for n_jobs in "12"]
        row = name, *wall, wall[0] / wall[1], two / one, one / busiest
        print(*row, sep=" | ", flush=True)
        table.add(*row)
    return table
