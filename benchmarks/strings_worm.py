"""Worm acceptor sites: string kernels beside k-mer counts and logistic regression.

Needs C_elegans_acc_100000.fasta.bz2 and C_elegans_acc_modsel.fasta.bz2 of the SHOGUN data; see
`benchmarks.data` for where data are looked up.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline

from kernelweave import MKLClassifier
from kernelweave.kernels import Spectrum, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import Sequences, read_sequences

from .data import FOLDER
from .report import Table
from .settings import Settings

QUICK = False
SITE, BEFORE, LENGTH = 197, 60, 141
COLUMNS = ("model", "CPU s", "gap", "auROC", "auPRC", "scored per CPU s")
NOTE = (
    "Trained on one file of 100,000 windows (3.3 % positive), tested on the other (other "
    "chromosomes); 141 letters around the AG, unit diagonal, one thread."
)
MODELS = {
    "WeightedDegree(20)": (WeightedDegree(20), 1.0),
    "WeightedDegree(20), C = 2": (WeightedDegree(20), 2.0),
    "WeightedDegreeShift(20, 2)": (WeightedDegreeShift(20, 2), 1.0),
    "Spectrum(6)": (Spectrum(6), 1.0),
}


def windows(name: str, limit: int | None) -> tuple[Sequences, np.ndarray]:
    """Return windows around the AG and their labels."""
    found = read_sequences(FOLDER / "sequences" / f"C_elegans_acc_{name}.fasta.bz2")[:limit]
    y = np.array([1 if "label=1" in header else -1 for header in found.names])
    return found.window(SITE - BEFORE, SITE - BEFORE + LENGTH), y


def run(settings: Settings) -> Table:
    """Train and test each model once."""
    limit = settings.size(None, 2000)
    table = Table("Worm acceptor sites", COLUMNS, notes=[NOTE])
    try:
        (X, y), (new, truth) = windows("100000", limit), windows("modsel", limit)
    except FileNotFoundError as error:
        table.notes.append(f"Left out: {error.filename} is not there.")
        return table
    for name, (kernel, C) in MODELS.items():
        model = MKLClassifier(kernel, C=C, normalize="unit", working_set=2000, n_jobs=1)
        seconds, scores, rate = timed_scores(model, X, y, new)
        table.add(name, seconds, model.duality_gap_, *quality(truth, scores), rate)
    words = CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False)
    peer = make_pipeline(words, LogisticRegression(max_iter=1000))
    seconds, scores, rate = timed_scores(peer, list(X), y, list(new))
    table.add("6-mer counts + LogisticRegression", seconds, None, *quality(truth, scores), rate)
    return table


def timed_scores(model, X, y, new) -> tuple[float, np.ndarray, float]:
    """Return the CPU seconds of fit, the scores of new examples, and how many per CPU second."""
    started = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    scores = model.decision_function(new)
    return fitted - started, scores, len(scores) / (time.process_time() - fitted)


def quality(truth: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Return auROC and auPRC."""
    return float(roc_auc_score(truth, scores)), float(average_precision_score(truth, scores))
