"""Gapped k-mer models by number of sequences: seconds, memory, gap, and sequences scored.

Every size runs in a separate process, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelweave import MKLClassifier
from kernelweave.kernels import GappedKmer
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings

QUICK = False
SIZES = ((20_000, 141), (100_000, 200), (1_000_000, 200))
COLUMNS = ("sequences", "letters", "wall s", "CPU s", "peak GB", "gap", "per CPU s", "auROC")
NOTE = (
    "Random DNA; in half of the sequences a motif of 12 letters, each of which is drawn anew with "
    "a chance of a quarter, on one of the strands. GappedKmer(), unit diagonals, C = 1, tol = "
    "1e-3; the time is that of `fit`. `--jobs 2` takes two threads, `--sizes` others of 200 "
    "letters. `per CPU s`: sequences that the model scores, of 20,000 others."
)
MOTIF = np.array([3, 2, 0, 1, 2, 3, 1, 0, 2, 1, 0, 3], dtype=np.uint8)
PIECE = 50_000  # sequences drawn at a time
TESTS = 20_000


def generated(n: int, letters: int, seed: int) -> tuple[Sequences, np.ndarray]:
    """Return random sequences, of which half have a motif, and their labels."""
    rng, pieces, labels = np.random.default_rng(seed), [], []
    for first in range(0, n, PIECE):
        count = min(PIECE, n - first)
        codes = rng.integers(0, 4, (count, letters), dtype=np.uint8)
        y = rng.random(count) < 0.5
        motif = np.where(rng.random((count, 1)) < 0.5, MOTIF, 3 - MOTIF[::-1])
        places = rng.integers(0, letters - len(MOTIF), (count, 1)) + np.arange(len(MOTIF))
        kept = (rng.random(motif.shape) < 0.75) & y[:, None]
        rows = np.arange(count)[:, None]
        codes[rows, places] = np.where(kept, motif, codes[rows, places])
        pieces.append(Sequences.from_codes(codes))
        labels.append(y)
    return Sequences.concatenated(pieces), np.concatenate(labels)


def measure(n: int, letters: int, jobs: int) -> list[float]:
    """Train on n sequences and score others."""
    X, y = generated(n, letters, 0)
    wall, cpu = time.perf_counter(), time.process_time()
    model = MKLClassifier(GappedKmer(), normalize="unit", n_jobs=jobs).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    X, y = generated(TESTS, letters, 1)
    model.decision_function(X[:100])  # makes the table
    started = time.process_time()
    scores = model.decision_function(X)
    rate = TESTS / (time.process_time() - started)
    return [n, letters, wall, cpu, peak, model.duality_gap_, rate, roc_auc_score(y, scores)]


def run(settings: Settings) -> Table:
    """Train at growing sizes."""
    table = Table("Gapped k-mers by number of sequences", COLUMNS, notes=[NOTE])
    sizes = settings.size(SIZES, ((1_000, 50),), SIZES[:1])
    if settings.sizes:
        sizes = tuple((n, 200) for n in settings.sizes)
    for n, letters in sizes:
        task = ["-m", "benchmarks.strings_gapped_sizes", str(n), str(letters), str(settings.jobs)]
        command = [sys.executable, *task]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        *row, auc = json.loads(done.stdout.splitlines()[-1])
        table.add(*row, f"{auc:.4f}")
        print(*row, auc, sep="\t", file=sys.stderr, flush=True)
    return table


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
