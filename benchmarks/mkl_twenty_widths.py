"""Learned weights of 20 RBF widths, beside MKLpy, himalaya and a linear program around SVC."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .by_hand import silp
from .certificates import rbf_gap
from .mkl_peers import installed
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

QUICK = False
GAP = 1e-3
GAMMAS = np.geomspace(1e-3, 1.0, 20)
COLUMNS = ("data", "method", "CPU s", "ratio", "gap", "test accuracy")
NOTE = (
    "2,000 examples for training, 2,000 for tests. "
    "One thread; CPU seconds from the table to a fitted model, kernels included. `ratio`: to the "
    f"time of kernelweave at p = 1. Relative duality gaps are recomputed in NumPy; {GAP:g} is "
    "asked for. EasyMKL and himalaya solve other problems: margins of weighted centroids, and "
    "ridge regression, whose weights are chosen among 20 random ones in 3 folds."
)


def run(settings: Settings) -> Table:
    """Fit every method on 2,000 examples of each set, test on 2,000 others."""
    n = settings.size(2000, 80, 500)
    table = Table(f"{len(GAMMAS)} RBF widths, {n:,} examples", COLUMNS, notes=[NOTE])
    with blas_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problem in found(table, n):
            for row in rows(problem, n, settings):
                table.add(*row)
    return table


def found(table: Table, n: int) -> list[data.Data]:
    """Return 2 n examples of each set that there is; name the missing ones in the table."""
    problems = [data.generated(2 * n)]
    for load in (data.adult, data.mnist_odd_even):
        try:
            problems.append(load().first(2 * n))
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
    return problems


def rows(problem: data.Data, n: int, settings: Settings) -> list[list[Any]]:
    """Return the rows of one set."""
    X, y = problem.X[:n], problem.y[:n]
    sides: dict[str, Callable[[], Any]] = {
        "kernelweave, p = 1": partial(fit_mkl, X, y, 1.0),
        "kernelweave, p = 2": partial(fit_mkl, X, y, 2.0),
        "plain sum and `SVC`": partial(fit_sum, X, y),
    }
    if settings.peers:
        sides["linear program around `SVC`, p = 1"] = partial(silp, X, y, list(GAMMAS), GAP)
        sides |= {
            name: partial(fit, X, y) for name, fit in OTHERS.items() if is_installed(PACKAGES[name])
        }
    times = alternate(sides, settings.repeats, time.process_time)
    ours = times["kernelweave, p = 1"].best
    made = []
    for name, timing in times.items():
        made.append(
            [
                problem.name,
                name,
                timing.best,
                timing.best / ours,
                gap_of(X, y, timing.result),
                accuracy(problem.X[n:], problem.y[n:], timing.result),
            ]
        )
    return made


def fit_mkl(X: np.ndarray, y: np.ndarray, p: float) -> MKLClassifier:
    """Learn the weights of the widths."""
    family = kernels.RBF(gamma=list(GAMMAS))
    return MKLClassifier(family, norm=p, C=1.0, normalize=None, tol=GAP, n_jobs=1).fit(X, y)


class OnSum:
    """A model on a weighted sum of the kernels."""

    def __init__(self, X: np.ndarray, theta: np.ndarray, model: Any):
        self.X, self.theta, self.model = X, theta, model

    def predict(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(summed(Z, self.X, self.theta)))


def summed(Z: np.ndarray, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the weighted sum of the kernels between Z and X."""
    total = np.zeros((len(Z), len(X)))
    for weight, gamma in zip(theta, GAMMAS, strict=True):
        total += weight * rbf_kernel(Z, X, gamma=gamma)
    return total


def fit_sum(X: np.ndarray, y: np.ndarray) -> OnSum:
    """Fit scikit-learn's SVM on the sum of the kernels."""
    ones = np.ones(len(GAMMAS))
    return OnSum(X, ones, SVC(kernel="precomputed").fit(summed(X, X, ones), y))


def fit_easy_mkl(X: np.ndarray, y: np.ndarray) -> OnSum:
    """Learn the weights by MKLpy's EasyMKL, then fit an SVM on the sum."""
    algorithms, torch = installed("MKLpy.algorithms", "MKLpy"), installed("torch", "torch")
    listed = [torch.tensor(rbf_kernel(X, gamma=gamma)) for gamma in GAMMAS]
    learner = SVC(kernel="precomputed")
    theta = algorithms.EasyMKL(lam=0.1, learner=learner).fit(listed, y).solution.weights
    weights = np.asarray(theta, dtype=float)
    return OnSum(X, weights, SVC(kernel="precomputed").fit(summed(X, X, weights), y))


class Ridge:
    """himalaya's multiple kernel ridge regression on labels -1 and 1."""

    def __init__(self, X: np.ndarray, y: np.ndarray):
        ridge = installed("himalaya.kernel_ridge", "himalaya")
        self.X = X
        self.model = ridge.MultipleKernelRidgeCV(
            kernels="precomputed",
            solver_params={"n_iter": 20, "progress_bar": False},
            cv=3,
            fit_intercept=True,
            random_state=0,
        )
        self.model.fit(np.stack([rbf_kernel(X, gamma=gamma) for gamma in GAMMAS]), y[:, None])

    def predict(self, Z: np.ndarray) -> np.ndarray:
        K = np.stack([rbf_kernel(Z, self.X, gamma=gamma) for gamma in GAMMAS])
        return np.sign(np.asarray(self.model.predict(K))[:, 0])


OTHERS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "MKLpy, EasyMKL": fit_easy_mkl,
    "himalaya, ridge": Ridge,
}
PACKAGES = {"MKLpy, EasyMKL": ("MKLpy.algorithms", "torch"), "himalaya, ridge": ("himalaya",)}


def is_installed(modules: tuple[str, ...]) -> bool:
    """Return whether all modules can be imported."""
    try:
        for module in modules:
            installed(module, module)
    except data.MissingData:
        return False
    return True


def gap_of(X: np.ndarray, y: np.ndarray, model: Any) -> float | None:
    """Return the gap of the problem at p = 1 or 2, None for models that solve another problem."""
    if isinstance(model, MKLClassifier):
        coef, p = np.asarray(model.dual_coef_)[0], float(model.norm)
        return rbf_gap(X, y, GAMMAS, model.support_, coef, model.weights_, p)
    return getattr(model, "duality_gap_", None)


def accuracy(X: np.ndarray, y: np.ndarray, model: Any) -> float | None:
    """Return the share of labels predicted correctly, None if the model does not predict."""
    return float(np.mean(model.predict(X) == y)) if hasattr(model, "predict") else None
