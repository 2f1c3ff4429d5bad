"""Learned weights against MKLpy's EasyMKL and himalaya's multiple kernel ridge."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC

from kernelweave import MKLClassifierCV, MKLRegressorCV, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import blas_threads, timed

QUICK = False
GAMMAS = np.geomspace(1e-3, 1.0, 10)
COSTS = (0.1, 1.0, 10.0, 100.0)
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
LAMBDAS = (0.0, 0.1, 0.5, 0.9)  # of EasyMKL: between the margin (0) and the centroids (1)
RIDGES = np.geomspace(1e-3, 1e3, 7)
FOLDS = 4
CLASSES = ("ionosphere", "sonar", "wdbc", "pima", "heart_statlog")
TARGETS = ("boston_housing", "concrete", "abalone")
MOST = 600  # examples of a set

Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""From training examples and targets to a function that predicts."""


def run(settings: Settings) -> Table:
    """Compare test scores and seconds on the same folds, each side with a grid of its own."""
    columns = ("data", "n", "peer", "ours", "theirs", "difference", "ours s", "theirs s", "ratio")
    table = Table(
        f"{len(GAMMAS)} RBF kernels of all columns, {FOLDS} folds",
        columns,
        notes=[
            "Mean accuracy, for regression mean R^2; differences fold by fold, with their standard "
            "errors. Seconds are medians of a fold: kernels, search and last fit, one thread.",
            f"Ours: p of {len(NORMS)} and C of {COSTS} by 3-fold cross-validation. EasyMKL: "
            f"lambda of {LAMBDAS} and the C of its `SVC` by the same. himalaya: random search of "
            f"100 candidates and {len(RIDGES)} ridges, its own 3 folds; ours has these ridges.",
        ],
    )
    names = settings.size((*CLASSES, *TARGETS), ("heart_statlog",))
    with blas_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            cells = row(name, settings.size(MOST, 80), settings.size(FOLDS, 2))
            print(*cells, sep=" | ", flush=True)
            table.add(*cells)
    return table


def row(name: str, most: int, folds: int) -> list[Any]:
    """Return a row of the table."""
    problem = data.real(name)
    chosen = np.random.default_rng(0).permutation(len(problem.y))[:most]
    X, y = problem.X[chosen].astype(float), problem.y[chosen]
    regression = name in TARGETS
    if regression:
        y = (y - y.mean()) / y.std()
        splits = KFold(folds, shuffle=True, random_state=0).split(X)
        sides, peer, score = (ours_regression, himalaya), "himalaya", r_squared
    else:
        splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y)
        sides, peer, score = (ours_classification, easy_mkl), "EasyMKL", accuracy
    scores, seconds = zip(*judged(X, y, splits, sides, score), strict=True)
    ours, theirs = np.transpose(scores)
    ours_s, theirs_s = np.median(seconds, axis=0)
    gain = ours - theirs
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    means = float(ours.mean()), float(theirs.mean()), f"{gain.mean():+.3f} +- {error:.3f}"
    return [name, len(y), peer, *means, float(ours_s), float(theirs_s), float(ours_s / theirs_s)]


def judged(
    X: np.ndarray,
    y: np.ndarray,
    splits: Any,
    sides: tuple[Fit, ...],
    score: Callable[[np.ndarray, np.ndarray], float],
) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the test scores and the seconds of all sides, fold by fold."""
    for train, test in splits:
        scores, seconds = [], []
        for fit in sides:
            fitted = timed(partial(fit, X[train], y[train]))
            seconds.append(fitted.best)
            scores.append(score(y[test], fitted.result(X[test])))
        yield scores, seconds


def accuracy(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of labels that are right."""
    return float(np.mean(y == predicted))


def r_squared(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of the variance that is explained."""
    return float(1 - np.mean((y - predicted) ** 2) / y.var())


def ours_classification(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Choose norm and C, and fit."""
    family = kernels.RBF(gamma=list(GAMMAS))
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    return MKLClassifierCV(family, norms=NORMS, Cs=COSTS, cv=folds).fit(X, y).predict


def ours_regression(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Choose norm and C for the squared loss, and fit."""
    family = kernels.RBF(gamma=list(GAMMAS))
    folds = KFold(3, shuffle=True, random_state=1)
    search = MKLRegressorCV(family, norms=NORMS, Cs=0.5 / RIDGES, cv=folds, loss="squared")
    return search.fit(X, y).predict


def easy_mkl(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Choose lambda and the cost of the SVM on EasyMKL's combination, and fit.

    The weights depend on lambda only: they are learned once for each training part.
    """
    algorithms = installed("MKLpy.algorithms", "MKLpy")
    torch = installed("torch", "torch")
    stack = np.stack([rbf_kernel(X, gamma=gamma) for gamma in GAMMAS])

    def weights(rows: np.ndarray, lam: float) -> np.ndarray:
        listed = [torch.tensor(K[np.ix_(rows, rows)]) for K in stack]
        found = algorithms.EasyMKL(lam=lam, learner=SVC(kernel="precomputed")).fit(listed, y[rows])
        return np.asarray(found.solution.weights, dtype=float)

    grid = [(lam, C) for lam in LAMBDAS for C in COSTS]
    scores = np.zeros(len(grid))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        for first, lam in enumerate(LAMBDAS):
            K = np.tensordot(weights(train, lam), stack, 1)
            for second, C in enumerate(COSTS):
                machine = SVC(kernel="precomputed", C=C).fit(K[np.ix_(train, train)], y[train])
                at = first * len(COSTS) + second
                scores[at] += machine.score(K[np.ix_(test, train)], y[test])
    lam, C = grid[int(scores.argmax())]
    theta = weights(np.arange(len(y)), lam)
    machine = SVC(kernel="precomputed", C=C).fit(np.tensordot(theta, stack, 1), y)

    def predict(Z: np.ndarray) -> np.ndarray:
        K = sum(w * rbf_kernel(Z, X, gamma=gamma) for w, gamma in zip(theta, GAMMAS, strict=True))
        return np.asarray(machine.predict(K))

    return predict


def himalaya(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Choose weights and ridge by himalaya's random search, and fit."""
    ridge = installed("himalaya.kernel_ridge", "himalaya")
    options = {"n_iter": 100, "alphas": RIDGES, "progress_bar": False}
    model = ridge.MultipleKernelRidgeCV(
        kernels="precomputed", solver_params=options, cv=3, fit_intercept=True, random_state=0
    )
    model.fit(np.stack([rbf_kernel(X, gamma=gamma) for gamma in GAMMAS]), y[:, None])

    def predict(Z: np.ndarray) -> np.ndarray:
        K = np.stack([rbf_kernel(Z, X, gamma=gamma) for gamma in GAMMAS])
        return np.asarray(model.predict(K))[:, 0]

    return predict


def installed(module: str, package: str) -> Any:
    """Import a module of a peer, or report that it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise data.MissingData(f"{package} is not installed ({error})") from None
