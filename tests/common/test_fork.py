"""After a fork at any moment the child can compute."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PREAMBLE = """
import os, signal, sys, threading, time
import numpy as np
from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Spectrum, WeightedDegree

rng = np.random.default_rng(0)
texts = ["".join(row) for row in rng.choice(list("ACGT"), size=(300, 60))]
labels = np.arange(300) % 2 == 0

def fork_while(work, check, times=30, seconds=20.0):
    # Threads work all the time; children must finish within seconds.
    stop = threading.Event()
    def repeat():
        while not stop.is_set():
            work()
    threads = [threading.Thread(target=repeat) for _ in range(2)]
    for thread in threads:
        thread.start()
    hung = wrong = 0
    for turn in range(times):
        time.sleep(0.003 * (turn % 5))
        child = os.fork()
        if child == 0:
            os._exit(0 if check() else 7)
        end = time.monotonic() + seconds
        while (done := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
            time.sleep(0.005)
        if done[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            hung += 1
            break
        wrong += os.waitstatus_to_exitcode(done[1]) != 0
    stop.set()
    for thread in threads:
        thread.join()
    print(hung, wrong)
"""

MODELS = {
    "rows": ("RBF([0.1, 1.0])", "rng.normal(size=(300, 5))"),
    "store": ("WeightedDegree(8, store='trie')", "texts"),
    "both": ("[WeightedDegree(8), Spectrum(3)]", "texts"),
}


LOST = """
X = rng.normal(size=(300, 5))
model = MKLClassifier(RBF([0.1, 1.0])).fit(X, labels)
def repeat(model):
    while True:
        model.predict(X)
threading.Thread(target=repeat, args=(model,), daemon=True).start()
pid = os.fork()
if pid == 0:
    model.predict(X)
    {child}
os.waitpid(pid, 0)
"""


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_while_other_threads_predict(name, n_jobs):
    kernel, data = MODELS[name]
    assert run(f"""
X = {data}
model = MKLClassifier({kernel}, n_jobs={n_jobs}).fit(X, labels)
expected = model.decision_function(X)
fork_while(
    lambda: model.decision_function(X),
    lambda: np.allclose(model.decision_function(X), expected, rtol=1e-12, atol=1e-12),
)
""") == ["0", "0"]


def test_while_other_threads_fit():
    assert run("""
X = rng.normal(size=(300, 5))
make = lambda: MKLClassifier(RBF([0.1, 1.0]), n_jobs=2).fit(X, labels)
make()
fork_while(make, lambda: make().duality_gap_ <= 1e-3, times=10)
""") == ["0", "0"]


def test_blas_threads_are_restored_after_all_threads_end():
    assert run("""
from threadpoolctl import threadpool_info
threads = lambda: [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
X = rng.normal(size=(300, 5))
model = MKLClassifier(RBF([0.1, 1.0])).fit(X, labels)
before = threads()
fork_while(lambda: model.predict(X), lambda: threads() == before, times=10)
print(threads() == before)
""") == ["0", "0", "True"]


@pytest.mark.parametrize("child", ["sys.exit(0)", "os._exit(0)"])
def test_objects_of_lost_threads_are_not_reported_as_leaks(child):
    """Objects of threads that a fork or the end of a process loses are not freed."""
    done = subprocess.run(  # Python 3.12 and later warn of such forks
        [sys.executable, "-W", "ignore", "-c", PREAMBLE + LOST.format(child=child)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
