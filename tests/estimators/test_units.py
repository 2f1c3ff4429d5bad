"""Predictions of estimators without arguments do not depend on units and origins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, OneClassSVM

from kernelweave import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLRegressorCV

ESTIMATORS = [MKLClassifier(), MKLRegressor(), MKLOneClass()]
each = pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)


@pytest.fixture
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150], y[:150]


@pytest.fixture
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


@each
@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_units_of_columns(model, kind, cancer, rng):
    X, y = cancer
    units = rng.permutation(np.resize([1000.0, 1e-3, 1.0], X.shape[1]))
    other = units * X + rng.normal(size=X.shape[1]) * X.std(axis=0) * units
    if kind != "array":
        frames = pytest.importorskip(kind)
        names = [f"x{k}" for k in range(X.shape[1])]
        X, other = (
            frames.DataFrame(dict(zip(names, table.T, strict=True))) for table in (X, other)
        )
    first = model.fit(X, y).predict(X)
    assert np.array_equal(model.fit(other, y).predict(other), first)


@each
def test_units_of_sparse_columns(model, rng):
    X = sp.random_array((80, 6), density=0.4, rng=rng, format="csr")
    y = X.toarray()[:, 0] > 0.2
    other = sp.csr_array(X @ sp.diags_array([1000.0, 1, 1e-3, 1, 7, 1]))
    first = model.fit(X, y).predict(X)
    assert np.array_equal(model.fit(other, y).predict(other), first)
    if not isinstance(model, MKLOneClass):  # which has no bias that could follow a linear kernel
        dense = model.fit(X.toarray(), y).predict(X.toarray())
        assert np.allclose(dense.astype(float), first.astype(float), atol=0.02)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
@pytest.mark.parametrize(("unit", "origin"), [(1000.0, 0.0), (1e-3, 5.0), (1.0, 1e6)])
def test_units_of_targets(loss, unit, origin, diabetes):
    X, y = diabetes
    model = MKLRegressor(loss=loss, tol=1e-6)
    first = model.fit(X, y).predict(X)
    again = (model.fit(X, unit * y + origin).predict(X) - origin) / unit
    assert np.abs(again - first).max() < 2e-3 * y.std()


def test_units_in_a_search(diabetes, cancer):
    X, y = diabetes
    search = MKLRegressorCV(cv=3, norms=[2.0], tol=1e-5).fit(X, y)
    other = MKLRegressorCV(cv=3, norms=[2.0], tol=1e-5).fit(3.0 * X, 1000.0 * y)
    assert pytest.approx(1000 * search.C_) == other.C_
    assert np.allclose(other.scores_, search.scores_, atol=2e-3)
    X, y = cancer
    first, second = (MKLClassifierCV(cv=3, norms=[2.0]).fit(k * X, y) for k in (1.0, 1000.0))
    assert np.array_equal(first.scores_, second.scores_)


def test_numeric_c_and_epsilon_agree_with_svr(diabetes):
    from kernelweave.kernels import RBF

    X, y = diabetes
    model = MKLRegressor(RBF(2.0), C=50.0, epsilon=3.0, normalize=None, tol=1e-6).fit(X, y)
    machine = SVR(gamma=2.0, C=50.0, epsilon=3.0, tol=1e-6).fit(X, y)
    assert (model.C_, model.epsilon_) == (50.0, 3.0)
    assert np.allclose(model.predict(X), machine.predict(X), atol=0.05)


def test_scale_is_resolved_from_the_targets(diabetes):
    X, y = diabetes
    model = MKLRegressor(C="scale").fit(X, y)
    assert pytest.approx(y.std()) == model.C_
    assert model.epsilon_ == pytest.approx(0.1 * y.std())
    assert MKLRegressor(C="scale", loss="squared").fit(X, y).C_ == 1.0
    weights = np.where(np.arange(150) < 50, 1.0, 0.0)
    weighted = MKLRegressor(C="scale").fit(X, y, sample_weight=weights)
    assert pytest.approx(y[:50].std()) == weighted.C_


def test_one_class_defaults_agree_with_a_scaled_one_class_svm(cancer):
    X, _ = cancer
    ours = MKLOneClass(tol=1e-6).fit(X).decision_function(X)
    theirs = make_pipeline(StandardScaler(), OneClassSVM(tol=1e-6)).fit(X).decision_function(X)
    scale = ours.std() / theirs.std()
    assert np.allclose(ours, scale * theirs, atol=1e-3 * ours.std())
