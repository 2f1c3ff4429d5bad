"""The identity kernel: similar to nothing but itself."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import MKLClassifier, kernels, load
from kernelweave.datasets import make_motifs
from kernelweave.engines import LinearEngine
from kernelweave.kernels import RBF, Identity, Linear, WeightedDegree


def test_values(rng):
    X = rng.normal(size=(5, 2))
    np.testing.assert_array_equal(Identity()(X), np.eye(5))
    np.testing.assert_array_equal(Identity()(X[:2], X), np.zeros((2, 5)))
    np.testing.assert_array_equal(Identity().diagonal(X), np.ones(5))
    np.testing.assert_allclose(kernels.normalize(Identity(), "variance", X)(X), 5 / 4 * np.eye(5))


def test_equal_rows_stay_apart(rng):
    X = np.repeat(rng.normal(size=(10, 2)), 2, axis=0)
    y = np.tile([-1, 1], 10)
    model = MKLClassifier([Linear(), Identity()], norm=np.inf, normalize=None, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_[0], y[model.support_], atol=1e-3)
    assert len(model.support_) == 20


def test_an_identity_kernel_gives_squared_slacks(rng):
    """A ridge of 1 / C on the diagonal is the squared hinge loss with C / 2 (Cortes and Vapnik)."""
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    settings = {"normalize": None, "tol": 1e-8}
    ridge = MKLClassifier(RBF(0.5) + 2.0 * Identity(), C=1e6, **settings).fit(X, y)
    squared = MKLClassifier(RBF(0.5), loss="squared_hinge", C=0.25, **settings).fit(X, y)
    new = rng.normal(size=(20, 3))
    expected = squared.decision_function(new)
    np.testing.assert_allclose(ridge.decision_function(new), expected, atol=1e-3)


def test_with_string_families_and_in_files(rng, tmp_path):
    X, y = make_motifs(200, 4, positive_rate=0.5)
    each = [WeightedDegree(5, split="degree"), Identity()]
    engine = LinearEngine.of(training_set(each, X))
    v, theta = rng.normal(size=200), rng.random(6)
    K = engine.blocks(np.arange(200))
    np.testing.assert_array_equal(K[5], np.eye(200))
    np.testing.assert_allclose(engine.matvec(v, theta), np.tensordot(theta, K, 1) @ v, rtol=1e-9)
    engine.move_to(v)
    assert engine.quadratic()[5] == pytest.approx(v @ v)
    np.testing.assert_allclose(engine.outputs_at(np.arange(3))[5], v[:3])
    model = MKLClassifier(each, norm=1).fit(X, y)
    new, _ = make_motifs(50, 4, random_state=9)
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw").decision_function(new)
    np.testing.assert_array_equal(again, model.decision_function(new))
