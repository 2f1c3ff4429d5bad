"""Coverage of prediction sets and intervals at level 0.9 on twelve sets of data.

Default estimators with ``calibrate=`` are trained on random halves of at most 1,000 rows, and their
sets or intervals are compared with the targets of the other halves.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from kernelweave import MKLClassifier, MKLRegressor

from .accuracy_default import DEVELOPMENT, REPORTED
from .report import Table
from .settings import Settings

QUICK = False
ALPHA, SPLITS = 0.1, 10
CLASSES = ("ionosphere", "pima", "heart", "sonar", "german", "wdbc", "iris")
QUANTITIES = ("concrete", "diabetes", "boston", "abalone", "friedman2")


def run(settings: Settings) -> Table:
    """Return the coverage on every set, and its mean."""
    names = settings.size(CLASSES + QUANTITIES, ("iris", "friedman2"))
    splits = settings.size(SPLITS, 2)
    columns = ("data", "training", "calibrate", "coverage", "size", "jackknife+", "its size")
    table = Table(
        f"Coverage at level {1 - ALPHA:g}",
        columns,
        notes=[
            f"Mean of {splits} splits. Size: mean number of classes of a set, or mean width of an "
            "interval as a multiple of the standard deviation of the target."
        ],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            table.add(name, *row(name, splits))
            print(*table.rows[-1], sep=" | ", flush=True)
    means = [_mean([row[at] for row in table.rows]) for at in (3, 5)]
    table.add("mean", None, "", means[0], None, means[1], None)
    return table


def row(name: str, splits: int) -> tuple[int, str, float, float, float | None, float | None]:
    """Return training size, kind of calibration, and coverages with sizes of a set of data."""
    X, y = {**DEVELOPMENT, **REPORTED}[name]()
    classify = name in CLASSES
    kind = StratifiedShuffleSplit if classify else ShuffleSplit
    parts = list(kind(splits, test_size=0.5, random_state=0).split(X, y))
    if classify:
        found = [sets(X, y, *part) for part in parts]
        return len(parts[0][0]), "sigmoid", *np.mean(found, axis=0).tolist(), None, None
    found = [
        [*intervals(X, y, *part, "residuals"), *intervals(X, y, *part, "jackknife+")]
        for part in parts
    ]
    return len(parts[0][0]), "residuals", *np.mean(found, axis=0).tolist()


def sets(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """Return coverage and mean size of prediction sets."""
    model = MKLClassifier(calibrate="sigmoid").fit(X[train], y[train])
    found = model.predict_set(X[test], ALPHA)
    inside = (found & (model.classes_ == y[test, None])).any(axis=1)
    return float(inside.mean()), float(found.sum(axis=1).mean())


def intervals(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, how: str
) -> tuple[float, float]:
    """Return coverage and mean relative width of prediction intervals."""
    loss = "squared" if how == "jackknife+" else "epsilon_insensitive"
    model = MKLRegressor(loss=loss, calibrate=how).fit(X[train], y[train])
    low, high = model.predict_interval(X[test], ALPHA).T
    inside = (low <= y[test]) & (y[test] <= high)
    return float(inside.mean()), float((high - low).mean() / y.std())


def _mean(values: list[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))
