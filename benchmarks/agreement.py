"""Certified objectives of 200 small problems: losses, norms, kernels and methods in turn.

``python -m benchmarks.against REV agreement`` compares them with those of another version: by weak
duality, no dual objective may exceed a primal objective of the same problem.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses
from kernelweave.kernels import (
    RBF,
    GappedKmer,
    Linear,
    Polynomial,
    Spectrum,
    WeightedDegree,
    per_feature,
)

from .report import Table
from .settings import Settings

NUMBER, TOL = 200, 1e-4
COSTS = (1.0, 0.1, 10.0)
COLUMNS = ("problem", "primal", "dual", "gap", "CPU s")
LOSSES = {
    "classifier": ("hinge", "squared_hinge", "logistic", losses.SmoothHinge(0.5)),
    "regressor": (losses.EpsilonInsensitive(0.1), "squared"),
    "one class": ("one class",),
}
# Methods that support each norm, by names that all versions know.
SPARSE = ("auto", "hessian", "cutting-plane", "level")
CURVED = ("auto", "newton", "analytic", "level")
METHODS: dict[float, tuple[str, ...]] = {
    1.0: SPARSE,
    4 / 3: CURVED,
    2.0: CURVED,
    4.0: ("auto", "analytic"),
    np.inf: ("auto", "uniform"),
}


@dataclass(frozen=True)
class Examples:
    """Examples with kernels, a label of -1 or 1 and a target each."""

    X: Any
    kernels: Any
    labels: np.ndarray
    targets: np.ndarray


def examples(n: int) -> dict[str, Examples]:
    """Return examples by the name of their kernels; all versions get the same ones."""
    rng = np.random.default_rng(0)
    X, classes = make_classification(n, 8, n_informative=4, flip_y=0.1, random_state=0)
    labels, targets = np.where(classes, 1, -1), np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)
    letters = rng.choice(list("ACGT"), (n, 30))
    letters[labels > 0, 10:14] = list("GATA")
    changed = rng.random((n, 30)) < 0.15
    letters[changed] = rng.choice(list("ACGT"), changed.sum())
    sequences = ["".join(row) for row in letters]
    mixed = [Linear(), Polynomial(2), Polynomial(3), RBF(0.02), RBF(0.5)]
    strings = [WeightedDegree(5), Spectrum(3), GappedKmer(5, 3)]
    return {
        "20 widths": Examples(X, RBF(list(np.geomspace(1e-3, 10, 20))), labels, targets),
        "a kernel per column": Examples(X, per_feature(RBF(0.5)), labels, targets),
        "5 mixed": Examples(X, mixed, labels, targets),
        "3 of strings": Examples(sequences, strings, labels, targets),
    }


def problems(n: int) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield the name, the estimator and the arguments of `fit` of every problem."""
    tables = examples(n)
    posed = [(task, loss) for task, several in LOSSES.items() for loss in several]
    all_of = [
        (task, loss, norm, name, solver)
        for (task, loss), norm, name in product(posed, METHODS, tables)
        for solver in METHODS[norm]
    ]
    chosen = [one for one in all_of if one[-1] == "auto"]
    named = [one for one in all_of if one[-1] != "auto"]
    chosen += named[:: len(named) // (NUMBER - len(chosen))]
    for number, (task, loss, norm, name, solver) in enumerate(chosen[:NUMBER]):
        data, C = tables[name], COSTS[number % len(COSTS)]
        shared = {"norm": norm, "solver": solver, "tol": TOL, "max_iter": 2000, "n_jobs": 1}
        label = f"{number} {task}, {loss}, C={C:g}, p={norm:.3g}, {name}, {solver}"
        if task == "one class":
            yield label, MKLOneClass(data.kernels, nu=0.2, **shared), (data.X,)
        elif task == "regressor":
            model: Any = MKLRegressor(data.kernels, loss=loss, C=C, **shared)
            yield label, model, (data.X, data.targets)
        else:
            model = MKLClassifier(data.kernels, loss=loss, C=C, **shared)
            yield label, model, (data.X, data.labels)


def run(settings: Settings) -> Table:
    """Fit every problem."""
    table = Table("Certified objectives of small problems", COLUMNS, notes=[f"tol = {TOL:g}."])
    for name, model, given in problems(settings.size(120, 40)):
        started = time.process_time()
        model.fit(*given)
        seconds = time.process_time() - started
        values = model.primal_objective_, model.dual_objective_, model.duality_gap_
        table.add(name, *(float(np.ravel(value)[0]) for value in values), seconds)
    return table
