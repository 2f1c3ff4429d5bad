"""Several classes: CPU time, accuracy and memory beside scikit-learn's SVC, one RBF kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import classes_data, data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads, in_own_process

COST = 10.0
NAMES = ("letters", "satellite", "pendigits", "digits", "mnist")
MOST = {"mnist": 25_000}  # examples of a set that are used
NOTE = (
    f"80 % of the examples train. Standardised columns, gamma = 1 / columns, C = {COST:g}, one "
    "thread, CPU seconds of the best of several alternating fits; our gap is 1e-3 for each pair, "
    "SVC runs at its own tolerance. Megabytes are the peak of a process of its own, with all that "
    "it imports. Accuracy and megabytes: SVC, then ours. Last row: geometric mean of the ratios."
)


def split(name: str, most: int | None) -> tuple[np.ndarray, ...]:
    """Return training examples and classes, test examples and classes."""
    problem = classes_data.load(name, most or MOST.get(name))
    order = np.random.default_rng(0).permutation(len(problem.y))
    train, test = np.split(order, [int(0.8 * len(order))])
    return problem.X[train], problem.y[train], problem.X[test], problem.y[test]


def makers(columns: int) -> dict[str, Callable[[], Any]]:
    """Return functions that make the classifiers, by name."""
    gamma = 1.0 / columns

    def ours() -> MKLClassifier:
        kernel = kernels.RBF(gamma=gamma)
        return MKLClassifier(kernel, C=COST, normalize=None, multi_class="ovo")

    return {
        "SVC": lambda: SVC(gamma=gamma, C=COST),
        "ovo": ours,
    }


def peak(name: str, most: int | None, form: str) -> float:
    """Return the peak memory of a process that fits one classifier, in megabytes."""
    X, y, _, _ = split(name, most)
    with blas_threads(1):
        makers(X.shape[1])[form]().fit(X, y)
    # `ru_maxrss` of a new process begins with that of its parent.
    (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return int(line.split()[1]) / 1024


def run(settings: Settings) -> Table:
    """Compare on each set that is there."""
    columns = ("data", "SVC s", "one against one s", "ratio", "accuracy", "MB")
    table = Table("Several classes against SVC", columns, notes=[NOTE])
    ratios, most = [], settings.size(None, 300)
    for name in settings.size(NAMES, ("digits",)):
        try:
            X, y, X_test, y_test = split(name, most)
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        sides = {form: partial(make().fit, X, y) for form, make in makers(X.shape[1]).items()}
        with blas_threads(1):
            times = alternate(sides, settings.repeats, clock=time.process_time)
        svc, ours = times["SVC"], times["ovo"]
        right = [one.result.score(X_test, y_test) for one in (svc, ours)]
        memory = [in_own_process(peak, name, most, form) for form in ("SVC", "ovo")]
        ratios.append(ours.best / svc.best)
        label = f"{name} ({X.shape[0]:,} x {X.shape[1]}, {int(y.max()) + 1} classes)"
        accuracy, peaks = "{:.3f}, {:.3f}".format(*right), "{:.0f}, {:.0f}".format(*memory)
        table.add(label, svc.best, ours.best, ratios[-1], accuracy, peaks)
    mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else None
    table.add("geometric mean", None, None, mean, None, None)
    return table
