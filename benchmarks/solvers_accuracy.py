"""Test errors of five ways to combine kernels, as in Moeller et al. (2018), figure 2."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import minmax_scale

from kernelweave import LinearizedMKL, MKLClassifierCV, kernels
from kernelweave.solvers import MWU

from . import data
from .report import Table
from .settings import Settings
from .timing import blas_threads

SETS = (
    "breast_cancer_wisconsin",
    "heart_statlog",
    "ionosphere",
    "pima",
    "sonar",
    "house_votes84",
    "wdbc",
    "wpbc",
)
SPLITS = 10
COSTS = (0.1, 1.0, 10.0, 100.0)  # among which C is chosen,
PARTS = 3  # in so many parts of the training examples
TOLERANCE = 1e-2  # of the duality gap


def family() -> list[kernels.Kernel]:
    """Return 12 kernels for each feature: polynomials and widths from 1 to 16."""
    widths = 2.0 ** np.arange(0, 4.5, 0.5)
    gammas = np.sort(0.5 / widths**2)
    return [
        kernels.per_feature(kernels.Polynomial([1, 2, 3])),
        kernels.per_feature(kernels.RBF(gamma=gammas)),
    ]


def machine(norm: float, **options: Any) -> MKLClassifierCV:
    """Return a classifier on the family that chooses its C."""
    grid = {"norms": [norm], "Cs": COSTS, "cv": PARTS}
    return MKLClassifierCV(family(), n_jobs=1, tol=TOLERANCE, **grid, **options)


def linearized() -> GridSearchCV:
    """Return the model  on explicit features, which chooses its C too."""
    model = LinearizedMKL(family(), n_components=30, random_state=0)
    return GridSearchCV(model, {"C": COSTS}, cv=PARTS)


MODELS: dict[str, Callable[[], Any]] = {
    "mwu": lambda: machine(1.0, loss="squared_hinge", solver=MWU(eps=0.2)),
    "plain sum": lambda: machine(np.inf),
    "LinearizedMKL": linearized,
    "p = 1": lambda: machine(1.0),
    "p = 2": lambda: machine(2.0),
}


def run(settings: Settings) -> Table:
    """Take the median over random splits of 80 and 20 percent."""
    splits = settings.size(SPLITS, 2)
    table = Table(
        f"Median test error over {splits} splits",
        ("data", *MODELS),
        notes=[
            f"C is chosen for each from {COSTS}, in {PARTS} parts of the training examples. "
            f"Duality gaps of at most {TOLERANCE} (mwu: its own eps = 0.2); features scaled to "
            "[0, 1]; columns with one value are left out."
        ],
    )
    for name in SETS[: settings.size(len(SETS), 2)]:
        X, y = loaded(name)
        errors = Parallel(n_jobs=2)(delayed(tested)(X, y, seed) for seed in range(splits))
        table.add(name, *np.median(errors, axis=0).tolist())
    return table


def loaded(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the examples without missing values, and their labels."""
    found = data.arrays(name)
    X, y = found["X"].astype(float), found["y"]
    whole = np.isfinite(X).all(axis=1)
    return minmax_scale(X[whole]), y[whole]


def tested(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return the test error of each model on one split."""
    parts = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
    train, test, y_train, y_test = parts
    varied = np.ptp(train, axis=0) > 0
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = [make().fit(train[:, varied], y_train) for make in MODELS.values()]
    return [1 - model.score(test[:, varied], y_test) for model in fitted]
