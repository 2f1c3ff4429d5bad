"""All classes in one problem (multinomial logistic loss) beside one against one and the rest."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from . import classes_accuracy, classes_data, data
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
MOST = 400  # examples of a set
FEWEST = 4  # examples of a class, so that every part of a set has one
METHODS = {name: one for name, one in classes_accuracy.METHODS.items() if name != "SVC"}
METHODS["multinomial"] = partial(classes_accuracy.ours, "joint", loss="logistic")
NOTE = (
    f"As classes_accuracy, with at most {MOST} examples; classes of fewer than {FEWEST} left out."
)


def run(settings: Settings) -> Table:
    """Compare on each set that is there."""
    table = Table(
        "Several classes: joint", ("data", *METHODS, "joint - rest", "error"), notes=[NOTE]
    )
    means = []
    for name in settings.size(classes_data.NAMES, ("iris", "wine")):
        try:
            problem = classes_data.load(name, settings.size(MOST, 150))
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        if np.bincount(problem.y).min() < FEWEST:
            table.notes.append(f"Left out: {name}, with a class of few examples.")
            continue
        repeats = settings.size(classes_accuracy.REPEATS, 2)
        with blas_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = classes_accuracy.scores(problem, repeats, METHODS)
        difference = found[-1] - found[0]
        means.append(found.mean(axis=1))
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        table.add(problem.label, *means[-1], difference.mean(), error)
        print(problem.label, *means[-1], sep=" | ", flush=True)
    mean = np.mean(means, axis=0)
    table.add("mean", *mean, mean[-1] - mean[0], None)
    return table
