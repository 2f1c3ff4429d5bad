"""The same optimum as scikit-learn's SVC, SVR and OneClassSVM, at tight tolerances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, kernels

from . import data
from .certificates import rbf_outputs
from .report import Table
from .settings import Settings

CLASSIFICATION = ("ionosphere", "sonar", "pima", "wdbc")
EPSILON, NU = 0.1, 0.1
TOL, TOL_LIBSVM = 1e-8, 1e-8

# The dual value of signed coefficients but for the quadratic term, which all machines share.
LINEAR: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "classification": lambda coef, y: float(np.abs(coef).sum()),
    "regression": lambda coef, y: float(coef @ y - EPSILON * np.abs(coef).sum()),
    "novelty": lambda coef, y: 0.0,
}


def machines(task: str, gamma: float) -> tuple[Any, Any]:
    """Return the models of both sides for a task."""
    shared = {"kernels": kernels.RBF(gamma=gamma), "norm": np.inf, "normalize": None, "tol": TOL}
    if task == "classification":
        return MKLClassifier(**shared), SVC(gamma=gamma, tol=TOL_LIBSVM)
    if task == "regression":
        return (
            MKLRegressor(**shared, epsilon=EPSILON),
            SVR(gamma=gamma, epsilon=EPSILON, tol=TOL_LIBSVM),
        )
    return MKLOneClass(**shared, nu=NU), OneClassSVM(gamma=gamma, nu=NU, tol=TOL_LIBSVM)


def dual_value(problem: data.Data, task: str, gamma: float, model: Any) -> float:
    """Return the dual value of a fitted model, from scratch."""
    support, coef = model.support_, np.asarray(model.dual_coef_)[0]
    s = rbf_outputs(problem.X, [gamma], support, coef)[0, support] @ coef
    return LINEAR[task](coef, problem.y[support]) - 0.5 * s


def compare(problem: data.Data, task: str) -> tuple:
    """Return the row of one problem."""
    gamma = 1.0 / problem.X.shape[1]
    ours, theirs = (
        dual_value(problem, task, gamma, machine.fit(problem.X, problem.y))
        for machine in machines(task, gamma)
    )
    return problem.label, task, ours, abs(ours - theirs) / abs(theirs)


def run(settings: Settings) -> Table:
    """Compare both sides' objectives on real data."""
    note = f"RBF kernel with gamma = 1/d, C = 1, tol = {TOL:g} here and {TOL_LIBSVM:g} in LIBSVM."
    columns = ("data", "task", "objective", "relative difference")
    table = Table("Objectives against SVC, SVR and OneClassSVM", columns, notes=[note])
    tasks = [(name, task) for name in CLASSIFICATION for task in ("classification", "novelty")]
    for name, task in [*tasks, ("cpusmall", "regression")]:
        try:
            problem = data.real(name).first(settings.size(None, 100))
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        if task == "regression":
            problem = problem.standardised_targets()
        table.add(*compare(problem, task))
    return table
