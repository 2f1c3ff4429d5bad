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
from kernelweave.solvers import MWU

from . import data
from .report import Table
from .settings import Settings

COSTS = (0.1, 1.0, 10.0)  # among which C is chosen
WIDTHS = 16_667  # on each of the 60 features of sonar: a million kernels


@dataclass(frozen=True, eq=False)
class Task:
    """A row of the table: n of the examples to learn from, the others to test on."""

    problem: data.Data
    n: int
    family: Any
    tol: float
    paper: str
    normalize: str | None = "unit"


def adult(settings: Settings) -> Task:
    """Return the whole of a9a with three kernels."""
    found = data.arrays("adult_a9a")
    X, y = (np.concatenate([found[f"{name}_train"], found[f"{name}_test"]]) for name in "Xy")
    family = [kernels.Linear(), kernels.Polynomial(2), kernels.RBF(gamma=0.05)]
    problem = shuffled(data.Data("adult", X.astype(float), y.astype(float)))
    return Task(problem, settings.size(39_073, 500, 4_000), family, 1e-2, "13 min")


def cod_rna(settings: Settings) -> Task:
    """Return cod-rna with three kernels."""
    found = data.arrays("cod_rna")
    family = [kernels.Polynomial(1), kernels.Polynomial(3), kernels.RBF(gamma=8.0)]
    problem = shuffled(data.Data("cod-rna", minmax_scale(found["X"].astype(float)), found["y"]))
    return Task(problem, settings.size(47_628, 500, 4_000), family, 1e-2, "147 s")


def sonar(settings: Settings) -> Task:
    """Return sonar with a million kernels: many widths on each feature."""
    found = data.arrays("sonar")
    widths = np.geomspace(0.01, 100, settings.size(WIDTHS, 20, 200))
    problem = data.Data("sonar", minmax_scale(found["X"].astype(float)), found["y"])
    family = kernels.per_feature(kernels.RBF(gamma=widths))
    return Task(problem, len(problem.y), family, 0.1, "3.65 h", normalize=None)


def shuffled(problem: data.Data) -> data.Data:
    """Return the examples in another order."""
    order = np.random.default_rng(0).permutation(len(problem.y))
    return data.Data(problem.name, problem.X[order], problem.y[order])


def run(settings: Settings) -> Table:
    """Train each task once; kernels are computed on demand."""
    table = Table(
        "Multiplicative weights (CPU seconds)",
        ("data", "n", "kernels", "C", "rounds", "seconds", "gap", "test error", "GB", "paper"),
        notes=[
            "2-norm soft margin, eps = 0.1, one thread; columns of kernels on demand.",
            "C: the best of 0.1, 1 and 10 on a quarter of 4,000 training examples.",
            "GB: peak memory of the process so far.",
        ],
    )
    for make in (cod_rna, adult, sonar):
        table.add(*measured(make(settings)))
    return table


def machine(task: Task, C: float) -> MKLClassifier:
    """Return the classifier of a task."""
    return MKLClassifier(
        task.family, norm=1, loss="squared_hinge", C=C, solver=MWU(eps=0.1),
        normalize=task.normalize, tol=task.tol, cache_mb=512, n_jobs=1,
    )  # fmt: skip


def chosen_cost(task: Task) -> float:
    """Return the C that is best on a quarter of some training examples, with nothing of the test.

    Without test examples there is nothing to choose for.
    """
    if task.n == len(task.problem.y):
        return 1.0
    few = task.problem.first(min(task.n, 4000))
    train, check = few.first(3 * len(few.y) // 4), slice(3 * len(few.y) // 4, None)
    models = {C: machine(task, C).fit(train.X, train.y) for C in COSTS}
    return max(COSTS, key=lambda C: models[C].score(few.X[check], few.y[check]))


def measured(task: Task) -> list[Any]:
    """Return the row of a task."""
    X, y = task.problem.X, task.problem.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        C = chosen_cost(task)
        started = time.process_time()
        model = machine(task, C).fit(X[: task.n], y[: task.n])
        seconds = time.process_time() - started
    error = 1 - model.score(X[task.n :], y[task.n :]) if task.n < len(y) else None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        task.problem.name, task.n, len(model.weights_), C, model.n_iter_, seconds,
        model.duality_gap_, error, memory, task.paper,
    ]  # fmt: skip
