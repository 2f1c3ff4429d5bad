"""Probabilities of pairs of classes: coupling, and calibration on held-out examples."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, MKLClassifierCV, verify
from kernelweave.engines.class_pairs import class_pairs
from kernelweave.estimators.cross_fit import folds
from kernelweave.estimators.pair_calibration import coupled
from kernelweave.kernels import RBF, Linear


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    noisy = np.random.default_rng(0).normal(size=X.shape)
    return StandardScaler().fit_transform(X) + noisy, np.array(["low", "mid", "top"])[y]


@pytest.mark.parametrize("K", [2, 3, 7])
def test_coupling_recovers_consistent_probabilities(K, rng):
    p = rng.dirichlet(np.ones(K), size=20)
    r = np.stack([p[:, a] / (p[:, a] + p[:, b]) for a, b in class_pairs(K)], axis=1)
    np.testing.assert_allclose(coupled(r), p, atol=1e-6)


def test_coupling_minimises_the_sum_of_squares(rng):
    pairs, r = class_pairs(4), rng.random((5, 6))
    for found, of_pairs in zip(coupled(r), r, strict=True):

        def squares(p, of_pairs=of_pairs):
            terms = zip(of_pairs, pairs, strict=True)
            return sum(((1 - one) * p[a] - one * p[b]) ** 2 for one, (a, b) in terms)

        best = minimize(
            squares,
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-14},
        )
        assert squares(found) <= best.fun + 1e-9
        np.testing.assert_allclose(found, best.x, atol=1e-4)


def test_certain_pairs_give_finite_probabilities():
    p = coupled(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p[0].argmax() == 0


def test_logistic_pairs_are_coupled(wine):
    X, y = wine
    model = MKLClassifier(RBF(0.1), loss="logistic", multi_class="ovo").fit(X, y)
    values = model.set_params(decision_function_shape="ovo").decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X), coupled(expit(values)))


FORMS = {
    "one kernel": (RBF(0.1), "auto"),
    "linear": (Linear(), "auto"),
    "shared weights": (RBF([0.02, 0.2]), True),
    "weights of each pair": (RBF([0.02, 0.2]), False),
}


@pytest.mark.parametrize(("kernels", "share"), FORMS.values(), ids=FORMS)
def test_conformity_scores_of_pairs_equal_those_of_fits_on_each_fold(wine, kernels, share):
    X, y = wine
    codes = np.unique(y, return_inverse=True)[1]
    model = MKLClassifier(
        kernels, normalize=None, multi_class="ovo", share_weights=share, calibrate="sigmoid"
    )
    model.set_params(decision_function_shape="ovo", tol=1e-6).fit(X, y)
    for test in folds(len(y), codes):
        train = np.setdiff1d(np.arange(len(y)), test)
        alone = clone(model).set_params(calibrate=None).fit(X[train], y[train])
        values = alone.decision_function(X[test]).T
        r = [one(of_pair) for one, of_pair in zip(model.calibrators_, values, strict=True)]
        p = coupled(np.column_stack(r))[np.arange(len(test)), codes[test]]
        np.testing.assert_allclose(model.conformity_[test], 1 - p, atol=2e-3)


@pytest.mark.parametrize("how", ["sigmoid", "isotonic"])
def test_sets_cover_and_probabilities_rank(wine, how):
    X, y = wine
    model = MKLClassifier(RBF(0.05), multi_class="ovo", calibrate=how).fit(X[::2], y[::2])
    p = model.predict_proba(X[1::2])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(model.classes_[p.argmax(axis=1)] == y[1::2]) > 0.8
    codes = np.searchsorted(model.classes_, y[1::2])
    assert model.predict_set(X[1::2], 0.1)[np.arange(len(codes)), codes].mean() > 0.8


def test_class_with_one_example_is_calibrated(wine):
    X, y = wine
    labels = np.where(np.arange(len(y)) == 7, "single", y)
    model = MKLClassifier(RBF(0.1), multi_class="ovo", calibrate="sigmoid").fit(X, labels)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kernels", [RBF(0.1), RBF([0.02, 0.2])], ids=["one", "shared"])
def test_calibrated_searches_equal_calibrated_fits(wine, kernels):
    X, y = wine
    settings = {"multi_class": "ovo", "calibrate": "sigmoid", "tol": 1e-5}
    search = MKLClassifierCV(kernels, norms=[2], Cs=[1.0], cv=3, **settings).fit(X, y)
    model = MKLClassifier(kernels, C=1.0, **settings).fit(X, y)
    np.testing.assert_allclose(search.predict_proba(X), model.predict_proba(X), atol=1e-3)
    np.testing.assert_array_equal(search.predict_set(X, 0.2), model.predict_set(X, 0.2))
    assert verify(search, X, y).agree


def test_hard_margins_of_pairs_are_not_calibrated(wine):
    model = MKLClassifier(RBF(1.0), C=np.inf, multi_class="ovo", calibrate="sigmoid")
    with pytest.raises(ValueError, match="hard margin"):
        model.fit(*wine)
