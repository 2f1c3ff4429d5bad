"""A Dask cluster of two processes on this machine against one process with two threads.

Every fit runs in processes of its own, so that peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .report import Table
from .settings import Settings

QUICK = False
COLUMNS = (
    "problem", "where", "fit s", "of one process", "CPU s", "peak GB", "worker peak GB",
    "of one process ", "gap", "support", "passes", "MB sent", "MB received",
    "in passes: MB sent", "received", "by the cost model: sent", "received ",
)  # fmt: skip
NOTE = (
    "fit s: wall time of `fit` on data that are in memory, of one process with two threads or on "
    "workers; CPU s: of all processes; peak GB: of the process, on a cluster of the client; worker "
    "peak GB: the larger of two. WD: make_splice in two FASTA files, degree 20, C = 1. RBF: 20 "
    "widths, p = 1, "
    "50 normal columns, of which five are shifted by 1.3 y sign(x_5). tiny: 1,000 rows of 10 such "
    "columns, three kernels, p = 1, the second fit on a cluster."
)

COMMON = """
import json, resource, sys, time
import numpy as np
def peak():
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
from kernelweave import kernels
name, n, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def table(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50 if name == "rbf" else 10))
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X[:, :5] += 1.3 * (y * np.sign(X[:, 5]))[:, None]
    return X, y
widths = list(np.geomspace(1e-3, 1e-1, 20))
given = {
    "wd": {"kernels": kernels.WeightedDegree(20)},
    "rbf": {"kernels": kernels.RBF(gamma=widths), "norm": 1},
    "tiny": {"kernels": [kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear()], "norm": 1},
}[name]
"""
LOCAL = (
    COMMON
    + """
from kernelweave import MKLClassifier
from kernelweave.sequences import Sequences, read_sequences
if name == "wd":
    X = Sequences.concatenated([read_sequences(f"{folder}/{k}.fa", names=False) for k in range(2)])
    y = np.load(f"{folder}/y.npy")
else:
    X, y = (np.concatenate(both) for both in zip(table(n // 2, 0), table(n // 2, 1)))
started, used = time.perf_counter(), time.process_time()
model = MKLClassifier(n_jobs=2, **given).fit(X, y)
seconds, used = time.perf_counter() - started, time.process_time() - used
print(json.dumps([seconds, used, peak(), 0.0, model.duality_gap_, len(model.support_)]))
"""
)
REMOTE = (
    COMMON
    + """
import dask
import dask.array as da
from distributed import Client, LocalCluster, wait
from kernelweave.dask import DaskMKLClassifier, SequenceBlocks, read_sequences
from kernelweave.dask.costs import Pass
from kernelweave.dask.shards import DaskShards
passes, clusters = [], []
call = DaskShards.call
def counted(self, method, shared=(), each=()):
    before = np.array([self.cluster.sent, self.cluster.received])
    answers = call(self, method, shared, each)
    clusters.append(self.cluster)
    if method.__name__ == "combined":
        bytes_each = {"wd": 48, "rbf": 8 * 50, "tiny": 8 * 10}[name]
        cost = Pass(sum(self.sizes), len(shared[0].alpha), bytes_each)
        shards = len(self.sizes)
        counts = [self.cluster.sent, self.cluster.received] - before
        passes.append([*counts, cost.sent(shards), cost.received(shards)])
    return answers
DaskShards.call = counted
if __name__ == "__main__":
    limit = sys.argv[4] if len(sys.argv) > 4 else 0
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0",
                      memory_limit=limit) as cluster, Client(cluster) as client:
        if name == "wd":
            files = read_sequences([f"{folder}/{k}.fa" for k in range(2)], blocksize=None)
            X = SequenceBlocks(dask.persist(*files.blocks), files.labels)
            wait(X.blocks)
            y = np.load(f"{folder}/y.npy")
        else:
            make = dask.delayed(lambda k: table(n // 2, k)[0])
            width = 50 if name == "rbf" else 10
            parts = [da.from_delayed(make(k), (n // 2, width), float) for k in range(2)]
            X = da.concatenate(parts).persist()
            wait(X)
            y = np.concatenate([table(n // 2, k)[1] for k in range(2)])
        if name == "tiny":
            DaskMKLClassifier(n_jobs=2, **given).fit(X, y)
            del passes[:], clusters[:]
        def used():
            return time.process_time() + sum(client.run(time.process_time).values())
        started, before = time.perf_counter(), used()
        model = DaskMKLClassifier(n_jobs=2, **given).fit(X, y)
        seconds, spent = time.perf_counter() - started, used() - before
        counts = clusters[-1]
        total = np.sum(passes, axis=0) if passes else np.zeros(4)
        print(json.dumps([seconds, spent, peak(), max(client.run(peak).values()),
                          model.duality_gap_, len(model.support_), len(passes),
                          counts.sent / 1e6, counts.received / 1e6, *(total / 1e6)]))
"""
)
FILES = """
import sys
import numpy as np
from kernelweave.datasets import make_splice
from kernelweave.sequences import write_sequences
n, folder = int(sys.argv[1]), sys.argv[2]
y = []
for k in range(2):
    X, labels = make_splice(n // 2, random_state=k)
    write_sequences(f"{folder}/{k}.fa", X)
    y.append(labels)
np.save(f"{folder}/y.npy", np.concatenate(y))
"""


def call(script: str, *arguments: Any) -> str:
    """Run a script in a separate process, from a file: workers import it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(script)
        command = [sys.executable, str(path), *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(table: Table, name: str, n: int, limit: str | None = None) -> None:
    """Add a row for one process and one for the cluster."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "wd":
            call(FILES, n, folder)
        local = json.loads(call(LOCAL, name, n, folder).splitlines()[-1])
        limits = [] if limit is None else [limit]
        remote = json.loads(call(REMOTE, name, n, folder, *limits).splitlines()[-1])
    title = f"{name}, {n:,}"
    table.add(
        title, "one process", local[0], 1.0, local[1], local[2], None, 1.0, local[4], local[5],
        *[None] * 7,
    )  # fmt: skip
    place = "two workers" if limit is None else f"two workers of {limit}"
    table.add(
        title,
        place,
        remote[0],
        remote[0] / local[0],
        remote[1],
        remote[2],
        remote[3],
        remote[3] / local[2],
        *remote[4:],
    )


def run(settings: Settings) -> Table:
    """Compare the problems."""
    table = Table("A cluster of two processes against two threads", COLUMNS, notes=[NOTE])
    compare(table, "tiny", 1_000)
    compare(table, "wd", settings.size(1_000_000, 4_000))
    compare(table, "wd", settings.size(4_000_000, 4_000), "1.5GB")
    compare(table, "rbf", settings.size(200_000, 4_000))
    return table
