"""Multiplicative weights at the sizes of Moeller et al. (2018), table 2."""

from __future__ import annotations

import resource
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale

from kernelweave import MKLClassifier, kernels
from kernelweave.solvers.mwu import MWU

from . import data
from .report import Table
from .settings import Settings

QUICK = False
WIDTHS = 16_667  # on each of the 60 features of sonar: a million kernels


@dataclass(frozen=True, eq=False)
class Task:
    """A row of the table: n of the examples to learn from, the others to test on."""

    problem: data.Data
    n: int
    family: Any
    eps: float
    C: float
    paper: str


def adult(settings: Settings) -> Task:
    """Return the whole of a9a with three kernels."""
    found = data.arrays("adult_a9a")
    X, y = (np.concatenate([found[f"{name}_train"], found[f"{name}_test"]]) for name in "Xy")
    family = [kernels.Linear(), kernels.Polynomial(2), kernels.RBF(gamma=0.05)]
    problem = shuffled(data.Data("adult", X.astype(float), y.astype(float)))
    return Task(problem, settings.size(39_073, 500), family, 0.1, 1.0, "13 min")


def cod_rna(settings: Settings) -> Task:
    """Return cod-rna with three kernels."""
    found = data.arrays("cod_rna")
    family = [kernels.Polynomial(1), kernels.Polynomial(3), kernels.RBF(gamma=8.0)]
    problem = shuffled(data.Data("cod-rna", minmax_scale(found["X"].astype(float)), found["y"]))
    return Task(problem, settings.size(47_628, 500), family, 0.1, 1.0, "147 s")


def sonar(settings: Settings) -> Task:
    """Return sonar with a million kernels: many widths on each feature."""
    found = data.arrays("sonar")
    widths = np.geomspace(0.01, 100, settings.size(WIDTHS, 20))
    problem = data.Data("sonar", minmax_scale(found["X"].astype(float)), found["y"])
    return Task(problem, 208, kernels.per_feature(kernels.RBF(gamma=widths)), 0.9, 1.0, "3.65 h")


def shuffled(problem: data.Data) -> data.Data:
    """Return the examples in another order."""
    order = np.random.default_rng(0).permutation(len(problem.y))
    return data.Data(problem.name, problem.X[order], problem.y[order])


def run(settings: Settings) -> Table:
    """Train each task once; kernels are computed when they are asked for."""
    table = Table(
        "Multiplicative weights (CPU seconds)",
        ("data", "n", "kernels", "eps", "rounds", "seconds", "gap", "test error", "GB", "paper"),
        notes=["2-norm soft margin; columns of kernels on demand; GB: peak memory of the process."],
    )
    for make in (cod_rna, adult, sonar):
        table.add(*measured(make(settings)))
    return table


def measured(task: Task) -> list[Any]:
    """Return the row of a task."""
    X, y = task.problem.X, task.problem.y
    normalize = None if task.problem.name == "sonar" else "unit"
    model = MKLClassifier(
        task.family, norm=1, loss="squared_hinge", C=task.C, solver=MWU(eps=task.eps),
        normalize=normalize, tol=1e-2, cache_mb=512, n_jobs=1,
    )  # fmt: skip
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[: task.n], y[: task.n])
    seconds = time.process_time() - started
    error = 1 - model.score(X[task.n :], y[task.n :]) if task.n < len(y) else None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        task.problem.name, task.n, len(model.weights_), task.eps, model.n_iter_, seconds,
        model.duality_gap_, error, memory, task.paper,
    ]  # fmt: skip
