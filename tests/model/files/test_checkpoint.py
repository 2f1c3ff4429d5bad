"""Checkpoints: a run that was killed resumes to the same optimum."""

import io
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, kernels
from kernelweave.datasets import make_splice
from kernelweave.kernels import WeightedDegree
from kernelweave.model.files import checkpoint
from kernelweave.model.files.archive import Archive, write_archive

RUN = """
import sys
from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.model.files import checkpoint
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


def training(path=None, split="degree"):
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
def test_an_interrupted_run_resumes(split, data, tmp_path, monkeypatch):
    expected = training(split=split).fit(*data)
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        calls = stop_after(patch, 5)
        with pytest.raises(Stop):
            training(path, split).fit(*data)
    with np.load(f"{path}.0") as file:
        assert (file["alpha"] == calls[-1]).all()
    resumed = training(path, split).fit(*data)
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
            training(path).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another problem"):
        training(path).set_params(C=2.0).fit(X, y)
    whole = (tmp_path / "run.0").read_bytes()
    (tmp_path / "run.0").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        training(path).fit(X, y)


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
from kernelweave import MKLClassifier, kernels
from kernelweave.model.files import checkpoint
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
def test_a_killed_support_kernel_machine_resumes(M, tmp_path):
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
    if M == 4:
        assert resumed.history_[0]["gap"] < expected.history_[0]["gap"]
    else:  # an entry is a look at all kernels, after a sample of them was solved to one tolerance
        assert len(resumed.history_) <= len(expected.history_)
    assert resumed.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-4)
    assert os.listdir(tmp_path) == []


def written(file, count):
    """Whether a file contains an alpha with more than some support vectors."""
    if not file.exists():
        return False
    with np.load(file) as found:
        return np.count_nonzero(found["alpha"]) > count


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """An estimator, its data, and the checkpoint of its interrupted fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] > 0
    model = MKLClassifier(
        kernels.RBF([0.1, 1.0]), working_set=10, checkpoint=tmp_path / "run", tol=1e-6
    )
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(Stop):
            model.fit(X, y)
    return model, X, y, tmp_path / "run.0"


@pytest.mark.parametrize("what", ["X", "y", "weights", "kernels", "normalize", "norm", "loss"])
def test_the_key_covers_the_problem(stopped, what):
    model, X, y, _ = stopped
    sample_weight = np.ones(60)
    if what == "X":
        X = X.copy()
        X[7, 1] = np.nextafter(X[7, 1], 9.0)
    elif what == "y":
        y = y.copy()
        y[7] = not y[7]
    elif what == "weights":
        sample_weight[7] = 1.5
    else:
        others = {"kernels": kernels.RBF([0.1, 1.0 + 1e-9]), "normalize": "trace", "norm": 3.0}
        model.set_params(**{what: others.get(what, "logistic")})
    with pytest.raises(ValueError, match="belongs to another problem"):
        model.fit(X, y, sample_weight)


def test_resumed_fits_may_change_options_that_keep_the_optimum(stopped):
    model, X, y, file = stopped
    model.set_params(tol=1e-4, working_set="auto", n_jobs=2, cache_mb=1).fit(X, y)
    assert model.duality_gap_ <= 1e-4
    assert not file.exists()


def crafted(file, **changes):
    """Write a file with the right key and checksums, and other arrays."""
    with open(file, "rb") as opened:
        archive = Archive(opened, checkpoint.DOCUMENT)
        document = archive.document()
        arrays = {name: archive.array(name).copy() for name in ("alpha", "weights")}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    out = io.BytesIO()
    write_archive(out, checkpoint.DOCUMENT, document, arrays)
    file.write_bytes(out.getvalue())


def put(value):
    def change(array):
        array[3] = value
        return array

    return change


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": put(np.nan)}, "not finite"),
        ({"weights": lambda weights: weights * np.inf}, "not finite"),
        ({"alpha": put(5.0)}, "outside its bounds"),
        ({"alpha": lambda alpha: np.maximum(alpha, 0.0)}, "add up to"),
        ({"alpha": lambda alpha: alpha.astype(np.float32)}, "float32"),
        ({"alpha": lambda alpha: alpha[:-1]}, "shape"),
        ({"alpha": lambda alpha: alpha[None]}, "shape"),
        ({"weights": lambda weights: weights[:1]}, "shape"),
        ({"weights": lambda weights: -weights}, "negative"),
        ({"weights": np.zeros_like}, "zero"),
        ({"weights": lambda weights: 1.01 * weights}, "norm is 1.01"),
        ({"weights": lambda weights: weights.astype("U8")}, "type"),
    ],
)
def test_states_that_no_run_reaches_are_refused(stopped, changes, message):
    model, X, y, file = stopped
    crafted(file, **changes)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def earlier():
    out = io.BytesIO()
    np.savez(out, key="1234", alpha=np.zeros(60), weights=np.ones(2))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        pickle.dumps(np.zeros(60)),
        b"\x93NUMPY\x01\x00v\x00{'descr': (((",
        earlier(),
    ],
)
def test_other_files_are_refused(stopped, content):
    model, X, y, file = stopped
    file.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read"):
        model.fit(X, y)
    assert file.read_bytes() == content


def test_directories_are_no_checkpoints(stopped):
    model, X, y, file = stopped
    file.unlink()
    file.mkdir()
    with pytest.raises(ValueError, match="cannot be read"):
        model.fit(X, y)


