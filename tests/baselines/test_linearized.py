"""The linear baseline: scikit-learn's conventions, exact with all landmarks, close with some."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelweave import MKLClassifier, kernels
from kernelweave.baselines.feature_maps import Fourier, Nystroem, Sampling
from kernelweave.baselines.linearized import LinearizedMKL

FAMILY = [kernels.RBF(gamma=[0.1, 1.0]), kernels.Linear(), kernels.per_feature(kernels.RBF(0.5))]
WIDTHS = kernels.RBF(gamma=[0.1, 1.0])
POLYNOMIALS = kernels.per_feature(kernels.Polynomial([1, 2, 3]))


@parametrize_with_checks([LinearizedMKL(n_components=20), LinearizedMKL(WIDTHS, loss="hinge")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def data(rng, n=80):
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def test_all_landmarks_give_the_kernels_back(rng):
    X, _ = data(rng, 30)
    features = Nystroem.of(FAMILY, "variance", X, Sampling(30, np.random.RandomState(0), 1))
    parts = np.split(features(X, 1), np.cumsum(features.sizes)[:-1], axis=1)
    exact = Nystroem.of(FAMILY, "variance", X, Sampling(30, np.random.RandomState(1), 1)).compiled
    names, stack = exact.names, [part @ part.T for part in parts]
    for kernel, value in zip(exact.kernels, grouped(stack, exact), strict=True):
        np.testing.assert_allclose(value, kernel(X), atol=1e-6)
    assert len(names) == len(stack) == 6


def grouped(stack, compiled):
    start = 0
    for kernel in compiled.kernels:
        block = np.array(stack[start : start + kernel.n_kernels])
        start += kernel.n_kernels
        yield block if kernel.is_family else block[0]


def test_fourier_features_approach_the_kernels(rng):
    X, _ = data(rng, 30)
    features = Fourier.of(WIDTHS, None, X, Sampling(20_000, np.random.RandomState(0), 1))
    first, second = np.split(features(X, 1), 2, axis=1)
    np.testing.assert_allclose(first @ first.T, rbf_kernel(X, gamma=0.1), atol=0.05)
    np.testing.assert_allclose(second @ second.T, rbf_kernel(X, gamma=1.0), atol=0.05)


def test_linearized_predictions_agree_with_the_exact_sum(rng):
    X, y = data(rng)
    linear = LinearizedMKL(FAMILY, n_components=80, random_state=0).fit(X, y)
    exact = MKLClassifier(FAMILY, norm=np.inf, loss="squared_hinge").fit(X, y)
    new = rng.normal(size=(200, 3))
    agree = np.mean(linear.predict(new) == exact.predict(new))
    assert agree > 0.95
    ours, theirs = linear.decision_function(new), exact.decision_function(new)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98


@pytest.mark.parametrize("name", ["sonar", "pima", "wdbc", "ionosphere", "heart_statlog"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("family", [None, POLYNOMIALS], ids=["default", "polynomials"])
def test_no_warning_on_real_data(family, loss, name, load_real):
    """Some columns have large, nearly equal values."""
    table = load_real(name)
    X, y = table["X"].astype(float)[:200], table["y"][:200]
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-9)
    X = X[:, np.ptp(X, axis=0) > 0]
    model = LinearizedMKL(family, loss=loss, n_components=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X, y)
    assert model.score(X, y) > 0.75


def test_the_intercept_refers_to_uncentred_features(rng):
    X, y = data(rng)
    model = LinearizedMKL(FAMILY, random_state=0).fit(X, y)
    values = model._map(X, 1) @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-12)
    margin = np.maximum(0, 1 - y * values)
    centre = model._map(X, 1).mean(axis=0)
    bias = model.intercept_[0] + model.coef_[0] @ centre
    np.testing.assert_allclose(2 * (y * margin).sum(), bias, rtol=1e-2)  # b is regularised too


def test_weights_are_norms_of_groups(rng):
    X, y = data(rng)
    model = LinearizedMKL(FAMILY, random_state=0).fit(X, y)
    assert model.weights_.shape == (6,)
    assert len(model.kernel_names_) == 6
    assert model.weights_.sum() == pytest.approx(1.0)
    several = LinearizedMKL(FAMILY, random_state=0).fit(X, np.arange(80) % 3)
    assert several.weights_.shape == (3, 6)


@pytest.mark.parametrize("features", ["nystroem", "fourier"])
def test_learns(features, rng):
    X, y = data(rng, 200)
    model = LinearizedMKL(WIDTHS, features=features, normalize=None, random_state=0, C=10.0)
    assert model.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": "wavelets"}, "features must be one of"),
        ({"n_components": 0}, "n_components must be an integer >= 1"),
        ({"loss": "logistic"}, "loss must be 'hinge' or 'squared_hinge'"),
        ({"features": "fourier"}, "normalize must be 'unit' or None"),
        ({"features": "fourier", "normalize": None}, r"requires RBF kernels, got 'Linear'"),
        ({"C": -1.0}, "C must be a finite number above 0"),
    ],
)
def test_bad_arguments_are_named(arguments, message, rng):
    X, y = data(rng, 20)
    with pytest.raises(ValueError, match=message):
        LinearizedMKL([kernels.Linear()], **arguments).fit(X, y)
