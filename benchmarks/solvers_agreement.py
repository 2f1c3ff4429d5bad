"""Do all solvers of p = 1 find the same optimum? Objectives on real data, 12 and 48 kernels."""

from __future__ import annotations

import time

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings

SOLVERS = ("skm", "cutting-plane", "level", "gradient", "qcqp")
SETS = ("ionosphere", "breast_cancer_wisconsin", "sonar", "pima")


def family(M: int) -> list[kernels.Kernel]:
    """Return three polynomial kernels and M - 3 widths."""
    return [kernels.Polynomial([1, 2, 3]), kernels.RBF(gamma=np.geomspace(1e-3, 10, M - 3))]


def run(settings: Settings) -> Table:
    """Solve each problem with each solver to a gap of 5e-5."""
    table = Table(
        "Agreement of the solvers of p = 1",
        ("data", "kernels", "solver", "objective", "gap", "off by", "CPU seconds"),
        notes=[
            "Hinge loss, C = 1, variance 1, tol = 5e-5; off by: relative to the lowest objective."
        ],
    )
    for name in SETS[: settings.size(4, 1)]:
        problem = data.real(name).first(settings.size(None, 60))
        for M in (12, 48):
            compare(table, problem, M)
    return table


def compare(table: Table, problem: data.Data, M: int) -> None:
    """Add a row for each solver."""
    fits = {}
    for solver in SOLVERS:
        started = time.process_time()
        model = MKLClassifier(family(M), norm=1, solver=solver, tol=5e-5).fit(problem.X, problem.y)
        fits[solver] = model, time.process_time() - started
    best = min(model.primal_objective_ for model, _ in fits.values())
    for solver, (model, seconds) in fits.items():
        value = model.primal_objective_
        off = (value - best) / best
        table.add(problem.name, M, solver, value, model.duality_gap_, off, seconds)
