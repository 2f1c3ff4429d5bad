"""Kernel PCA of learned combinations against scikit-learn's on the combined matrix."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA

from kernelweave import MKLClassifier, MKLKernelPCA, MKLOneClass, MKLRegressor
from kernelweave.inspection import combined_kernel
from kernelweave.kernels import RBF, Linear, Spectrum, normalize


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] ** 2 + 0.1 * rng.normal(size=60) > 0.5, "out", "in")


KERNELS = [RBF([0.1, 1.0]), Linear()]


@pytest.mark.parametrize("how", [None, "unit", "variance", "center"])
def test_combined_kernel_is_the_weighted_sum(how, data, rng):
    X, y = data
    model = MKLClassifier(KERNELS, norm=2, normalize=how).fit(X, y)
    new = rng.normal(size=(7, 3))
    parts = [normalize(kernel, how, X)(new, X).reshape(-1, 7, 60) for kernel in KERNELS]
    expected = np.tensordot(model.weights_, np.concatenate(parts), axes=1)
    np.testing.assert_allclose(combined_kernel(model, new, X), expected, rtol=1e-9, atol=1e-12)


def test_combined_kernel_gives_the_decision_values(data):
    X, y = data
    model = MKLClassifier(KERNELS, norm=1).fit(X, y)
    K = combined_kernel(model, X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    decided = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), decided, atol=1e-9)


def aligned(A, B):
    """Return A with the signs of the columns of B."""
    return A * np.sign((A * B).sum(axis=0))


@pytest.mark.parametrize("prefit", [False, True])
def test_coordinates_are_those_of_scikit_learn(prefit, data, rng):
    X, y = data
    model = MKLClassifier(KERNELS, norm=2)
    if prefit:
        model.fit(X, y)
    pca = MKLKernelPCA(model, 4).fit(X, None if prefit else y)
    assert (pca.estimator_ is model) == prefit
    K = combined_kernel(pca.estimator_, X)
    peer = KernelPCA(4, kernel="precomputed").fit(K)
    np.testing.assert_allclose(pca.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    found = pca.transform(X)
    np.testing.assert_allclose(aligned(found, peer.transform(K)), peer.transform(K), atol=1e-8)
    new = rng.normal(size=(5, 3))
    expected = peer.transform(combined_kernel(pca.estimator_, new, X))
    np.testing.assert_allclose(np.abs(pca.transform(new)), np.abs(expected), atol=1e-8)
    every = MKLKernelPCA(pca.estimator_, len(X)).fit(X)
    assert every.explained_ratio_.sum() == pytest.approx(1.0)


def test_all_coordinates_keep_the_distances_of_the_kernel(data):
    """Squared distances of all coordinates are k(x, x) + k(y, y) - 2 k(x, y)."""
    X, y = data
    pca = MKLKernelPCA(MKLClassifier(KERNELS, norm=2), len(X))
    Z = pca.fit_transform(X, y)
    K = combined_kernel(pca.estimator_, X)
    expected = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.testing.assert_allclose(((Z[:, None] - Z) ** 2).sum(axis=2), expected, atol=1e-7)


def test_sequences_classes_and_other_estimators(rng, data):
    texts = ["".join(rng.choice(list("ACGT"), size=20)) for _ in range(30)]
    y = np.arange(30) % 3
    pca = MKLKernelPCA(MKLClassifier(Spectrum([2, 3]), norm=2), 3, target=2)
    assert pca.fit_transform(texts, y).shape == (30, 3)
    assert clone(pca).get_params()["target"] == 2
    X = data[0]
    assert MKLKernelPCA(MKLRegressor(KERNELS)).fit_transform(X, X[:, 0]).shape == (60, 2)
    assert MKLKernelPCA(MKLOneClass(KERNELS)).fit_transform(X).shape == (60, 2)


@pytest.mark.parametrize("value", [0, 61, 1.5, "two"])
def test_bad_numbers_of_components_are_named(value, data):
    with pytest.raises(ValueError, match="n_components must be an integer from 1 to 60"):
        MKLKernelPCA(MKLClassifier(KERNELS), value).fit(*data)
