"""Regulatory sequences: gapped k-mers beside LS-GKM, and beside LIBLINEAR on counts of 6-mers."""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.svm import LinearSVC

from kernelweave import MKLClassifier
from kernelweave.kernels import GappedKmer, Spectrum

from .kmer_counts import with_other_strand
from .report import Table
from .sequence_data import Task, loaded
from .settings import Settings
from .strings_real import SITES
from .timing import blas_threads

QUICK = False
COLUMNS = ("data", "training sequences", "model", "CPU s", "ratio", "AUC")
NOTE = (
    "One thread, C = 1, both strands; CPU seconds from texts to a fitted model. `ratio`: to the "
    "time of `GappedKmer()`, trained to a relative duality gap of 1e-3. AUC on the test sequences."
)

Scores = Callable[[np.ndarray], np.ndarray]


def run(settings: Settings) -> Table:
    """Fit every model once on every set."""
    table = Table("Regulatory sequences", COLUMNS, notes=[NOTE])
    sides = dict(SIDES)
    if shutil.which("gkmtrain") is None or not settings.peers:
        del sides["LS-GKM"]
        table.notes.append("LS-GKM is left out, since its command gkmtrain was not installed.")
    with blas_threads(1):
        for task in loaded(SITES, table):
            task = settings.size(task, task.smaller(200), task.smaller(500))
            add_rows(table, task, sides)
    return table


def add_rows(
    table: Table, task: Task, sides: dict[str, Callable[[np.ndarray, np.ndarray], Scores]]
) -> None:
    """Add the rows of one set."""
    train, test = task.splits[0]
    ours = None
    for name, fit in sides.items():
        started = cpu_seconds()
        scores = fit(task.X[train], task.y[train])
        seconds = cpu_seconds() - started
        ours = ours or seconds
        auc = float(roc_auc_score(task.y[test], scores(task.X[test])))
        table.add(task.name, len(train), name, seconds, seconds / ours, auc)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of commands that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def gapped(X: np.ndarray, y: np.ndarray) -> Scores:
    """Fit an SVM on gapped k-mers."""
    return machine(GappedKmer()).fit(X, y).decision_function


def spectrum(X: np.ndarray, y: np.ndarray) -> Scores:
    """Fit an SVM on 6-mers."""
    return machine(Spectrum(6, both_strands=True)).fit(X, y).decision_function


def machine(kernel: GappedKmer | Spectrum) -> MKLClassifier:
    """Return the estimator of one kernel."""
    return MKLClassifier(kernel, C=1.0, normalize="unit", n_jobs=1)


def liblinear(X: np.ndarray, y: np.ndarray) -> Scores:
    """Fit LIBLINEAR on counts of 6-mers."""
    counts = CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False)
    strands = FunctionTransformer(with_other_strand)
    model = make_pipeline(strands, counts, Normalizer(), LinearSVC(loss="hinge", dual=True))
    return model.fit(X, y).decision_function


def lsgkm(X: np.ndarray, y: np.ndarray) -> Scores:
    """Fit LS-GKM with its own defaults by its commands."""
    folder = Path(tempfile.mkdtemp())
    positive = y == y.max()
    write_fasta(folder / "positive.fa", X[positive])
    write_fasta(folder / "negative.fa", X[~positive])
    command = ["gkmtrain", "-T", "1", "positive.fa", "negative.fa", "lsgkm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

    def scores(Z: np.ndarray) -> np.ndarray:
        write_fasta(folder / "test.fa", Z)
        command = ["gkmpredict", "-T", "1", "test.fa", "lsgkm.model.txt", "scores.txt"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        values = np.loadtxt(folder / "scores.txt", usecols=1)
        shutil.rmtree(folder)
        return values

    return scores


def write_fasta(path: Path, sequences: np.ndarray) -> None:
    """Write sequences as records with numbers as names."""
    path.write_text("".join(f">{i}\n{sequence}\n" for i, sequence in enumerate(sequences)))


SIDES: dict[str, Callable[[np.ndarray, np.ndarray], Scores]] = {
    "kernelweave, `GappedKmer()`": gapped,
    "kernelweave, `Spectrum(6)`": spectrum,
    "LIBLINEAR, 6-mers": liblinear,
    "LS-GKM": lsgkm,
}
