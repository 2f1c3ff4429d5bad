"""Bootstrap of weights: samples, tests, and resuming after an interruption."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor
from kernelweave.inspection import bootstrap, bootstrap_weights
from kernelweave.inspection.bootstrap import BootstrapFits, BootstrapWeights
from kernelweave.inspection.p_values import corrected
from kernelweave.kernels import RBF, Linear, Precomputed


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 3))
    return X, np.where(X[:, 0] > 0, 1, -1)


MODEL = MKLClassifier([RBF(1.0, columns=[c]) for c in range(3)], norm=1)


def test_the_column_that_matters_leads(data):
    found = bootstrap_weights(MODEL, *data, n=12, n_permutations=39)
    assert found.samples.shape == (12, 3)
    assert found.permuted.shape == (39, 3)
    assert found.mean.argmax() == 0
    np.testing.assert_allclose(found.weights, MODEL.fit(*data).weights_)
    np.testing.assert_allclose(found.std, found.samples.std(axis=0, ddof=1))
    assert found.quantiles([0.1, 0.9]).shape == (2, 3)
    reached = [(found.permuted[:, m] >= found.weights[m]).sum() for m in range(3)]
    np.testing.assert_allclose(found.p_values(None), (1 + np.array(reached)) / 40)
    assert found.p_values(None)[0] < 0.2 < found.p_values(None)[1:].min()


def test_weights_that_chance_does_not_reach_are_significant(rng):
    permuted = rng.random((39, 3))
    found = BootstrapWeights(tuple("abc"), np.array([2.0, 0.5, 0.0]), permuted[:5], permuted)
    assert found.p_values(None)[[0, 2]].tolist() == [1 / 40, 1.0]
    assert found.p_values("bonferroni")[0] == pytest.approx(3 / 40)
    assert found.significant(0.1) == ["a"]
    assert found.significant(0.05) == []
    assert found.significant(0.05, "max") == ["a"]
    largest = permuted.max(axis=1)
    expected = [(1 + (largest >= weight).sum()) / 40 for weight in found.weights]
    np.testing.assert_allclose(found.p_values("max"), expected)


def test_bootstrap_samples_preserve_class_sizes(data, rng):
    X, y = data
    counts = BootstrapFits(MODEL, X, y, 0, None)._counts(rng)
    assert counts.sum() == 40
    assert counts[y > 0].sum() == (y > 0).sum()
    assert counts.max() > 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_numbers_for_any_number_of_processes(data, n_jobs):
    few = bootstrap_weights(MODEL, *data, n=3, n_permutations=1, n_jobs=n_jobs)
    many = bootstrap_weights(MODEL, *data, n=5, n_permutations=2)
    np.testing.assert_array_equal(few.samples, many.samples[:3])
    np.testing.assert_array_equal(few.permuted, many.permuted[:1])


def test_a_killed_run_goes_on(data, tmp_path, monkeypatch):
    whole = bootstrap_weights(MODEL, *data, n=3)
    fit, fitted = BootstrapFits.fit, []

    def dying(refits, task):
        if len(fitted) == 4:
            raise KeyboardInterrupt
        fitted.append(task)
        return fit(refits, task)

    monkeypatch.setattr(BootstrapFits, "fit", dying)
    with pytest.raises(KeyboardInterrupt):
        bootstrap_weights(MODEL, *data, n=3, checkpoint=tmp_path / "run")
    fitted.clear()
    again = bootstrap_weights(MODEL, *data, n=3, checkpoint=tmp_path / "run")
    assert len(fitted) == 3
    np.testing.assert_array_equal(again.samples, whole.samples)
    np.testing.assert_array_equal(again.permuted, whole.permuted)
    assert again.kernel_names == whole.kernel_names


KILLED = """
import sys
import numpy as np
from kernelweave import MKLClassifier
from kernelweave.inspection import bootstrap_weights
from kernelweave.kernels import RBF
X = np.random.default_rng(0).normal(size=(40, 3))
y = np.where(X[:, 0] > 0, 1, -1)
model = MKLClassifier([RBF(1.0, columns=[c]) for c in range(3)], norm=1)
found = bootstrap_weights(model, X, y, n=int(sys.argv[2]), n_permutations=0, checkpoint=sys.argv[1])
np.save(sys.argv[1] + ".npy", found.samples)
"""


def test_a_run_ended_by_sigkill_goes_on(tmp_path):
    folder = tmp_path / "run"
    call = [sys.executable, "-c", KILLED, str(folder)]
    with subprocess.Popen([*call, "100000"]) as running:
        while not (folder / "sample-3.npz").exists() and running.poll() is None:
            time.sleep(0.01)
        running.kill()
    assert running.returncode == -signal.SIGKILL
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("sample-*.npz")}
    subprocess.run([*call, "6"], check=True)
    assert all((folder / name).stat().st_mtime_ns == stamp for name, stamp in kept.items())
    other = tmp_path / "whole"
    subprocess.run([*call[:-1], str(other), "6"], check=True)
    np.testing.assert_array_equal(np.load(f"{folder}.npy"), np.load(f"{other}.npy"))


def test_checkpoints_of_others_and_damaged_ones_are_refused(data, tmp_path):
    X, y = data
    bootstrap_weights(MODEL, X, y, n=1, n_permutations=0, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="belongs to other data"):
        bootstrap_weights(MODEL, X + 1, y, n=1, n_permutations=0, checkpoint=tmp_path)
    whole = (tmp_path / "sample-0.npz").read_bytes()
    bad_sum = bytearray(whole)
    bad_sum[len(whole) // 4] ^= 1
    for damaged in (b"PK", whole[:-30], bytes(bad_sum)):
        (tmp_path / "sample-0.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read"):
            bootstrap_weights(MODEL, X, y, n=1, n_permutations=0, checkpoint=tmp_path)


def test_other_estimators_and_matrices(data):
    X, y = data
    found = bootstrap_weights(MKLRegressor([RBF(1.0), Linear()]), X, X[:, 0], n=2)
    assert found.permuted.shape == (2, 2)
    found = bootstrap_weights(MKLOneClass([RBF(1.0), Linear()]), X, n=2)
    assert found.permuted.shape == (0, 2)
    with pytest.raises(ValueError, match="requires fits on permuted targets"):
        found.p_values()
    several = MKLClassifier([RBF(1.0), Linear()])
    assert bootstrap_weights(several, X, np.arange(40) % 3, n=2).mean.shape == (3, 2)
    K = np.hstack([X @ X.T, np.exp(X @ X.T)])
    given = MKLClassifier([Precomputed(columns=slice(0, 40)), Precomputed(columns=slice(40, 80))])
    assert bootstrap_weights(given, K, y, n=2, n_permutations=0).samples.shape == (2, 2)


def test_corrections_by_the_textbook():
    p = np.array([0.01, 0.04, 0.03, 0.8])
    np.testing.assert_allclose(corrected(p, "bonferroni"), [0.04, 0.16, 0.12, 1.0])
    # each times M / rank, and no larger than what a larger one becomes
    np.testing.assert_allclose(corrected(p, "benjamini-hochberg"), [0.04, 0.16 / 3, 0.16 / 3, 0.8])
    with pytest.raises(ValueError, match="correction must be one of"):
        corrected(p, "none")


def test_selection_is_binomial(rng):
    samples = np.zeros((20, 10))
    samples[:, 3] = 1.0
    samples[np.arange(20), rng.integers(4, 10, 20)] = 0.5
    found = BootstrapWeights(tuple("abcdefghij"), samples[0], samples, samples[:0])
    p = found.selection_p_values(None)
    assert p[3] == pytest.approx(0.2**20)
    assert p[0] == 1.0
    assert bootstrap.corrected(p, "bonferroni")[3] == pytest.approx(10 * 0.2**20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be an integer >= 1"),
        ({"n_permutations": -1}, "n_permutations must be"),
        ({"y": None, "n_permutations": 3}, "requires targets"),
    ],
)
def test_bad_numbers_are_named(change, message, data):
    given = {"X": data[0], "y": data[1], "n": 2} | change
    with pytest.raises(ValueError, match=message):
        bootstrap_weights(MODEL, **given)


def test_estimators_without_weights_of_examples(data):
    class Plain(LinearRegression):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(TypeError, match="sample_weight"):
        bootstrap_weights(Plain(), *data)
