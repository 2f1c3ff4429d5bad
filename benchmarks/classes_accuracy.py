"""One against one or against the rest? Accuracy on sets of several classes, tuned alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import classes_data, data
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
COSTS = (1.0, 10.0, 100.0)
WIDTHS = (0.3, 1.0, 3.0)  # times one over the number of columns
MOST = 800  # examples of a set
REPEATS = 3
NOTE = (
    f"Mean accuracy on {REPEATS} random test sets (30 %), with the standard error of the paired "
    f"difference. One RBF kernel on standardised columns; C in {COSTS} and gamma in {WIDTHS} times "
    "1 / columns are chosen for each method on a quarter of the training set, which then trains "
    f"with the rest. At most {MOST} examples of a set."
)
Fit = Callable[[float, float], Any]


def ours(multi_class: str, gamma: float, C: float, loss: str = "hinge") -> MKLClassifier:
    """Return our classifier."""
    kernel = kernels.RBF(gamma=gamma)
    return MKLClassifier(kernel, C=C, normalize=None, multi_class=multi_class, loss=loss)


METHODS: dict[str, Fit] = {
    "against the rest": partial(ours, "ovr"),
    "one against one": partial(ours, "ovo"),
    "SVC": lambda gamma, C: SVC(gamma=gamma, C=C),
}


def tuned(make: Fit, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the model with the C and gamma that are best on a quarter of the examples."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=0, stratify=y)
    points = [(width / X.shape[1], C) for width in WIDTHS for C in COSTS]
    scores = [make(*at).fit(X[train], y[train]).score(X[test], y[test]) for at in points]
    return make(*points[int(np.argmax(scores))]).fit(X, y)


def scores(problem: data.Data, repeats: int, methods: dict[str, Fit] = METHODS) -> np.ndarray:
    """Return the accuracy of each method on each test set, shape (methods, repeats)."""
    found = np.empty((len(methods), repeats))
    for repeat in range(repeats):
        train, test = train_test_split(
            np.arange(len(problem.y)), test_size=0.3, random_state=repeat, stratify=problem.y
        )
        for number, make in enumerate(methods.values()):
            model = tuned(make, problem.X[train], problem.y[train])
            found[number, repeat] = model.score(problem.X[test], problem.y[test])
    return found


def run(settings: Settings) -> Table:
    """Compare on each set that is there."""
    columns = ("data", *METHODS, "one - SVC", "error")
    table = Table("Several classes: accuracy", columns, notes=[NOTE])
    means = []
    for name in settings.size(classes_data.NAMES, ("iris", "wine")):
        try:
            problem = classes_data.load(name, settings.size(MOST, 150))
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        with blas_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = scores(problem, settings.size(REPEATS, 2))
        difference = found[1] - found[2]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        means.append(found.mean(axis=1))
        row = (problem.label, *means[-1], difference.mean(), error)
        print(*row, sep=" | ", flush=True)
        table.add(*row)
    mean = np.mean(means, axis=0)
    table.add("mean", *mean, mean[1] - mean[2], None)
    return table
