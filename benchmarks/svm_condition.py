"""A linear SVM on unscaled columns, C from 1 to 10,000: against scikit-learn's SVC."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .certificates import hinge_gap
from .report import Table
from .settings import Settings
from .timing import blas_threads, timed

GAP = 1e-3
PAIRS = 20_000_000
COLUMNS = ("data", "C", "kernelweave s", "gap", "SVC s", "gap of SVC", "pairs of SVC")
NOTE = (
    "Relative duality gaps are recomputed in NumPy. SVC has its default tolerance and stops after "
    f"{PAIRS:,} pairs; the library stops at a gap of {GAP:g}. One thread, each fitted once."
)


def breast_cancer() -> data.Data:
    """Return 30 columns whose sizes reach from thousandths to thousands."""
    X, y = load_breast_cancer(return_X_y=True)
    return data.Data("breast cancer", X, 2.0 * y - 1.0)


def scaled(n: int) -> data.Data:
    """Return ten columns whose standard deviations reach from a tenth to a hundred."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = np.sign(X @ rng.normal(size=10) + rng.normal(size=n))
    return data.Data("ten scales", X * np.geomspace(0.1, 100.0, 10), y)


def fit_svc(problem: data.Data, C: float) -> SVC:
    """Fit scikit-learn's SVM."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SVC(kernel="linear", C=C, max_iter=PAIRS).fit(problem.X, problem.y)


def fit_kernelweave(problem: data.Data, C: float) -> MKLClassifier:
    """Fit Kernelweave's model on the same kernel."""
    machine = MKLClassifier(kernels.Linear(), norm=np.inf, normalize=None, C=C, tol=GAP)
    return machine.fit(problem.X, problem.y)


def gap_of(problem: data.Data, C: float, model: SVC | MKLClassifier) -> float:
    """Return the gap of a fitted model, from scratch."""
    coef, support = model.dual_coef_[0], model.support_
    outputs = (problem.X @ (problem.X[support].T @ coef))[None]
    return hinge_gap(outputs, problem.y, support, coef, np.ones(1), np.inf, C)


def run(settings: Settings) -> Table:
    """Compare on two problems at three costs."""
    table = Table("A linear machine on columns as they come", COLUMNS, notes=[NOTE])
    for problem in (breast_cancer(), scaled(settings.size(2000, 100))):
        for C in (1.0, 100.0, 10_000.0):
            with blas_threads(1):
                ours = timed(partial(fit_kernelweave, problem, C))
                theirs = timed(partial(fit_svc, problem, C)) if settings.peers else None
            row: list[Any] = [problem.label, C, ours.best, gap_of(problem, C, ours.result)]
            if theirs:
                pairs = int(theirs.result.n_iter_[0])
                row += [theirs.best, gap_of(problem, C, theirs.result), pairs]
            table.add(*row, *[None] * (len(COLUMNS) - len(row)))
    return table
