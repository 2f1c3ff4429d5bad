"""Sequences without arguments against logistic regression on counts of 6-mers and 3-mers.

The C of logistic regression is chosen by the area under the ROC curve on three folds, and so are
kernels, norm and C of `MKLClassifierCV` on five. Sets without a test part of their own are cut into
five; small ones are tested on all five.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelweave import MKLClassifier, MKLClassifierCV

from .kmer_counts import counts
from .report import Table
from .sequence_data import Task, loaded, spread
from .settings import Settings
from .strings_real import FIXED_LENGTH, PROTEIN_SETS, SITES, Side, choose, peer
from .timing import blas_threads

QUICK = False
MOST_TRAINING, MOST_TEST = 1000, 2000  # sequences of a split
COLUMNS = ("data", "kernels chosen", "no argument", "CV by AUC", "6-mers + LR", "3-mers + LR")
STRANDS = {True: SITES, False: (*FIXED_LENGTH, *PROTEIN_SETS)}  # whether 6-mers are of both


def run(settings: Settings) -> Table:
    """Return the areas under the ROC curve of each set with two classes."""
    table = Table("Sequences", COLUMNS)
    with blas_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for both, loads in STRANDS.items():
            for task in loaded(loads[: settings.size(None, 1)], table):
                if len(np.unique(task.y)) == 2:
                    table.add(*row(task, both, settings))
                    print(*table.rows[-1], sep="\t", file=sys.stderr, flush=True)
    return table


def row(task: Task, both_strands: bool, settings: Settings) -> list:
    """Return the cells of a set: means over its splits."""
    sides = [peer(f"{k}-mers", counts(k, k, both_strands=both_strands)) for k in (6, 3)]
    most = settings.size((MOST_TRAINING, MOST_TEST), (300, 300))
    chosen, areas = [], []
    for split in task.splits[: settings.size(None, 1)]:
        train, test = (spread(part, n) for part, n in zip(split, most, strict=True))
        model, ranked = (
            one.fit(task.X[train], task.y[train])
            for one in (MKLClassifier(), MKLClassifierCV(scoring="roc_auc"))
        )
        chosen += [one["kernels"] for one in model.candidates_ if one["chosen"]]
        others = [tuned(task, train, side) for side in sides]
        areas.append([area(one, task, test) for one in (model, ranked, *others)])
    kernels = ", ".join(sorted(set(chosen), key=chosen.index))
    means = [f"{value:.3f}" for value in np.mean(areas, axis=0)]
    return [task.name, kernels, *means]


def tuned(task: Task, train: np.ndarray, side: Side) -> object:
    """Return logistic regression with the C that is best on folds of the training examples."""
    C = choose(task, train, side)
    return side.model.set_params(**{side.cost: C}).fit(task.X[train], task.y[train])


def area(model: object, task: Task, test: np.ndarray) -> float:
    """Return the area under the ROC curve of a fitted model on test examples."""
    scores = model.decision_function(task.X[test])
    return float(roc_auc_score(task.y[test] == model.classes_[1], scores))
