"""Full disks, refused memory, kills, interrupts and clock changes do no harm.

KERNELWEAVE_FAULTS=1 (``make faults``) kills and interrupts at more moments.
"""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kernelweave import MKLClassifier, kernels, load
from kernelweave.model.files import checkpoint

pytestmark = pytest.mark.slow

MANY = bool(os.environ.get("KERNELWEAVE_FAULTS"))
KILLS, INTERRUPTS = (20, 50) if MANY else (3, 8)

# A process that hangs says where, and ends before the test does.
PREAMBLE = """
import faulthandler; faulthandler.dump_traceback_later(240, exit=True)
import os, random, resource, signal, sys, threading, time, warnings
import numpy as np
from importlib import import_module
from kernelweave import MKLClassifier, kernels, load
from kernelweave.model.files import checkpoint
from kernelweave.model.files.kw import NOT_YET_IMPORTED

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
y = X[:, 0] * X[:, 1] > 0

def limit(what, size):
    resource.setrlimit(what, (size, resource.RLIM_INFINITY))

def virtual_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
"""


def run(script, *arguments):
    """Run a script in a process of its own; return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_full_disk_leaves_the_older_file(tmp_path):
    lines = run(
        """
model = MKLClassifier().fit(X[:50], y[:50])
model.save(sys.argv[1])
larger = MKLClassifier().fit(X, y)
limit(resource.RLIMIT_FSIZE, 4096)
try:
    larger.save(sys.argv[1])
except OSError as error:
    print(error.strerror)
limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
assert (load(sys.argv[1]).decision_function(X) == model.decision_function(X)).all()
larger.save(sys.argv[1])
assert (load(sys.argv[1]).decision_function(X) == larger.decision_function(X)).all()
""",
        tmp_path / "m.kw",
    )
    assert lines == ["File too large"]
    assert os.listdir(tmp_path) == ["m.kw"]


def test_a_full_disk_is_noticed_before_a_fit_and_survived_within(tmp_path):
    lines = run(
        """
model = MKLClassifier(kernels.RBF([0.1, 1.0]), checkpoint=sys.argv[1], tol=1e-6)
limit(resource.RLIMIT_FSIZE, 1024)
try:
    model.fit(X, y)
except ValueError as error:
    print("refused:", error)
limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
begin = checkpoint.Checkpoint.load

def fill_the_disk(self):
    limit(resource.RLIMIT_FSIZE, 100)
    return begin(self)

checkpoint.Checkpoint.load = fill_the_disk
checkpoint.SECONDS = 0.0
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(X, y)
print("warned:", len(caught) > 0 and "could not be written" in str(caught[0].message))
print(model.duality_gap_ <= 1e-6)
""",
        tmp_path / "run",
    )
    assert lines[0].startswith("refused: checkpoint: ")
    assert lines[1:] == ["warned: True", "True"]
    assert os.listdir(tmp_path) == []


def test_refused_memory_is_an_error_that_changes_nothing(tmp_path):
    lines = run(
        """
model = MKLClassifier(kernels.RBF([0.1, 1.0])).fit(X, y)
before = model.decision_function(X)
model.save(sys.argv[1])
large = rng.normal(size=(60_000, 40))
limit(resource.RLIMIT_AS, virtual_memory() + 64 * 2**20)

def refused(work):
    try:
        work()
    except MemoryError:
        print("refused")

refused(lambda: MKLClassifier(kernels.RBF([0.1, 1.0])).fit(large, large[:, 0] > 0))
refused(lambda: kernels.RBF(1.0)(large[:20_000]))
refused(lambda: model.predict(np.repeat(X, 100_000, axis=0)))
assert (model.decision_function(X) == before).all()
limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
assert (load(sys.argv[1]).decision_function(X) == before).all()
assert MKLClassifier(kernels.RBF([0.1, 1.0])).fit(X, y).duality_gap_ <= 1e-3
print("works")
""",
        tmp_path / "m.kw",
    )
    assert lines == ["refused", "refused", "refused", "works"]
    assert os.listdir(tmp_path) == ["m.kw"]


def test_memory_refused_to_load_leaves_the_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1000))
    model = MKLClassifier(kernels.Linear(), tol=0.5).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "m.kw")
    content = (tmp_path / "m.kw").read_bytes()
    lines = run(
        """
