"""Real sequences: string kernels beside k-mer features and logistic regression."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GridSearchCV

from kernelweave import MKLClassifier
from kernelweave.kernels import Spectrum, WeightedDegree, WeightedDegreeShift

from .kmer_counts import counts, positional
from .report import Table
from .sequence_data import Load, Split, Task, column, loaded, sequences, splice42, spread, worm
from .settings import Settings
from .timing import blas_threads

QUICK = False
CS = (0.1, 1.0, 10.0, 100.0)
CHOOSING = 3000  # training examples, at most, on which C is chosen
COLUMNS = ("data", "train", "model", "C", "fit CPU s", "per CPU s", "auROC", "auPRC", "error %")
NOTE = (
    "One thread. All features and kernels have unit diagonal; both sides take C from "
    f"{CS} by three folds of at most {CHOOSING:,} training examples (auROC, or accuracy with more "
    "than two classes), and are timed at that C, from texts to a fitted model, kernels to a "
    "relative duality gap of 1e-3. `per CPU s`: test sequences scored. `Spectrum(3..8)` learns the "
    "weights of six kernels (p = 2). promoter_seq and coiled coils: means of five folds; AMP, "
    "splice_seq and multiloc_seq: a fifth of the examples tests; splice42: a fifth trains; the "
    "others have a test part. Sites and enhancers: both strands on both sides. splice42, published "
    "errors of PWM and WAM: n1 2.5 and 2.0, n2 10.4 and 7.6, n3 50.9 and 24.7, n4 4.9 and 3.9."
)


@dataclass(frozen=True)
class Side:
    """A model, the name of its cost parameter, and what to call it."""

    label: str
    model: Any
    cost: str


def machine(label: str, kernel: Any) -> Side:
    """Return an SVM on one kernel or a family."""
    return Side(label, MKLClassifier(kernel, normalize="unit", n_jobs=1), "C")


def peer(label: str, model: Any) -> Side:
    """Return logistic regression on some features."""
    return Side(f"{label} + logistic regression", model, "fit__C")


AT_POSITIONS = (
    machine("WeightedDegree(20)", WeightedDegree(20)),
    machine("WeightedDegreeShift(20, 2)", WeightedDegreeShift(20, 2)),
    machine("Spectrum(6)", Spectrum(6)),
    peer("1..3-mers at positions", positional(3)),
    peer("6-mer counts", counts(6, 6)),
)
ANYWHERE = (
    machine("Spectrum(6)", Spectrum(6, both_strands=True)),
    machine("Spectrum(3..8)", Spectrum(range(3, 9), both_strands=True)),
    peer("6-mer counts", counts(6, 6, both_strands=True)),
    peer("3..8-mer counts", counts(3, 8, both_strands=True)),
)
PROTEINS = (
    machine("Spectrum(3)", Spectrum(3, alphabet="protein")),
    machine("Spectrum(1..3)", Spectrum((1, 2, 3), alphabet="protein")),
    peer("3-mer counts", counts(3, 3)),
    peer("1..3-mer counts", counts(1, 3)),
)
FIXED_LENGTH: tuple[Load, ...] = (
    worm,
    *(partial(splice42, negatives) for negatives in ("n1", "n2", "n3", "n4")),
    partial(sequences, "ensemblesplice_hs3d_acceptor", "HS3D acceptor"),
    partial(sequences, "ensemblesplice_hs3d_donor", "HS3D donor"),
    partial(column, "splice_seq", "class"),
    partial(column, "promoter_seq", "class"),
)
SITES: tuple[Load, ...] = (
    partial(sequences, "fastsk_dna_CTCF", "CTCF"),
    partial(sequences, "fastsk_dna_EP300", "EP300"),
    partial(sequences, "fastsk_dna_ZZZ3", "ZZZ3"),
    partial(sequences, "lsgkm_nfe2_gm12878", "NFE2"),
    partial(sequences, "gkmexplain_nanog_h1esc", "NANOG"),
    partial(sequences, "ienhancer2l_layer1", "enhancers"),
)
PROTEIN_SETS: tuple[Load, ...] = (
    partial(sequences, "fastsk_prot_1.1", "SCOP 1.1"),
    partial(sequences, "fastsk_prot_2.1", "SCOP 2.1"),
    partial(sequences, "amp_bhadra2018", "AMP"),
    partial(sequences, "kebabs_ccoil", "coiled coils"),
    partial(column, "multiloc_seq", "location"),
)


def run(settings: Settings) -> Table:
    """Fit and test every model once on every set."""
    table = Table("Real sequences", COLUMNS, notes=[NOTE])
    groups = ((FIXED_LENGTH, AT_POSITIONS), (SITES, ANYWHERE), (PROTEIN_SETS, PROTEINS))
    with blas_threads(1):
        pairs = ((task, sides) for loads, sides in groups for task in loaded(loads, table))
        for task, sides in pairs:
            for row in rows(settings.size(task, task.smaller(200)), sides):
                table.add(*row)
                print(*row, sep="\t", file=sys.stderr, flush=True)
    return table


def rows(task: Task, sides: Iterable[Side]) -> Iterable[list]:
    """Yield the row of every model: means over the splits of the task."""
    n = round(np.mean([len(train) for train, _ in task.splits]))
    for side in sides:
        measured = np.array([measure(task, split, side) for split in task.splits])
        C, seconds, rate, *scores = measured.mean(axis=0)
        digits = (4, 4, 2)
        shown = [rounded(score, count) for score, count in zip(scores, digits, strict=True)]
        yield [task.name, n, side.label, float(C), float(seconds), float(rate), *shown]


def rounded(score: float, digits: int) -> str | None:
    """Return a score with the digits that differ between models."""
    return None if np.isnan(score) else f"{score:.{digits}f}"


def measure(task: Task, split: Split, side: Side) -> list[float]:
    """Return C, the CPU seconds of a fit, scores per CPU second, auROC, auPRC and error."""
    train, test = split
    C = choose(task, train, side)
    model = side.model.set_params(**{side.cost: C})
    started = time.process_time()
    model.fit(task.X[train], task.y[train])
    fitted = time.process_time()
    scores = model.decision_function(task.X[test])
    rate = len(test) / (time.process_time() - fitted)
    return [C, fitted - started, rate, *quality(task.y[test], scores, model.classes_)]


def choose(task: Task, train: np.ndarray, side: Side) -> float:
    """Return the C that is best on folds of the training examples."""
    some = spread(train, CHOOSING)
    X, y = task.X[some], task.y[some]
    scoring = "roc_auc" if len(np.unique(y)) == 2 else "accuracy"
    folds = list(task.folds.split(X, y))
    search = GridSearchCV(side.model, {side.cost: CS}, scoring=scoring, cv=folds, refit=False)
    return search.fit(X, y).best_params_[side.cost]


def quality(truth: np.ndarray, scores: np.ndarray, classes: np.ndarray) -> list[float]:
    """Return auROC and auPRC, if there are two classes, and the error in percent."""
    if len(classes) > 2:
        return [np.nan, np.nan, 100 * np.mean(classes[scores.argmax(axis=1)] != truth)]
    positive = truth == classes[1]
    ranks = [roc_auc_score(positive, scores), average_precision_score(positive, scores)]
    return [*ranks, 100 * np.mean((scores > 0) != positive)]
