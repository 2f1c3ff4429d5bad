"""Splice sites of human, worm and a plant: default kernels beside published networks and SVMs."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from kernelweave import MKLClassifier
from kernelweave.kernels import WeightedDegree, WeightedDegreeShift

from .report import Table
from .sequence_data import Load, Split, Task, loaded, read, sequences, spread, task, worm
from .settings import Settings
from .timing import blas_threads

QUICK = False
FOLDS = 5
COLUMNS = ("data", "train", "model", "auROC", "auPRC", "accuracy %", "published", "fit CPU s")
NOTE = (
    "One thread; the default and the shifted kernel choose C themselves. HS3D: means of five "
    "folds. Worm: one file trains, another of other chromosomes tests. Arabidopsis: a fifth of "
    "125,608 sequences of 42 letters trains, sites against the negatives n2. Published: accuracy "
    "of the best of six ensembles of convolutional networks in five-fold cross-validation on the "
    "same HS3D sites, folds drawn anew (Akpokiro et al., 2022, table 3); auROC of WD kernels on "
    "100,000 other windows of the worm (Sonnenburg et al., 2007). DeepSS, a network of two "
    "convolutions: 1,000 sites among 20,000 other windows of the worm, 141 letters (table 2 of "
    "Scientific Reports 13:10221, 2023); our test windows then have 5 % sites."
)
DEFAULT = "default"
DEGREE_20 = "WeightedDegree(20), C = 1"
SHIFTED = "WeightedDegreeShift(20, 2)"
MODELS = {
    DEFAULT: MKLClassifier(n_jobs=1),
    SHIFTED: MKLClassifier(WeightedDegreeShift(20, 2), C="auto", n_jobs=1),
    DEGREE_20: MKLClassifier(WeightedDegree(20), C=1.0, n_jobs=1),
}


def run(settings: Settings) -> Table:
    """Fit and test each model on its sites."""
    table = Table("Splice sites", COLUMNS, notes=[NOTE])
    rows: list[tuple[Load, str, str | None]] = [
        (partial(hs3d, "acceptor"), DEFAULT, "accuracy 94"),
        (partial(hs3d, "acceptor"), SHIFTED, "accuracy 94"),
        (partial(hs3d, "donor"), DEFAULT, "accuracy 95.8"),
        (partial(hs3d, "donor"), SHIFTED, "accuracy 95.8"),
        (worm_of_few, DEFAULT, "auROC 0.9956, auPRC 0.9818"),
        (worm_of_few, SHIFTED, "auROC 0.9956, auPRC 0.9818"),
        (worm, DEFAULT, None),
        (worm, SHIFTED, None),
        (worm, DEGREE_20, "auROC 0.997"),
        (arabidopsis, DEFAULT, None),
        (arabidopsis, SHIFTED, None),
    ]
    with blas_threads(1):
        for load, name, published in rows:
            for found in loaded([load], table):
                sites = settings.size(found, found.smaller(200))
                cells = np.mean([measure(sites, split, name) for split in sites.splits], axis=0)
                auroc, auprc, accuracy, seconds = cells.tolist()
                n = round(np.mean([len(train) for train, _ in sites.splits]))
                scores = (f"{auroc:.4f}", f"{auprc:.4f}", f"{accuracy:.1f}")
                table.add(sites.name, n, name, *scores, published, seconds)
    return table


def measure(sites: Task, split: Split, name: str) -> list[float]:
    """Return auROC, auPRC, accuracy in percent and the CPU seconds of the fit."""
    train, test = split
    started = time.process_time()
    model = clone(MODELS[name]).fit(sites.X[train], sites.y[train])
    seconds = time.process_time() - started
    scores, y = model.decision_function(sites.X[test]), sites.y[test] == model.classes_[1]
    accuracy = 100 * float(np.mean((scores > 0) == y))
    return [roc_auc_score(y, scores), average_precision_score(y, scores), accuracy, seconds]


def hs3d(site: str) -> Task:
    """Return the human sites of HS3D in five folds."""
    whole = sequences(f"ensemblesplice_hs3d_{site}", f"HS3D {site}")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return replace(whole, splits=list(folds.split(whole.X, whole.y)))


def worm_of_few() -> Task:
    """Return the task of `worm` with as many windows and sites as DeepSS was trained on.

    1,000 sites and 19,000 other windows train; 5 % of the test windows are sites.
    """
    whole = worm()
    train, test = whole.splits[0]
    sites, others = (test[whole.y[test] == label] for label in (1, -1))
    tested = np.sort(np.concatenate([sites, spread(others, 19 * len(sites))]))
    sites, others = (train[whole.y[train] == label] for label in (1, -1))
    trained = np.sort(np.concatenate([spread(sites, 1000), spread(others, 19_000)]))
    return replace(whole, name="worm acceptor, few", splits=[(trained, tested)])


def arabidopsis() -> Task:
    """Return acceptor sites of Arabidopsis; a fifth trains."""
    table = read("sequences/splice42_at_acc.tsv.xz")
    table = table[table["label"].isin(["1", "n2"])]
    y = np.where(table["label"] == "1", 1, -1)
    whole = task("arabidopsis acceptor", table["sequence"], y)
    return replace(whole, splits=[(test, train) for train, test in whole.splits])
