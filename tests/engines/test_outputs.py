"""Several targets and labels at once, and probabilities."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multioutput import MultiOutputRegressor

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, load, verify
from kernelweave.kernels import RBF, Linear

KERNELS = [RBF([0.1, 0.5]), Linear()]
N = 50


@pytest.fixture
def targets(rng):
    X = rng.normal(size=(N, 3))
    return X, np.column_stack([X[:, 0] + 100, np.sin(2 * X[:, 1]), X[:, 2] ** 2])


@pytest.fixture
def labels(rng):
    X = rng.normal(size=(N, 3))
    return X, (X + 0.2 * rng.normal(size=X.shape) > 0).astype(int)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_each_target_is_a_problem_of_its_own(targets, loss):
    X, Y = targets
    model = MKLRegressor(KERNELS, loss=loss, tol=1e-6).fit(X, Y)
    alone = MultiOutputRegressor(MKLRegressor(KERNELS, loss=loss, tol=1e-6)).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), atol=1e-2)
    assert model.weights_.shape == (3, 3)
    assert model.duality_gap_.max() <= 1e-6
    assert verify(model, X, Y).agree


def test_units_of_targets_do_not_matter(targets, tmp_path):
    X, Y = targets
    units = np.array([1.0, 1e3, 1e-3])
    model, other = MKLRegressor(KERNELS, tol=1e-6), MKLRegressor(KERNELS, tol=1e-6)
    model.fit(X, Y)
    other.fit(X, Y * units)
    np.testing.assert_allclose(other.epsilon_, model.epsilon_ * units)
    np.testing.assert_allclose(other.predict(X) / units, model.predict(X), atol=1e-2)
    assert verify(other, X, Y * units).agree
    other.save(tmp_path / "m.kw")
    assert np.array_equal(load(tmp_path / "m.kw").C_, other.C_)
    shared = MKLRegressor(KERNELS, share_weights=True).fit(X, Y)
    assert pytest.approx(np.sqrt(np.mean(Y.std(axis=0) ** 2))) == shared.C_
    assert shared.epsilon_ == pytest.approx(0.1 * shared.C_)


def test_targets_that_share_their_weights(targets, tmp_path):
    X, Y = targets
    model = MKLRegressor(KERNELS, C=10, share_weights=True).fit(X, Y)
    assert model.weights_.shape == (3,)
    assert model.duality_gap_ <= model.tol
    assert verify(model, X, Y).agree
    assert model.score(X, Y) > 0.8
    shift = np.array([0.0, 7.0, -300.0])
    exact = MKLRegressor(KERNELS, C=10, share_weights=True, tol=1e-7)
    near, moved = exact.fit(X, Y).predict(X), exact.fit(X, Y + shift).predict(X) - shift
    np.testing.assert_allclose(moved, near, atol=1e-2)
    model.save(tmp_path / "m.kw")
    assert np.array_equal(load(tmp_path / "m.kw").predict(X), model.predict(X))


@pytest.mark.parametrize("share", [False, True])
def test_labels_that_examples_may_all_have(labels, share, tmp_path):
    X, Y = labels
    model = MKLClassifier(KERNELS, share_weights=share, tol=1e-6).fit(X, Y)
    assert np.all(model.duality_gap_ <= 1e-6)
    assert verify(model, X, Y).agree
    assert model.predict(X).shape == (N, 3)
    assert np.mean(model.predict(X) == Y) > 0.85
    if not share:
        for k in range(3):
            one = MKLClassifier(KERNELS, tol=1e-6).fit(X, Y[:, k])
            np.testing.assert_allclose(
                model.decision_function(X)[:, k], one.decision_function(X), atol=1e-2
            )
    model.save(tmp_path / "m.kw")
    assert np.array_equal(load(tmp_path / "m.kw").predict(X), model.predict(X))


def test_functions_of_yeast_genes(load_real):
    """Two of 14 labels on 300 genes: both expression and phylogeny get weight."""
    data = load_real("yeast_function")
    X = {name: data[f"X_{name}"][:300].astype(float) for name in ("expr", "phylo")}
    Y = np.asarray(data["Y"] if "Y" in data else data["y"])[:300, 2:4].astype(int)
    Y = (Y > 0).astype(int)
    model = MKLClassifier({name: RBF("median") for name in X}, share_weights=True).fit(X, Y)
    assert model.duality_gap_ <= model.tol
    assert verify(model, X, Y).agree


def test_bad_labels(labels):
    X, Y = labels
    with pytest.raises(ValueError, match="label 1 is 1 for all examples"):
        MKLClassifier(KERNELS).fit(X, np.column_stack([Y[:, 0], np.ones(N, int), Y[:, 1]]))
    with pytest.raises(ValueError, match="y must contain only 0 and 1"):
        MKLClassifier(KERNELS).fit(X, 2 * Y - 1)
    with pytest.raises(ValueError, match="class_weight must be None"):
        MKLClassifier(KERNELS, class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="one label per example, got several"):
        MKLClassifierCV(KERNELS).fit(X, Y)


def test_probabilities_are_those_of_the_likelihood(labels):
    X, Y = labels
    model = MKLClassifier(KERNELS, loss="logistic").fit(X, Y[:, 0])
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))
    several = MKLClassifier(KERNELS, loss="logistic").fit(X, Y.sum(axis=1) % 3)
    P = several.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert np.array_equal(several.classes_[P.argmax(axis=1)], several.predict(X))
    each = MKLClassifier(KERNELS, loss="logistic").fit(X, Y)
    assert np.array_equal(each.predict_proba(X) > 0.5, each.predict(X) > 0)


def test_other_losses_point_to_calibration(labels):
    X, Y = labels
    model = MKLClassifier(KERNELS).fit(X, Y[:, 0])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        model.predict_proba(X)
    assert "calibrate=" in str(caught.value)
    calibrated = CalibratedClassifierCV(MKLClassifier(KERNELS), cv=2).fit(X, Y[:, 0])
    assert calibrated.predict_proba(X).shape == (N, 2)
