"""The engine that caches all kernel values: blocks, outputs and fits."""

import numpy as np
import pytest
from kernel_cases import training_set
from sklearn.datasets import load_breast_cancer

from kernelweave import MKLClassifier, MKLClassifierCV
from kernelweave.engines import StackedEngine
from kernelweave.kernels import RBF, GappedKmer, Linear, Polynomial, Spectrum, WeightedDegree

FAMILY = [Linear(), RBF([0.01, 0.1, 1.0]), Polynomial(2, 0.1)]


@pytest.fixture
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:90, :6], y[:90]


@pytest.mark.parametrize(
    "then", [[1, 4, 7], [7, 1], [1, 2], [], [1, 4, 7, 9, 11], [0, 13]], ids=str
)
@pytest.mark.parametrize("same", [True, False], ids=["same weights", "other weights"])
def test_blocks_do_not_depend_on_earlier_blocks(then, same, rng):
    X = rng.normal(size=(14, 3))
    engine, fresh = (StackedEngine.of(training_set(FAMILY, X)) for _ in range(2))
    theta = rng.random(5)
    engine.block(np.array([1, 4, 7, 9, 11]), theta)[:] = np.nan  # it is the caller's
    theta = theta.copy() if same else rng.random(5)
    idx = np.array(then, dtype=int)
    np.testing.assert_array_equal(engine.block(idx, theta), fresh.block(idx, theta))


@pytest.mark.parametrize("changed", range(10))
def test_outputs_follow_any_number_of_changes(changed, rng):
    engine = StackedEngine.of(training_set(FAMILY, rng.normal(size=(40, 3))))
    alpha, idx = np.zeros(40), rng.permutation(40)[:changed]
    alpha[idx] = rng.normal(size=changed)
    engine.change(idx, alpha[idx])
    expected = engine.blocks(np.arange(40)) @ alpha
    np.testing.assert_allclose(engine.outputs(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "idx", [[7], [5, 6, 7, 9], [59, 0], [9, 1, 40], list(range(0, 60, 3)), [50, 2, 3]], ids=str
)
def test_a_block_reads_kernels_that_have_a_weight(idx, rng):
    engine = StackedEngine.of(training_set(FAMILY, rng.normal(size=(60, 3))))
    theta = np.array([0.0, 0.7, 0.0, 0.2, 0.0])
    expected = np.tensordot(theta, engine.blocks(np.array(idx)), axes=1)
    np.testing.assert_allclose(engine.block(np.array(idx), theta), expected, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 40])
def test_values_are_those_of_the_kernels(n, rng):
    X = rng.normal(size=(n, 3))
    engine, chosen = StackedEngine.of(training_set(FAMILY, X)), np.arange(0, n, 3)
    for part, examples in ((engine, X), (engine.subset(chosen), X[chosen])):
        every = np.arange(len(examples))
        expected = np.concatenate([np.atleast_3d(k(examples).T).T for k in FAMILY])
        np.testing.assert_allclose(part.blocks(every), expected, rtol=1e-12)
        for m, values in enumerate(expected):
            np.testing.assert_allclose(part.block(every, np.eye(5)[m]), values, rtol=1e-12)


def test_weights_of_zero_come_back_along_a_path(cancer):
    X, y = cancer
    folds = [(np.arange(60), np.arange(60, 90))]
    Cs, shared = (0.01, 1.0, 100.0), {"normalize": None, "tol": 1e-6}

    def outputs(model, held_out, _):
        return float(model.decision_function(held_out).sum())

    search = MKLClassifierCV(FAMILY, norms=[1], Cs=Cs, cv=folds, scoring=outputs, **shared)
    search.fit(X, y)
    assert search.plan_.engine == "stacked"
    alone = [MKLClassifier(FAMILY, norm=1, C=C, **shared).fit(X[:60], y[:60]) for C in Cs]
    used = [set(np.flatnonzero(model.weights_)) for model in alone]
    assert used[1] - used[0] or used[2] - used[1]  # some kernel is needed that was not before
    expected = [model.decision_function(X[60:]).sum() for model in alone]
    np.testing.assert_allclose(search.scores_[0, :, 0], expected, rtol=1e-3, atol=1e-2)


def test_values_of_few_sequences_are_cached(rng, monkeypatch):
    X = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(40)]
    for kernel in (Spectrum(3), GappedKmer(4, 3), WeightedDegree(3)):
        assert StackedEngine.serves(training_set(kernel, X))
    vectors = rng.normal(size=(40, 3))
    assert not StackedEngine.serves(training_set(Linear(), vectors))
    assert not StackedEngine.serves(training_set(RBF(1.0), vectors))
    monkeypatch.setattr("kernelweave.engines.stacked.MOST_SEQUENCES", 39)
    assert not StackedEngine.serves(training_set(Spectrum(3), X))


def test_searches_on_sequences_equal_single_fits(rng):
    X = np.array(["".join(rng.choice(list("ACGT"), 20)) for _ in range(60)], dtype=object)
    y = np.array([text.count("A") > 5 for text in X])
    folds, ways = [(np.arange(40), np.arange(40, 60))], {"normalize": "unit", "tol": 1e-7}

    def outputs(model, held_out, _):
        return float(model.decision_function(held_out).sum())

    search = MKLClassifierCV(
        Spectrum([2, 3]), norms=[2], Cs=[0.3, 3.0], cv=folds, scoring=outputs, **ways
    )
    search.fit(X, y)
    assert search.plan_.engine == "stacked"
    expected = [
        MKLClassifier(Spectrum([2, 3]), C=C, **ways)
        .fit(X[:40], y[:40])
        .decision_function(X[40:])
        .sum()
        for C in (0.3, 3.0)
    ]
    np.testing.assert_allclose(search.scores_[0, :, 0], expected, rtol=1e-4, atol=1e-4)
