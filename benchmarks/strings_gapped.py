"""Gapped k-mers on real sequences, beside spectrum and weighted degree kernels and k-mer counts."""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelweave.kernels import Exponential, GappedKmer, Mismatch, Spectrum, WeightedDegree

from .data import MissingData
from .kmer_counts import counts
from .report import Table
from .sequence_data import Task
from .settings import Settings
from .strings_real import PROTEIN_SETS, SITES, Side, machine, peer
from .timing import blas_threads

QUICK = False
COLUMNS = ("data", "train", "model", "fit CPU s", "gap", "per CPU s", "auROC")
NOTE = (
    "One thread, C = 1 (Exponential: 10), unit diagonals, both strands of DNA, from texts to a "
    "fitted model at a relative duality gap of 1e-3. `per CPU s`: test sequences scored, from "
    "texts. `GappedKmer()`: l = 11, k = 7, truncated filter; with d = 3 it is the kernel that "
    "LS-GKM has by default. Weights of several kernels are learned (p = 2)."
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
    machine("both, p = 2", [GappedKmer(), GappedKmer(centre=MIDDLE)]),
    machine("GappedKmer(l=8, 10, 11), p = 2", GappedKmer(l=[8, 10, 11], k=[6, 6, 7])),
    machine("Spectrum(6)", Spectrum(6, both_strands=True)),
    peer("6-mer counts", counts(6, 6, both_strands=True)),
)
FIXED = (machine("WeightedDegree(20)", WeightedDegree(20)),)
RADIAL = (
    Side("Exponential(GappedKmer(), 2)", machine("", Exponential(GappedKmer(), 2.0)).model, "C"),
)
PROTEINS = (
    machine("Mismatch(5, 1)", Mismatch(5, 1, alphabet="protein")),
    machine("GappedKmer(6, 4)", GappedKmer(6, 4, alphabet="protein", both_strands=False)),
    machine("Spectrum(3)", Spectrum(3, alphabet="protein")),
    peer("3-mer counts", counts(3, 3)),
)


def run(settings: Settings) -> Table:
    """Fit and test every model once on every set."""
    table = Table("Gapped k-mers", COLUMNS, notes=[NOTE])
    with blas_threads(1):
        for loads, sides in ((SITES, DNA), (PROTEIN_SETS[:3], PROTEINS)):
            for load in loads:
                try:
                    task = load()
                except MissingData as missing:
                    table.notes.append(f"Left out: {missing}.")
                    continue
                small = settings.size(task, task.smaller(200))
                for side in (*sides, *suited(small)):
                    row = measure(small, side)
                    table.add(*row)
                    print(*row, sep="\t", file=sys.stderr, flush=True)
    return table


def suited(task: Task) -> tuple[Side, ...]:
    """Return models that suit some sets: one length of all sequences, few examples."""
    lengths = {len(x) for x in task.X}
    dna = set("".join(task.X[:50])) <= set("ACGTN")
    return (FIXED if len(lengths) == 1 else ()) + (RADIAL if dna and len(task.X) < 5000 else ())


def measure(task: Task, side: Side) -> list[object]:
    """Return a row of the table."""
    train, test = task.splits[0]
    cost = 10.0 if side in RADIAL else 1.0
    model = side.model.set_params(**{side.cost: cost})
    started = time.process_time()
    model.fit(task.X[train], task.y[train])
    fitted = time.process_time()
    scores = model.decision_function(task.X[test])
    rate = len(test) / (time.process_time() - fitted)
    positive = task.y[test] == model.classes_[1]
    gap = getattr(model, "duality_gap_", np.nan)
    auc = f"{roc_auc_score(positive, scores):.4f}"
    return [task.name, len(train), side.label, fitted - started, gap, rate, auc]
