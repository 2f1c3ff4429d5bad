"""Learned weights of gapped k-mers of several lengths, with other string kernels, beside LS-GKM."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelweave import Grams, MKLClassifierCV
from kernelweave.kernels import GappedKmer, Precomputed, Spectrum, WeightedDegree
from kernelweave.norms import Fixed

from .report import Table
from .sequence_data import Load, Task, loaded, sequences
from .settings import Settings
from .strings_gapped import MIDDLE
from .timing import blas_threads

QUICK = False
LSGKM = {"CTCF": 0.9754, "EP300": 0.9894, "NFE2": 0.9924, "enhancers": 0.8677}
NORMS, CS = (1.0, 2.0), (0.3, 1.0, 3.0)
COLUMNS = (
    "data",
    "train",
    "matrices CPU s",
    "search CPU s",
    "p",
    "C",
    "weights",
    "auROC, folds",
    "auROC",
    "LS-GKM",
)
NOTE = (
    f"p of {NORMS} or one kernel alone, and C of {CS}, are chosen by three folds of the training "
    "part (auROC), on kernel matrices that are computed once, those of the test part included. "
    "CPU seconds of one thread, unit diagonals, both strands but for WeightedDegree. Kernels: "
    "GappedKmer(l=[8, 11], k=[5, 7]), GappedKmer(centre=(50, 50)), Spectrum(6) and, where all "
    "sequences are equally long, WeightedDegree(20). LS-GKM 0.1.2 with its defaults (-t 2): its "
    "auROC on the test part."
)
SETS: tuple[Load, ...] = (
    partial(sequences, "lsgkm_nfe2_gm12878", "NFE2"),
    partial(sequences, "fastsk_dna_CTCF", "CTCF"),
    partial(sequences, "fastsk_dna_EP300", "EP300"),
    partial(sequences, "ienhancer2l_layer1", "enhancers"),
)


def kernels_for(task: Task) -> list[Any]:
    """Return the kernels whose weights are learned."""
    kernels: list[Any] = [GappedKmer(l=[8, 11], k=[5, 7]), GappedKmer(centre=MIDDLE)]
    kernels.append(Spectrum(6, both_strands=True))
    if len({len(x) for x in task.X}) == 1:
        kernels.append(WeightedDegree(20))
    return kernels


def run(settings: Settings) -> Table:
    """Learn and test on every set."""
    table = Table("Learned weights of gapped k-mers", COLUMNS, notes=[NOTE])
    with blas_threads(1):
        for task in loaded(SETS, table):
            task = settings.size(task, task.smaller(100), task.smaller(300))
            row = measure(task)
            table.add(*row)
            print(*row, sep="\t", file=sys.stderr, flush=True)
    return table


def measure(task: Task) -> list[object]:
    """Return a row of the table."""
    train, test = task.splits[0]
    ticks = [time.process_time()]
    matrices, others = unit_matrices(kernels_for(task), task.X[train], task.X[test])
    ticks.append(time.process_time())
    search = MKLClassifierCV(
        Precomputed(),
        normalize=None,
        norms=[*NORMS, *map(Fixed, np.eye(len(matrices)))],
        Cs=CS,
        cv=task.folds,
        scoring="roc_auc",
        n_jobs=1,
    ).fit(Grams(matrices), task.y[train])
    ticks.append(time.process_time())
    positive = task.y[test] == search.classes_[1]
    auc = roc_auc_score(positive, search.decision_function(Grams(others)))
    weights = " ".join(f"{weight:.2f}" for weight in search.weights_)
    scores = [f"{score:.4f}" for score in (search.best_score_, auc, LSGKM[task.name])]
    alone = isinstance(search.norm_, Fixed)
    chosen = ["alone" if alone else search.norm_, search.C_, weights]
    return [task.name, len(train), *np.diff(ticks), *chosen, *scores]


def unit_matrices(
    kernels: list[Any], X: np.ndarray, Y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices of all kernels, (M, n, n) and (M, tests, n), with unit diagonals."""
    each, others = [], []
    for kernel in kernels:
        K = np.reshape(kernel(X, n_jobs=1), (-1, len(X), len(X)))
        root = np.sqrt(np.diagonal(K, axis1=1, axis2=2))
        lengths = np.sqrt(np.reshape(kernel.diagonal(Y), (-1, len(Y))))
        L = np.reshape(kernel(Y, X, n_jobs=1), (-1, len(Y), len(X)))
        each.append(K / (root[:, :, None] * root[:, None, :]))
        others.append(L / (lengths[:, :, None] * root[:, None, :]))
    return np.concatenate(each), np.concatenate(others)
