"""The task on which SHOGUN 6.1.4 took 21.0 CPU seconds: a noisy GATTACA in 20,000 sequences."""

from __future__ import annotations

import time

import numpy as np

from kernelweave import MKLClassifier
from kernelweave.kernels import WeightedDegree
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings

QUICK = False
COLUMNS = ("what", "CPU s", "gap", "support", "sequences per CPU s")
NOTE = (
    "20,000 random sequences of 141 letters, half positive, GATTACA at 60 with each letter "
    "replaced with chance 0.3, degree 20, unit diagonal, C = 1, one thread. SHOGUN there: 21.0 "
    "CPU seconds at a gap of 4e-4, 94,700 predictions per CPU second."
)


def motif_task(n: int) -> tuple[Sequences, np.ndarray]:
    """Return the sequences and their labels."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (n, 141), dtype=np.uint8)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    letters = np.tile(["ACGT".index(letter) for letter in "GATTACA"], (n, 1))
    noisy = rng.random(letters.shape) < 0.3
    letters[noisy] = rng.integers(0, 4, noisy.sum())
    codes[y > 0, 60:67] = letters[y > 0]
    return Sequences.from_codes(codes), y


def run(settings: Settings) -> Table:
    """Train once, and predict a million sequences."""
    X, y = motif_task(settings.size(20_000, 1000, 8_000))
    table = Table("The motif task", COLUMNS, notes=[NOTE])
    started = time.process_time()
    model = MKLClassifier(WeightedDegree(20), normalize="unit", tol=4e-4, n_jobs=1).fit(X, y)
    table.add("fit", time.process_time() - started, model.duality_gap_, len(model.support_), None)
    new, _ = motif_task(settings.size(1_000_000, 1000, 200_000))
    for what in ("first predictions", "later predictions"):
        started = time.process_time()
        model.decision_function(new)
        seconds = time.process_time() - started
        table.add(what, seconds, None, None, len(new) / seconds)
    return table
