"""Novelty detection without arguments, against OneClassSVM on scaled columns."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from kernelweave import MKLOneClass

from .accuracy_real import loaded
from .report import Table
from .settings import Settings

SETS = ("ionosphere", "wdbc", "breast_cancer_wisconsin", "pima", "cod_rna")
REPEATS = 5
MOST = 3000  # examples of a set


def run(settings: Settings) -> Table:
    """Train on half of one class, and separate its other half from the other class."""
    table = Table(
        f"AUC, mean of {REPEATS} random halves",
        ("data", "class to learn", "MKLOneClass()", "scaled OneClassSVM()"),
        notes=[f"At most {MOST} examples of a set; both with nu = 0.5, their default."],
    )
    for name in settings.size(SETS, SETS[:1]):
        X, y, _ = loaded(name, most=MOST)
        for inside in (1, -1):
            pairs = [halves(X, y, inside, seed) for seed in range(settings.size(REPEATS, 1))]
            table.add(name, f"{inside:+d}", *np.mean(pairs, axis=0).tolist())
    return table


def halves(X: np.ndarray, y: np.ndarray, inside: int, seed: int) -> list[float]:
    """Return the AUC of both models."""
    known = np.random.default_rng(seed).permutation(np.flatnonzero(y == inside))
    train, kept = np.split(known, [len(known) // 2])
    test = np.concatenate([kept, np.flatnonzero(y != inside)])
    machines = (MKLOneClass(), make_pipeline(StandardScaler(), OneClassSVM()))
    scores = [machine.fit(X[train]).score_samples(X[test]) for machine in machines]
    return [float(roc_auc_score(y[test] == inside, values)) for values in scores]
