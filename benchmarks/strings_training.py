"""Weighted degree SVMs on splice-like data: seconds, memory and gap by number of sequences.

Every size runs in a separate process, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys

from .report import Table
from .settings import Settings

QUICK = False
SIZES = (20_000, 100_000, 1_000_000)
COLUMNS = ("sequences", "wall s", "CPU s", "peak GB", "gap", "support", "auROC", "auPRC")
NOTE = (
    "make_splice (141 letters, 1 % positive), degree 20, C = 1, tol = 1e-3, two threads; the "
    "time is that of `fit`. auROC and auPRC on 200,000 other sequences. The paper of 2007, "
    "eight CPUs of its time: 84 s for 100,000, 1,474 s for a million, 97,484 s for ten million."
)
ONE_RUN = """
import json, resource, sys, time
from sklearn.metrics import average_precision_score, roc_auc_score
from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.kernels import WeightedDegree
n, tests, cache_mb = map(int, sys.argv[1:])
X, y = make_splice(n)
wall, cpu = time.perf_counter(), time.process_time()
model = MKLClassifier(WeightedDegree(20), cache_mb=cache_mb, n_jobs=2).fit(X, y)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
X, y = make_splice(tests, 0.01, 1)  # by position: older versions have seed, not random_state
f = model.decision_function(X)
print(json.dumps([n, wall, cpu, peak, model.duality_gap_, len(model.support_),
                  roc_auc_score(y, f), average_precision_score(y, f)]))
"""


def measure(n: int, tests: int, cache_mb: int = 1024) -> list[float]:
    """Train on n sequences in a new process."""
    command = [sys.executable, "-c", ONE_RUN, str(n), str(tests), str(cache_mb)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def run(settings: Settings) -> Table:
    """Train at growing sizes."""
    table = Table("Weighted degree machines by number of sequences", COLUMNS, notes=[NOTE])
    for n in settings.size(SIZES, (5_000,), SIZES[:1]):
        table.add(*measure(n, settings.size(200_000, 5_000, 20_000)))
    return table
