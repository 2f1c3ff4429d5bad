"""Contributions of training examples to decision values."""

import pickle

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLRegressor, load
from kernelweave.inspection import influential_examples
from kernelweave.kernels import RBF, Linear


def total(found):
    return found.contributions.sum(axis=1) + found.rest + found.intercept


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=60) > 0


def test_contributions_are_coefficients_times_kernel_values(data):
    X, y = data
    kernels = [RBF(0.5), Linear()]
    model = MKLClassifier(kernels, normalize=None).fit(X, y)
    found = influential_examples(model, X[:5], k=60)
    combined = sum(w * k(X) for w, k in zip(model.weights_, kernels, strict=True))
    wanted = np.zeros((5, 60))
    wanted[:, model.support_] = model.dual_coef_[0] * combined[:5][:, model.support_]
    got = np.zeros((5, 60))
    for i in range(5):
        there = found.indices[i] >= 0
        got[i, found.indices[i, there]] = found.contributions[i, there]
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.rest, 0.0, atol=1e-12)


def test_largest_contributions_come_first(data):
    X, y = data
    found = influential_examples(MKLClassifier(RBF(0.5)).fit(X, y), X, k=7)
    sizes = np.abs(found.contributions)
    assert (np.diff(sizes, axis=1) <= 0).all()


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_contributions_sum_to_the_decision_value(data, loss):
    X, y = data
    model = MKLClassifier(RBF([0.1, 1.0]), loss=loss).fit(X, y)
    np.testing.assert_allclose(
        total(influential_examples(model, X, k=3)), model.decision_function(X), atol=1e-12
    )


def test_each_class_has_contributions_of_its_own(rng):
    X = rng.normal(size=(60, 3))
    model = MKLClassifier(RBF(0.5), multi_class="ovr").fit(X, np.arange(60) % 3)
    for c in range(3):
        found = influential_examples(model, X[:5], target=c)
        np.testing.assert_allclose(total(found), model.decision_function(X[:5])[:, c], atol=1e-12)


@pytest.mark.parametrize("how", ["weights", "copies"])
def test_indices_refer_to_training_examples_when_equal_ones_are_merged(rng, how):
    X = rng.normal(size=(40, 3))
    y = X[:, 0] ** 2
    weights = rng.random(40) + 0.5
    if how == "copies":
        X, y, weights = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(weights, 2)
    kernel = RBF(0.5)
    model = MKLRegressor(kernel, normalize=None).fit(X, y, sample_weight=weights)
    found = influential_examples(model, X[:5], k=4)
    np.testing.assert_allclose(total(found), model.predict(X[:5]), atol=1e-12)
    dual = np.zeros(len(X))
    dual[model.support_] = model.dual_coef_[0]
    for i in range(5):
        at = found.indices[i]
        wanted = model.weights_[0] * dual[at] * kernel(X[[i]], X[at])[0]
        np.testing.assert_allclose(found.contributions[i], wanted, atol=1e-12)


def test_models_of_files_and_pickles_give_equal_contributions(data, tmp_path):
    X, y = data
    model = MKLClassifier(RBF(0.5)).fit(X, y)
    wanted = influential_examples(model, X[:5])
    model.save(tmp_path / "model.kw")
    for other in (load(tmp_path / "model.kw"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(influential_examples(other, X[:5]).indices, wanted.indices)


def test_merged_models_of_files_have_the_same_influences(data, tmp_path):
    X, y = data
    model = MKLClassifier(RBF(0.5)).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    model.save(tmp_path / "model.kw")
    expected = influential_examples(model, X[:5])
    found = influential_examples(load(tmp_path / "model.kw"), X[:5])
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.contributions, expected.contributions)


@pytest.mark.parametrize("k", [0, -1, 2.5, "all"])
def test_mistaken_numbers_of_examples_are_named(data, k):
    X, y = data
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        influential_examples(MKLClassifier(RBF(0.5)).fit(X, y), X, k=k)