class Unread(kernels.RBF):
    """A kernel that must not be evaluated if the checkpoint cannot be written."""

    def resolve(self, X):
        raise AssertionError


@pytest.mark.parametrize("path", ["absent/run", "file/run"])
def test_wrong_paths_are_noticed_before_anything_is_computed(tmp_path, path):
    (tmp_path / "file").write_text("")
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = MKLClassifier(Unread(1.0), checkpoint=tmp_path / path)
    with pytest.raises(ValueError, match=r"checkpoint: .* cannot be written"):
        model.fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="checkpoint must be"):
        model.set_params(checkpoint=3).fit(X, X[:, 0] > 0)


def test_failed_checkpoint_writes_warn_and_fits_continue(stopped, monkeypatch):
    model, X, y, file = stopped
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_archive", full)
    with pytest.warns(RuntimeWarning, match="could not be written .*No space left"):
        model.fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert os.listdir(file.parent) == []


SOLVERS = ["analytic", "cutting-plane", "newton", "gradient", "hessian", "level", "skm", "uniform"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("estimator", [MKLClassifier, MKLRegressor, MKLOneClass])
def test_every_state_that_is_written_can_be_read(solver, estimator, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = estimator(kernels.RBF([0.1, 1.0]), solver=solver, norm=1 if solver == "skm" else 2)
    y = X[:, 0] > 0 if estimator is MKLClassifier else X[:, 0]
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    keep, seen = checkpoint.Checkpoint.keep, []

    def checked(self, alpha, weights):
        keep(self, alpha, weights)
        seen.append(self.load())

    monkeypatch.setattr(checkpoint.Checkpoint, "keep", checked)
    try:
        model.set_params(checkpoint=tmp_path / "run", tol=1e-5).fit(X, y)
    except ValueError as error:
        if "does not support" in str(error):
            pytest.skip(str(error))
        raise
    assert model.duality_gap_ <= 1e-5 or solver == "uniform"
    assert len(seen) > 0


@pytest.fixture
def noisy():
    """Examples that take any solver many iterations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] * X[:, 1] + rng.normal(size=300)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("estimator", [MKLClassifier, MKLRegressor, MKLOneClass])
def test_a_run_out_of_iterations_resumes_with_more(solver, estimator, noisy, tmp_path):
    X, y = noisy
    y = y > 0 if estimator is MKLClassifier else y
    norm = np.inf if solver == "uniform" else 1 if solver == "skm" else 2
    model = estimator(kernels.RBF([0.1, 1.0, 10.0]), solver=solver, norm=norm, tol=1e-5)
    model.set_params(working_set=20, max_iter=2, checkpoint=tmp_path / "run")
    try:
        stopped = model.fit(X, y).duality_gap_
    except ValueError as error:
        if "does not support" in str(error):
            pytest.skip(str(error))
        raise
    assert stopped > 1e-5
    assert os.listdir(tmp_path) == ["run.0"]
    gaps = [stopped]
    for _ in range(30):
        model.set_params(max_iter=5).fit(X, y)
        gaps.append(model.duality_gap_)
        if gaps[-1] <= 1e-5:
            break
    assert gaps[-1] < 0.1 * stopped  # a run that began anew each time would stay where it was
    model.set_params(max_iter=None).fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_out_of_time_resumes(noisy, tmp_path):
    X, y = noisy
    model = MKLRegressor(kernels.RBF([0.1, 1.0]), tol=1e-5, working_set=4)
    model.set_params(checkpoint=tmp_path / "run", max_time=0.01).fit(X, y)
    assert model.duality_gap_ > 1e-5
    assert os.listdir(tmp_path) == ["run.0"]
    model.set_params(max_time=None).fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_outputs_that_have_converged_are_not_solved_again(noisy, tmp_path):
    X, y = noisy
    both = np.column_stack([100.0 * y, 0.01 * y])  # nearly all alphas of the first are at a bound
    model = MKLRegressor(kernels.RBF([0.1, 1.0]), tol=1e-4, C=0.01, epsilon=1e-3, working_set=20)
    iterations = [len(history) for history in model.fit(X, both).history_]
    assert iterations[0] < iterations[1]
    model.set_params(checkpoint=tmp_path / "run", max_iter=iterations[0]).fit(X, both)
    assert model.duality_gap_[0] <= 1e-4 < model.duality_gap_[1]
    assert sorted(os.listdir(tmp_path)) == ["run.0", "run.1"]
    model.set_params(max_iter=None).fit(X, both)
    assert len(model.history_[0]) == 1
    assert (model.duality_gap_ <= 1e-4).all()
    assert os.listdir(tmp_path) == []


def test_an_interrupt_in_a_later_output_leaves_the_earlier_ones(noisy, tmp_path, monkeypatch):
    X, y = noisy
    both = np.column_stack([y, -y + X[:, 2]])
    model = MKLRegressor(kernels.RBF([0.1, 1.0]), tol=1e-4, checkpoint=tmp_path / "run")
    keep = checkpoint.Checkpoint.keep

    def interrupted(self, alpha, weights):
        keep(self, alpha, weights)
        if self.path.name == "run.1":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, both)
    assert sorted(os.listdir(tmp_path)) == ["run.0", "run.1"]
    model.fit(X, both)
    assert len(model.history_[0]) == 1
    assert (model.duality_gap_ <= 1e-4).all()
    assert os.listdir(tmp_path) == []
