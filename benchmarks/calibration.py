"""Probabilities: ``calibrate="sigmoid"`` beside ``CalibratedClassifierCV(SVC())``, one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF

from . import data
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

SMALL = ("german_numeric", "pima", "wdbc", "ionosphere")
LARGE = 6000  # examples of the larger sets: half of them are for training


def run(settings: Settings) -> Table:
    """Fit both with five folds at equal C and width, alternately; compare on held-out halves."""
    table = Table(
        "Probabilities by five folds",
        ("data", "training", "time", "log-loss", "log-loss of SVC"),
        notes=["Time: as a fraction of that of `CalibratedClassifierCV(SVC(), cv=5)`, medians."],
    )
    for one in examples(settings):
        parts = train_test_split(
            one.X, one.y, train_size=0.5, stratify=one.y, shuffle=True, random_state=0
        )
        with blas_threads(1):
            table.add(*row(one.name, parts, settings.repeats))
        print(*table.rows[-1], sep=" | ", flush=True)
    return table


def examples(settings: Settings) -> list[data.Data]:
    """Return the data sets."""
    small = [data.real(name) for name in settings.size(SMALL, SMALL[:1])]
    if settings.tiny:
        return small
    larger = []
    for one in (data.generated(LARGE), data.adult(), data.mnist_odd_even()):
        some = np.random.default_rng(0).permutation(len(one.y))[:LARGE]
        larger.append(data.Data(one.name, one.X[some], one.y[some]))
    return small + larger


def row(name: str, parts: list[np.ndarray], repeats: int) -> list[Any]:
    """Return a row of the table; `parts` are X and y, each for training and for the test."""
    X, new, y, truth = parts
    gamma = 1.0 / (X.shape[1] * X.var())
    ours = MKLClassifier(RBF(gamma), normalize=None, C=1.0, calibrate="sigmoid")
    peer = CalibratedClassifierCV(SVC(gamma=gamma, cache_size=1024), cv=5)
    fits: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours.fit(X, y),
        "peer": lambda: peer.fit(X, y),
    }
    times = alternate(fits, repeats)
    losses = [log_loss(truth, model.predict_proba(new)) for model in (ours, peer)]
    return [name, len(y), times["ours"].median / times["peer"].median, *losses]