for module in NOT_YET_IMPORTED:  # memory is refused to what is loaded, not to code
    import_module(module)
limit(resource.RLIMIT_AS, virtual_memory() + 4 * 2**20)
try:
    load(sys.argv[1])
except MemoryError:
    print("refused")
""",
        tmp_path / "m.kw",
    )
    assert lines == ["refused"]
    assert (tmp_path / "m.kw").read_bytes() == content
    np.testing.assert_array_equal(load(tmp_path / "m.kw").predict(X), model.predict(X))


def test_a_system_without_threads_to_give_has_fits_on_fewer():
    lines = run(
        """
alone = MKLClassifier(kernels.RBF([0.1, 1.0])).fit(X, y)
limit(resource.RLIMIT_AS, virtual_memory() + 6 * 2**20)  # the stack of a thread takes more
try:
    threading.Thread(target=print).start()
except RuntimeError:
    print("no thread")
few = MKLClassifier(kernels.RBF([0.1, 1.0]), n_jobs=4).fit(X, y)
limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
many = MKLClassifier(kernels.RBF([0.1, 1.0]), n_jobs=4).fit(X, y)
print((alone.dual_coef_ == few.dual_coef_).all(), (alone.dual_coef_ == many.dual_coef_).all())
"""
    )
    assert lines == ["no thread", "True True"]


KILLED = """
checkpoint.SECONDS = 0.0
print("ready", flush=True)
MKLClassifier(
    kernels.RBF([0.1, 1.0]), C=100.0, tol=1e-12, working_set=4, checkpoint=sys.argv[1]
).fit(X, y)
"""


def test_kills_at_random_moments_leave_a_run_that_goes_on(tmp_path):
    moments = random.Random(0)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + KILLED, str(tmp_path / "run")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        time.sleep(moments.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert b"Error" not in errors, errors
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] > 0
    model = MKLClassifier(kernels.RBF([0.1, 1.0]), C=100.0, tol=1e-5)
    expected = MKLClassifier(kernels.RBF([0.1, 1.0]), C=100.0, tol=1e-5).fit(X, y)
    model.set_params(checkpoint=tmp_path / "run").fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert model.primal_objective_ == pytest.approx(expected.primal_objective_, rel=2e-5)
    # What a kill cuts off in the middle of a file has a name of its own, and is never read.
    assert all(name.endswith((".part", ".trial")) for name in os.listdir(tmp_path))


def test_interrupts_at_random_moments_leave_a_process_that_works():
    lines = run(
        """
moments = random.Random(0)
model = MKLClassifier(kernels.RBF([0.1, 1.0]), n_jobs=2).fit(X, y)
many = np.repeat(X, 300, axis=0)
before = model.decision_function(X)

def interrupted(work):
    timer = threading.Timer(moments.uniform(0.0, 0.25), os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            work()
    except KeyboardInterrupt:
        timer.join()
        return 1

def fit():
    MKLClassifier(kernels.RBF([0.1, 1.0]), C=100.0, tol=1e-12, n_jobs=2, max_iter=500).fit(X, y)

warnings.simplefilter("ignore")
count = 0
for number in range(int(sys.argv[1])):
    count += interrupted(fit if number % 2 else lambda: model.predict(many))
    assert (model.decision_function(X) == before).all()
print(count)
print(MKLClassifier(kernels.RBF([0.1, 1.0])).fit(X, y).duality_gap_ <= 1e-3)
""",
        INTERRUPTS,
    )
    assert lines == [str(INTERRUPTS), "True"]


def test_clock_jumps_do_not_change_results(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] > 0
    expected = MKLClassifier(kernels.RBF([0.1, 1.0])).fit(X, y)
    jumps = random.Random(0)
    monkeypatch.setattr(time, "time", lambda: jumps.choice([-1e9, 0.0, 1e12]))
    kept = []
    monkeypatch.setattr(checkpoint, "write_archive", lambda *_: kept.append(1))
    model = MKLClassifier(kernels.RBF([0.1, 1.0]), checkpoint=tmp_path / "run", max_time=600)
    model.fit(X, y)
    seconds = [state["seconds"] for state in model.history_]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    assert seconds[-1] < 100
    assert kept == []  # two minutes have not passed
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    model.save(tmp_path / "m.kw")
    np.testing.assert_array_equal(load(tmp_path / "m.kw").predict(X), model.predict(X))
