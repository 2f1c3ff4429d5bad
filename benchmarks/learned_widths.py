"""Learned widths against a grid of 20: test error and CPU time."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, MKLWidths
from kernelweave.kernels import RBF

from .data import real
from .report import Table
from .settings import Settings

QUICK = False
SETS = ("heart_statlog", "sonar", "ionosphere")
COSTS = 1.0
NOTE = (
    "Standardised columns, two classes, C = 1, 5 folds. Grid: MKLClassifier on 20 widths, factors "
    "of 1e-3 to 1e3 around 1 / number of columns. One width, two, and one per column: MKLWidths "
    "with three starts. Optima: objectives of the three starts that differ by more than 1 %, mean "
    "over folds. noise columns: X0 * X1 > 0 among 10 columns, 300 rows."
)


def run(settings: Settings) -> Table:
    """Cross-validate four ways to find widths."""
    columns = ("data", "widths", "error %", "CPU s a fit", "fits", "optima")
    table = Table("Learned widths", columns, notes=[NOTE])
    for name, (X, y) in data(settings).items():
        for label, model in models(X.shape[1]).items():
            table.add(name, label, *measured(model, X, y))
    return table


def data(settings: Settings) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the data sets by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(settings.size(300, 40), 10))
    found = {"noise columns": (X, X[:, 0] * X[:, 1] > 0)}
    for name in settings.size(SETS, ()):
        found[name] = (real(name).X, real(name).y)
    return found


def models(width: int) -> dict[str, Any]:
    """Return the models by the widths that they have."""
    learn = RBF(gamma="learn")
    grid = RBF(gamma=np.geomspace(1e-3, 1e3, 20) / width)
    return {
        "grid of 20, p = 1": MKLClassifier(grid, norm=1, C=COSTS),
        "grid of 20, p = 2": MKLClassifier(grid, norm=2, C=COSTS),
        "one, learned": MKLWidths(MKLClassifier(learn, C=COSTS)),
        "two, learned": MKLWidths(MKLClassifier([learn, learn], norm=1, C=COSTS)),
        "one per column, learned": MKLWidths(MKLClassifier(learn, C=COSTS), ard=True),
    }


def measured(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """Return test error in percent, CPU seconds, fits and different optima, means over folds."""
    rows = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the constant model is optimal at some widths
            model.fit(scaler.transform(X[train]), y[train])
        seconds = time.process_time() - started
        error = 100 * np.mean(model.predict(scaler.transform(X[test])) != y[test])
        rows.append((error, seconds, getattr(model, "n_fits_", 1), optima(model)))
    error, seconds, fits, different = np.mean(rows, axis=0).tolist()
    return error, seconds, fits, different


def optima(model: Any) -> int:
    """Return how many objectives of the starts differ by more than 1 %."""
    values = np.sort(getattr(model, "objectives_", np.ones(1)))
    return 1 + int((np.diff(values) > 0.01 * np.abs(values[1:])).sum())
