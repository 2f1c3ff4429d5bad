"""Ctrl-C stops long work in the core soon, and an interrupted fit leaves no state."""

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PREAMBLE = """
import os, signal, subprocess, threading, time
import numpy as np
from sklearn.exceptions import NotFittedError
from kernelweave import MKLClassifier
from kernelweave.common.core import _core
from kernelweave.datasets import make_splice
from kernelweave.kernels import (
    RBF, Laplacian, LocalityImproved, Spectrum, WeightedDegree, WeightedDegreeShift, prepare
)
from kernelweave.sequences import as_sequences
from kernelweave.sequences.weight_stores import WeightStore

rng = np.random.default_rng(0)

def interrupt_during(work, after=0.3):
    # A thread can only send the signal while the core works if the interpreter is not locked.
    sent = []
    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(after, send).start()
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted after", time.perf_counter() - sent[0])
"""

WORK = {
    "add": """
X, family = rng.normal(size=(30_000, 10)), RBF([0.01, 0.03, 0.1, 0.3])
compiled, examples = prepare(family, None, X)
engine = _core.Engine(compiled.program, examples.side, 10**8, {n_jobs})
interrupt_during(lambda: engine.add(np.arange(30_000), np.ones(30_000)))
few = np.array([0, 3, 400, 29_999])  # rows that were not finished must not be in the cache
assert np.allclose(engine.block(few, np.ones(4)), family(X[few]).sum(axis=0), rtol=1e-12)
""",
    "evaluate": """
compiled, examples = prepare(Laplacian(0.01), None, rng.normal(size=(5000, 1500)))
side = examples.side
interrupt_during(lambda: _core.evaluate(compiled.program, side, side, {n_jobs}))
""",
    "decide": """
compiled, examples = prepare(RBF([0.01, 0.03, 0.1, 0.3]), None, rng.normal(size=(30_000, 10)))
side, coef, weights = examples.side, np.ones((1, 30_000)), np.ones((1, 4))
interrupt_during(lambda: _core.decide(compiled.program, side, side, coef, weights, {n_jobs}))
""",
    "lookup": """
X, _ = make_splice(50_000, 0.1)
X, store = X[np.tile(np.arange(50_000), 20)], WeightStore(WeightedDegree(20).resolve(X))
store.add(X[:50_000], np.ones(50_000))
interrupt_during(lambda: store.lookup(X, n_jobs={n_jobs}))
""",
    "repeats": """
interrupt_during(lambda: Spectrum(8, store="rows")(["A" * 2_000_000] * 60, n_jobs={n_jobs}))
""",
    "diagonal": """
interrupt_during(lambda: WeightedDegreeShift(20, 10**9).diagonal(["AC" * 2000] * 400))
""",
    "shifts": """
interrupt_during(lambda: WeightedDegreeShift(20, 10**9)(["AC" * 2000] * 400, n_jobs={n_jobs}))
""",
    "long matches": """
interrupt_during(lambda: WeightedDegree(10**9)(["A" * 100_000] * 30, n_jobs={n_jobs}))
""",
    "windows": """
X = as_sequences(["A" * 100_000] * 300)
interrupt_during(lambda: LocalityImproved()(X, n_jobs={n_jobs}))
""",
    "solve_pairs": """
q = 500
X = rng.normal(size=(q, 5))
y, zero = np.sign(rng.normal(size=q)), np.zeros(q)
lo, hi = np.minimum(y, 0.0), np.maximum(y, 0.0)
K, alpha = RBF(0.1)(X), 0.5 * y
interrupt_during(lambda: _core.solve_pairs(
    K, -y, zero, zero, np.ones(q), lo, hi, -1.0, 10**12, alpha, zero))
""",
}


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_long_work_early(n_jobs):
    lines = run("".join(WORK.values()).replace("{n_jobs}", str(n_jobs)))
    assert len(lines) == len(WORK), lines
    for line in lines:
        assert line.startswith("interrupted after")


def test_an_interrupt_ends_work_that_keeps_the_interpreter_locked():
    lines = run("""
X = as_sequences(["ACCG" * 25_000] * 2000)
store, added = WeightStore(Spectrum(20, store="suffix")), []
kill = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
try:
    for _ in range(1000):
        store.add(X, np.ones(2000))
        added.append(1)
except KeyboardInterrupt:
    print(len(added))
""")
    assert int(lines[0]) < 10


def test_an_interrupted_fit_leaves_the_estimator_unfitted_and_usable():
    lines = run("""
X = rng.normal(size=(3000, 10))
y = np.sign(X[:, 0] * X[:, 1] + rng.normal(size=3000))
model = MKLClassifier(RBF(0.1), C=100.0, tol=1e-3).fit(X[:200], y[:200])
model.set_params(tol=1e-15, kernels=RBF([0.1, 0.3, 1.0]))
interrupt_during(lambda: model.fit(X, y), after=0.5)
try:
    model.predict(X[:5])
except NotFittedError:
    print("not fitted")
model.set_params(tol=1e-3)
print("gap", model.fit(X[:200], y[:200]).duality_gap_)
""")
    assert lines[0].startswith("interrupted after"), lines
    assert lines[1] == "not fitted"
    assert float(lines[2].split()[1]) <= 1e-3


def test_an_interrupt_runs_the_handler_of_the_user():
    lines = run(f"""
class Stop(Exception): pass
def handler(*_): raise Stop("enough")
signal.signal(signal.{signal.SIGINT.name}, handler)
try:
    {WORK["add"].replace("{n_jobs}", "2").strip().replace(chr(10), chr(10) + "    ")}
except Stop as stop:
    print("stopped:", stop)
""")
    assert lines == ["stopped: enough"]
