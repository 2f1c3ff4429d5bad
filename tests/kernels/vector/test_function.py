"""Functions and the sigmoid as kernels: values, repairs and errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel

from kernelweave import MKLClassifier, load, verify
from kernelweave.kernels import RBF, Function, Linear, Sigmoid


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 3))
    return X, np.sign(X[:, 0] + 0.3 * rng.normal(size=40))


def clipped(K):
    values, vectors = np.linalg.eigh(K)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def test_a_function_that_is_a_kernel(data):
    X, y = data
    one = MKLClassifier([lambda a, b: rbf_kernel(a, b, gamma=0.3), Linear()], tol=1e-6).fit(X, y)
    other = MKLClassifier([RBF(0.3), Linear()], tol=1e-6).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)
    assert one.kernel_names_ == ("<lambda>", "Linear")
    assert verify(one, X, y).agree
    new = X[:5] + 0.1
    kernel = Function(rbf_kernel, columns=[0, 1]).resolve(X)
    np.testing.assert_allclose(kernel(new, X), rbf_kernel(new[:, :2], X[:, :2]), atol=1e-12)


def test_a_function_of_texts(rng):
    texts = ["".join(rng.choice(list("AB"), size=rng.integers(1, 6))) for _ in range(20)]
    y = ["B" if text.count("B") > text.count("A") else "A" for text in texts]

    def letters(some, others):
        assert all(isinstance(text, str) for text in [*some, *others])
        counts = [np.array([[t.count("A"), t.count("B")] for t in part]) for part in (some, others)]
        return counts[0] @ counts[1].T

    counts = np.array([[text.count("A"), text.count("B")] for text in texts], dtype=float)
    model = MKLClassifier(letters, normalize=None, tol=1e-8).fit(texts, y)
    expected = MKLClassifier(Linear(), normalize=None, tol=1e-8).fit(counts, y)
    values = model.decision_function(texts[:7])
    np.testing.assert_allclose(values, expected.decision_function(counts[:7]), atol=1e-4)
    frame = pd.DataFrame({"size": counts.sum(axis=1), "word": texts})
    kernel = Function(letters, columns="word").resolve(frame)
    np.testing.assert_allclose(kernel(frame[:3], frame), counts[:3] @ counts.T, atol=1e-9)
    encoded = Function(lambda a, b: a @ b.T).resolve(frame)  # words are categories among others
    assert encoded(frame).shape == (20, 20)


def test_the_sigmoid_is_repaired(data):
    X, _ = data
    with pytest.warns(UserWarning, match=r"'Sigmoid gamma=0.5 coef0=-1'.*smallest eigenvalue"):
        kernel = Sigmoid(0.5, -1.0).resolve(X)
    plain = sigmoid_kernel(X, X, gamma=0.5, coef0=-1.0)
    np.testing.assert_allclose(kernel(X), clipped(plain), atol=1e-10)
    np.testing.assert_allclose(kernel(X[:3], X), clipped(plain)[:3], atol=1e-10)
    with pytest.raises(ValueError, match="smallest eigenvalue"):
        Sigmoid(0.5, -1.0, repair="error").resolve(X)


@pytest.mark.filterwarnings("ignore:.*smallest eigenvalue:UserWarning")
def test_a_family_of_sigmoids_is_learned_certified_and_saved(data, tmp_path):
    X, y = data
    model = MKLClassifier(Sigmoid(gamma=["scale", 0.1], coef0=0.5)).fit(X, y)
    assert len(model.kernel_names_) == 2
    assert model.duality_gap_ <= model.tol
    assert verify(model, X, y).agree
    model.save(tmp_path / "m.kw")
    found = load(tmp_path / "m.kw").decision_function(X[:4] + 1)
    assert np.array_equal(found, model.decision_function(X[:4] + 1))


def test_bad_use_is_named(data, tmp_path):
    X, y = data
    for function, message in [
        (lambda a, b: np.ones(3), r"returned an array of shape \(3,\) for 40 and 40"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "must be finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            MKLClassifier(function).fit(X, y)
    with pytest.raises(ValueError, match="must be callable"):
        Function(3)
    with pytest.raises(ValueError, match="Sigmoid: coef0 must be a finite number"):
        Sigmoid(coef0=np.inf)
    with pytest.raises(ValueError, match="repair must be"):
        Sigmoid(repair="no")
    model = MKLClassifier(rbf_kernel).fit(X, y)
    with pytest.raises(ValueError, match="cannot be saved"):
        model.save(tmp_path / "m.kw")
