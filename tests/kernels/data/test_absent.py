"""Absent views: exactly the kernel of features whose absent rows are the mean of the present."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, load, verify
from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.kernels import (
    RBF,
    BagOfWords,
    CompiledKernels,
    Linear,
    NGram,
    Polynomial,
    Precomputed,
    WeightedDegree,
    normalize,
    per_feature,
    prepare,
)
from kernelweave.kernels.compile.examples import Reading
from kernelweave.kernels.data.absent import Absent, Presence, is_extrapolated
from kernelweave.kernels.data.views import Views

N, NEW = 40, 9
MISSING, MISSING_NEW = np.array([0, 7, 8, 31]), np.array([2, 8])


def oracle(K, absent):
    """The kernel of features psi = S phi, S having a row of means for each absent example."""
    present = ~absent
    S = np.eye(len(K)) * present[:, None]
    S[absent] = present / present.sum()
    return S @ K @ S.T


def removed(X, rows):
    X = np.array(X, dtype=float)
    X[rows] = np.nan
    return X


def flags(n, rows):
    absent = np.zeros(n, dtype=bool)
    absent[rows] = True
    return absent


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.fixture
def numbers(rng):
    return rng.normal(size=(N, 5)), rng.normal(size=(NEW, 5))


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(0.2), RBF([0.1, 0.2, 0.7]), Polynomial(2, 1.0), RBF(0.3) * Linear() + Linear()],
    ids=["linear", "rbf", "widths", "polynomial", "algebra"],
)
def test_absent_examples_are_at_the_mean_of_features(kernel, numbers):
    train, new = numbers
    X, Y = removed(train, MISSING), removed(new, MISSING_NEW)
    present = np.setdiff1d(np.arange(N), MISSING)
    reference = kernel.resolve(train[present])
    both = np.vstack([train, new])
    absent = np.concatenate([flags(N, MISSING), flags(NEW, MISSING_NEW)])
    K = reference(both, both)
    means = K[..., present].mean(axis=-1)  # of each example with the present training examples
    expected = K.copy()
    expected[..., absent, :] = means[..., None, :]
    expected[..., :, absent] = means[..., :, None]
    total = means[..., present].mean(axis=-1)
    expected[..., np.ix_(absent, absent)[0], np.ix_(absent, absent)[1]] = total[..., None, None]
    close(kernel(X), expected[..., :N, :N])
    close(kernel(Y, X), expected[..., N:, :N])
    close(kernel.diagonal(X), np.diagonal(expected[..., :N, :N], axis1=-2, axis2=-1))
    stack = np.atleast_3d(kernel(X).T).T
    close(stack, np.stack([oracle(one[:N, :N], flags(N, MISSING)) for one in np.atleast_3d(K.T).T]))
    assert all(np.linalg.eigvalsh(one).min() > -1e-12 * np.trace(one) for one in stack)


@pytest.mark.parametrize("how", ["variance", "unit", "trace", "center", None])
def test_normalisations_are_those_of_the_present_examples(how, numbers, rng):
    train, _ = numbers
    present = np.setdiff1d(np.arange(N), MISSING)
    kernel = RBF([0.1, 0.5]) + Linear()
    alone = normalize(kernel, how, train[present])
    found = normalize(kernel, how, removed(train, MISSING))
    assert isinstance(found, Absent)
    K = np.zeros((2, N, N))
    K[:, present[:, None], present] = alone(train[present])
    X = removed(train, MISSING)
    expected = np.stack([oracle(one, flags(N, MISSING)) for one in K])
    np.testing.assert_allclose(found(X), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_members_of_one_list_are_absent_on_their_own(numbers):
    train, _ = numbers
    X = train.copy()
    X[MISSING, 0] = np.nan
    compiled, examples = prepare([per_feature(RBF(0.5)), Linear(columns=[1, 2])], "variance", X)
    assert len(compiled.names) == 6
    K = _core.evaluate(compiled.program, examples.side, examples.side, 1)
    gone = flags(N, MISSING)
    assert np.all(K[0][gone] == 0)
    assert np.all(np.diagonal(K[:, ~gone][..., ~gone], axis1=1, axis2=2) > 0)
    assert np.all(np.diagonal(K[1:], axis1=1, axis2=2) > 0)


def test_texts_sequences_and_numbers_of_rows(rng):
    texts = np.array(["a word", "another word", "words and words", "one", "a", "b word"], object)
    sequences = np.array(["ACGTA", "CCGTA", "ACGGG", "TTGTA", "ACCCA", "GCGTA"], object)
    K = rng.normal(size=(6, 6))
    K = K @ K.T
    for kernel, column in [
        (BagOfWords(token_pattern=r"\w+"), texts),
        (NGram(2), texts),
        (WeightedDegree(3), sequences),
        (Precomputed(K), np.arange(6.0)),
    ]:
        full, gone = column[:, None], column[:, None].copy()
        gone[[1, 4]] = None if column.dtype == object else np.nan
        expected = oracle(kernel.resolve(full[[0, 2, 3, 5]])(full, full), flags(6, [1, 4]))
        np.testing.assert_allclose(kernel(gone), expected, atol=1e-12)
        nothing = np.full((2, 1), None if column.dtype == object else np.nan, dtype=column.dtype)
        np.testing.assert_allclose(
            kernel(nothing, gone)[0], expected[1], atol=1e-12 * np.abs(expected).max()
        )


def test_kernels_that_are_learned_with_are_extrapolated(numbers):
    """Centred with weights, 0 where absent, and twice as large where the other view is absent."""
    train, new = numbers
    weights = np.arange(1.0, N + 1)
    X = removed(train, MISSING)
    views = Views({"some": X, "all": train})
    kernels = [Linear(columns="some"), Linear(columns="all")]
    with single_threaded_blas():
        compiled, examples = prepare(kernels, None, views, weights=weights)
        K = _core.evaluate(compiled.program, examples.side, examples.side, 1)
        others = compiled.examples(Views({"some": removed(new, MISSING_NEW), "all": new}))
        between = _core.evaluate(compiled.program, examples.side, others.side, 1)
    assert is_extrapolated(compiled)
    present = np.setdiff1d(np.arange(N), MISSING)
    factors = np.where(flags(N, MISSING), 2.0, 1.0)[:, None]
    factors_new = np.where(flags(NEW, MISSING_NEW), 2.0, 1.0)[:, None]
    some = train - weights[present] @ train[present] / weights[present].sum()
    middle = weights @ train / weights.sum()
    features = factors * (train - middle)
    some[MISSING] = 0.0
    close(K, np.stack([some @ some.T, features @ features.T]))
    some_new = new - weights[present] @ train[present] / weights[present].sum()
    some_new[MISSING_NEW] = 0.0
    features_new = factors_new * (new - middle)
    close(between, np.stack([some @ some_new.T, features @ features_new.T]))


@pytest.mark.parametrize("n", [200, 5200])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3)], ids=["linear", "rbf"])
def test_training_examples_and_new_ones_are_centred_alike(kernel, n, rng):
    """The mean may be that of some of the examples."""
    X = rng.normal(size=(n, 3))
    views = Views({"a": removed(X, [0, 5]), "b": X})
    kernels = [kernel.on("a"), kernel.on("b")]
    compiled, examples = prepare(kernels, "variance", views)
    again = compiled.examples(views)
    there = np.setdiff1d(np.arange(n), [0, 5])
    np.testing.assert_allclose(again.vectors[:, there], examples.vectors[:, there], atol=1e-10)


def test_presence_of_views_is_stored_once(rng, tmp_path):
    """A file grows with the number of kernels, not with its square."""
    X = rng.normal(size=(40, 80))
    y = X[:, 0] > 0
    X[rng.random(X.shape) < 0.2] = np.nan

    def size(columns):
        kernels = [RBF(1.0, columns=[j]) for j in range(columns)]
        model = MKLClassifier(kernels, tol=0.1).fit(X[:, :columns], y)
        assert list(model.kernel_names_) == [f"RBF gamma=1 on column {j}" for j in range(columns)]
        model.save(tmp_path / "model.kw")
        again = load(tmp_path / "model.kw")
        values = again.decision_function(X[:, :columns])
        np.testing.assert_array_equal(values, model.decision_function(X[:, :columns]))
        assert verify(again, X[:, :columns], y).agree
        return (tmp_path / "model.kw").stat().st_size

    assert size(80) < 4.5 * size(20)


def test_views_count_the_same_whatever_the_number_of_kernels(numbers):
    train, _ = numbers
    views = Views({"a": removed(train, [0]), "b": removed(train, [1])})
    kernels = [
        RBF([0.1, 0.2, 0.4], columns="a", name="a"),
        Linear(columns="b", name="b"),
        (RBF(0.1, columns="a") * Linear(columns="b")).named("ab"),
    ]
    compiled, _ = prepare(kernels, "variance", views)
    factors = Presence.of(compiled).factors(Reading(views, training=True))
    np.testing.assert_allclose(factors[:3], [3.0, 3.0, 1.0])


def test_errors(numbers):
    train, _ = numbers
    one = train.copy()
    one[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 1; impute .*SimpleImputer"):
        prepare(RBF(), None, one)
    with pytest.raises(ValueError, match="NaN or None for example 7 in all columns"):
        prepare([RBF(), Linear()], None, removed(train, [7]))
    with pytest.raises(ValueError, match="absent for all training examples"):
        prepare({"a": Linear(), "b": Linear()}, None, Views({"a": train, "b": train * np.nan}))
    with pytest.raises(ValueError, match="view 'b' is absent for all training examples"):
        prepare({"a": Linear(), "b": Linear()}, None, Views({"a": train, "b": None}))
    with pytest.raises(ValueError, match="with a positive weight"):
        prepare([Linear(columns=0), Linear(columns=1)], None, _gone(train), weights=np.eye(N)[0])


def _gone(X):
    X = X.copy()
    X[0, 0] = np.nan
    return X


def test_compiled_kernels_have_readable_names(numbers):
    train, _ = numbers
    kernels = {"a": RBF([0.1, 0.2]), "b": 2.0 * Linear() + RBF(0.1)}
    compiled, _ = prepare(kernels, "variance", Views({"a": train, "b": train[:, :2]}))
    assert isinstance(compiled, CompiledKernels)
    assert compiled.names == ("a gamma=0.1", "a gamma=0.2", "b")
    assert compiled.views == ("a", "a", "b")


def test_missing_values_of_a_subset_are_those_of_its_rows():
    X = np.array([[0.0, np.nan], [1.0, 2.0], [2.0, np.nan]])
    view = Linear(columns=[1]).resolve(X[1:2]).columns
    reading = Reading(X, training=True)
    assert reading.missing(view).tolist() == [True, False, True]
    assert reading.subset(np.array([1, 2])).missing(view).tolist() == [False, True]
    assert reading.subset(np.array([1])).missing(view) is None
