"""Gapped k-mers on real DNA, beside spectrum and weighted degree kernels and k-mer counts."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelweave.kernels import GappedKmer, Spectrum, WeightedDegree

from .kmer_counts import counts
from .report import Table
from .sequence_data import Load, Task, loaded
from .settings import Settings
from .strings_real import SITES, Side, machine, peer
from .timing import blas_threads

QUICK = False
COLUMNS = ("data", "train", "model", "fit CPU s", "gap", "per CPU s", "auROC")
NOTE = (
    "One thread, C = 1, unit diagonals, both strands but for WeightedDegree, from texts to a "
    "fitted model at a relative duality gap of 1e-3. `per CPU s`: test sequences scored, from "
    "texts, the table that the model becomes included. `GappedKmer()`: l = 11, k = 7, truncated "
    "filter; with d = 3 it is the kernel that LS-GKM has by default, whose auROC (version 0.1.2, "
    "-t 2) is .9754 on CTCF, .9894 on EP300, .9924 on NFE2, .8677 on enhancers."
)
MIDDLE = (50, 50)


def lsgkm_default() -> GappedKmer:
    """Return the kernel of LS-GKM's defaults, which is slightly indefinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GappedKmer(d=3)


DNA = (
    machine("GappedKmer()", GappedKmer()),
    machine("GappedKmer(d=3)", lsgkm_default()),
    machine("GappedKmer(centre=(50, 50))", GappedKmer(centre=MIDDLE)),
    machine("Spectrum(6)", Spectrum(6, both_strands=True)),
    peer("6-mer counts", counts(6, 6, both_strands=True)),
)
FIXED = (machine("WeightedDegree(20)", WeightedDegree(20)),)


def run(settings: Settings) -> Table:
    """Fit and test every model once on every set."""
    table = Table("Gapped k-mers", COLUMNS, notes=[NOTE])
    fill(table, SITES, DNA, settings)
    return table


def fill(table: Table, loads: Iterable[Load], sides: tuple[Side, ...], settings: Settings) -> None:
    """Add a row for every model and set."""
    with blas_threads(1):
        for task in loaded(loads, table):
            task = settings.size(task, task.smaller(200), task.smaller(500))
            for side in (*sides, *suited(task)):
                row = measure(task, side)
                table.add(*row)
                print(*row, sep="\t", file=sys.stderr, flush=True)


def suited(task: Task) -> tuple[Side, ...]:
    """Return models that suit some sets: those of sequences of one length."""
    return FIXED if len({len(x) for x in task.X}) == 1 else ()


def measure(task: Task, side: Side) -> list[object]:
    """Return a row of the table."""
    train, test = task.splits[0]
    model = side.model.set_params(**{side.cost: 1.0})
    started = time.process_time()
    model.fit(task.X[train], task.y[train])
    fitted = time.process_time()
    scores = model.decision_function(task.X[test])
    seconds = time.process_time() - fitted
    rate = len(test) / max(seconds, time.get_clock_info("process_time").resolution)
    positive = task.y[test] == model.classes_[1]
    gap = getattr(model, "duality_gap_", np.nan)
    auc = f"{roc_auc_score(positive, scores):.4f}"
    return [task.name, len(train), side.label, fitted - started, gap, rate, auc]
