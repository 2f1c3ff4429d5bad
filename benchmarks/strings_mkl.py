"""Learned degrees of a weighted degree kernel beside the unweighted one: time, gap and accuracy."""

from __future__ import annotations

import resource
import time

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.kernels import Kernel, WeightedDegree
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings

QUICK = False
COLUMNS = ("sequences", "model", "wall s", "CPU s", "peak GB", "gap", "support", "auROC", "auPRC")
SIZES = (1000, 5000, 20_000, 100_000)
MILLION = 1_000_000
NOTE = (
    "make_splice, 1 % positive, 141 letters, degree 20, C = 1, gap 1e-3, n_jobs=2; tested on "
    "100,000 other sequences. Learned: one weight for each of 20 match lengths. The peak is that "
    "of the process so far."
)
MODELS: dict[str, tuple[Kernel, float]] = {
    "plain": (WeightedDegree(20), 2.0),
    "degrees, p = 1": (WeightedDegree(20, split="degree"), 1.0),
    "degrees, p = 2": (WeightedDegree(20, split="degree"), 2.0),
}


def run(settings: Settings) -> Table:
    """Fit all models at all sizes; a million only where peers that take minutes are wanted."""
    table = Table("Learned degrees of the weighted degree kernel", COLUMNS, notes=[NOTE])
    X_test, y_test = make_splice(settings.size(100_000, 1000), random_state=1)
    sizes = (*SIZES, MILLION) if settings.peers else SIZES
    for size in [settings.size(size, 300) for size in sizes]:
        X, y = make_splice(size)
        for name, (kernel, p) in MODELS.items():
            table.add(size, name, *measure(kernel, p, X, y, X_test, y_test))
    return table


def measure(
    kernel: Kernel,
    p: float,
    X: Sequences,
    y: np.ndarray,
    X_test: Sequences,
    y_test: np.ndarray,
) -> tuple[float, ...]:
    """Fit once; return seconds, memory, gap, support and areas."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = MKLClassifier(kernel, norm=p, n_jobs=2).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    scores = model.decision_function(X_test)
    areas = roc_auc_score(y_test, scores), average_precision_score(y_test, scores)
    return wall, cpu, peak, model.duality_gap_, len(model.support_), *areas
