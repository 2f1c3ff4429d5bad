"""Checkpoints: a run that was killed resumes to the same optimum."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kernelweave import MKLClassifier, checkpoint, kernels
from kernelweave.datasets import make_splice
from kernelweave.kernels import WeightedDegree

RUN = """
import sys
from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave import checkpoint
from kernelweave.kernels import WeightedDegree
checkpoint.SECONDS = 0.0
X, y = make_splice(3000, 0.2)
MKLClassifier(WeightedDegree(8), tol=1e-9, working_set=4, checkpoint=sys.argv[1]).fit(X, y)
"""


class Stop(Exception):
    """Ends a run in the middle."""


@pytest.fixture
def data():
    return make_splice(600, 0.2)


def machine(path=None, split="degree"):
    return MKLClassifier(WeightedDegree(8, split=split), tol=1e-4, working_set=50, checkpoint=path)


def stop_after(monkeypatch, changes):
    """Write a file after every change of alpha, and end the run after some of them."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    keep = checkpoint.Checkpoint.keep
    calls = []

    def counted(self, alpha, weights):
        keep(self, alpha, weights)
        calls.append(alpha.copy())
        if len(calls) == changes:
            raise Stop

    monkeypatch.setattr(checkpoint.Checkpoint, "keep", counted)
    return calls


@pytest.mark.parametrize("split", ["degree", None])
def test_a_run_goes_on_where_it_stopped(split, data, tmp_path, monkeypatch):
    expected = machine(split=split).fit(*data)
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        calls = stop_after(patch, 5)
        with pytest.raises(Stop):
            machine(path, split).fit(*data)
    with np.load(f"{path}.0") as file:
        assert (file["alpha"] == calls[-1]).all()
    resumed = machine(path, split).fit(*data)
    assert resumed.history_[0]["gap"] < expected.history_[0]["gap"]
    assert resumed.duality_gap_ <= 1e-4
    assert resumed.primal_objective_ == pytest.approx(expected.primal_objective_, rel=2e-4)
    assert os.listdir(tmp_path) == []


def test_files_of_other_problems_are_refused(data, tmp_path, monkeypatch):
    X, y = data
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            machine(path).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another problem"):
        machine(path).set_params(C=2.0).fit(X, y)
    whole = (tmp_path / "run.0").read_bytes()
    (tmp_path / "run.0").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        machine(path).fit(X, y)


def test_a_killed_process_leaves_a_file_that_can_be_used(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path / "run")])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "run.0").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    X, y = make_splice(3000, 0.2)
    model = MKLClassifier(WeightedDegree(8), tol=1e-3, checkpoint=tmp_path / "run").fit(X, y)
    assert model.duality_gap_ <= 1e-3
    expected = MKLClassifier(WeightedDegree(8), tol=1e-3).fit(X, y)
    assert model.primal_objective_ == pytest.approx(expected.primal_objective_, rel=2e-3)


SKM_RUN = """
import sys, time
import numpy as np
from kernelweave import MKLClassifier, checkpoint, kernels
checkpoint.SECONDS = 0.0
keep = checkpoint.Checkpoint.keep

def wait_for_the_end(self, alpha, weights):
    keep(self, alpha, weights)
    if np.count_nonzero(alpha) > 50:
        time.sleep(60)

checkpoint.Checkpoint.keep = wait_for_the_end
X = np.random.default_rng(0).normal(size=(700, 4))
y = X[:, 0] * X[:, 1] > 0
gammas = np.geomspace(0.01, 1, int(sys.argv[2]))
MKLClassifier(kernels.RBF(gammas), norm=1, solver="skm", checkpoint=sys.argv[1]).fit(X, y)
"""


@pytest.mark.parametrize("M", [4, 12])  # all kernels at once, and some of them at a time
def test_a_killed_support_kernel_machine_goes_on(M, tmp_path):
    file = tmp_path / "run.0"
    process = subprocess.Popen([sys.executable, "-c", SKM_RUN, str(tmp_path / "run"), str(M)])
    try:
        deadline = time.monotonic() + 60
        while process.poll() is None and not written(file, 50) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert written(file, 50)
    X = np.random.default_rng(0).normal(size=(700, 4))
    y = X[:, 0] * X[:, 1] > 0
    settings = {"norm": 1, "solver": "skm", "tol": 1e-4}
    family = kernels.RBF(np.geomspace(0.01, 1, M))
    resumed = MKLClassifier(family, checkpoint=tmp_path / "run", **settings).fit(X, y)
    expected = MKLClassifier(family, **settings).fit(X, y)
    assert resumed.duality_gap_ <= 1e-4
    assert resumed.history_[0]["gap"] < expected.history_[0]["gap"]
    assert resumed.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-4)
    assert os.listdir(tmp_path) == []


def written(file, count):
    """Whether a file holds an alpha with more than some support vectors."""
    if not file.exists():
        return False
    with np.load(file) as found:
        return np.count_nonzero(found["alpha"]) > count
