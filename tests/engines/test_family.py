"""The family engine has the results of the dense engine."""

import numpy as np
import pytest
from kernel_cases import FAMILIES, training_set

from kernelweave import MKLClassifier
from kernelweave.engines import DenseEngine, FamilyEngine, family
from kernelweave.kernels import RBF, Linear, Polynomial

KERNELS = {name: kernels for name, (kernels, _) in FAMILIES.items()}
WIDTHS = KERNELS["many widths"]


@pytest.fixture
def X(rng):
    values = rng.normal(size=(301, 6))
    values[7] = values[3]  # a distance of exactly zero
    values[11] = values[3] + 1e-9
    return values


@pytest.fixture(autouse=True)
def three_hundred_are_many(monkeypatch):
    monkeypatch.setattr(family, "MANY_EXAMPLES", 100)


def engines(kernels, X, normalize=None, n_jobs=1):
    given = training_set(kernels, X, normalize, cache_mb=1, n_jobs=n_jobs)
    assert FamilyEngine.serves(given)
    return DenseEngine.of(given), FamilyEngine.of(given)


def close(got, wanted, scale):
    assert np.abs(got - wanted).max() <= 2e-12 * scale


@pytest.mark.parametrize("normalize", [None, "variance", "trace"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
def test_both_engines_agree(rng, X, kernels, n_jobs, normalize):
    dense, combined = engines(kernels, X, normalize, n_jobs=n_jobs)
    alpha = np.zeros(len(X))
    for k in range(4):
        theta = rng.random(dense.n_kernels) * (rng.random(dense.n_kernels) < 0.7)
        idx = np.sort(rng.choice(len(X), 40, replace=False))
        alpha[idx] += rng.normal(size=40)
        for engine in (dense, combined):
            engine.change(idx, alpha[idx])
        size = float(theta.sum() * np.abs(alpha).sum() * np.abs(dense.diagonal()).max()) + 1e-300
        close(combined.combined(theta), dense.combined(theta), size)
        close(combined.block(idx, theta), dense.block(idx, theta), size)
        if k % 2:
            close(combined.quadratic(), dense.quadratic(), size * np.abs(alpha).sum())
    close(combined.outputs(), dense.outputs(), np.abs(dense.outputs()).max())
    error = np.abs(combined.outputs_at(idx) - dense.outputs()[:, idx]).max(axis=1)
    sizes = np.abs(dense.blocks(np.arange(len(X)))).max(axis=(1, 2)) * np.abs(alpha).sum()
    assert np.all(error <= 1e-6 * sizes)
    np.testing.assert_array_equal(combined.diagonal(), dense.diagonal())
    np.testing.assert_array_equal(combined.blocks(idx), dense.blocks(idx))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cached", [0, 1, 30, 60])
def test_pairs_inside_a_set_are_the_same_whichever_rows_are_cached(rng, cached, n_jobs):
    X = rng.normal(size=(150, 400)) / 20  # so many columns that known rows are read
    combined = engines(WIDTHS, X, n_jobs=n_jobs)[1]
    idx, theta, alpha = rng.permutation(150)[:60], rng.random(combined.n_kernels), np.zeros(150)
    alpha[idx] = rng.normal(size=60)
    K = WIDTHS(X)[:, idx[:, None], idx]
    combined.combined(theta)
    combined.change(rng.permutation(idx)[:cached], np.ones(cached))
    combined.combined(theta)
    assert combined._core.cached_rows == cached
    block = combined.block(idx, theta)
    np.testing.assert_array_equal(block, block.T)
    close(block, np.einsum("m,mij->ij", theta, K), theta.sum())
    combined.move_to(alpha)
    block_norms = np.einsum("i,mij,j->m", alpha[idx], K, alpha[idx])
    close(combined.quadratic(), block_norms, np.abs(alpha).sum() ** 2)


def test_weights_of_a_subset_may_change_where_the_others_are_zero(rng, X):
    dense, combined = engines(WIDTHS, X)
    part = np.arange(0, len(X), 3)
    alpha = np.where(np.isin(np.arange(len(X)), part), rng.normal(size=len(X)), 0.0)
    for engine in (dense, combined):
        engine.move_to(alpha)
    small, other = dense.subset(part), combined.subset(part)
    for _ in range(3):
        theta = rng.random(dense.n_kernels)
        close(other.combined(theta), small.combined(theta), theta.sum() * np.abs(alpha).sum())
        for engine in (small, other):
            engine.change(np.array([1, 5]), theta[:2])


@pytest.mark.parametrize(
    ("kernels", "normalize"),
    [
        (RBF(gamma=[0.1, 1.0]), None),  # too few to be worth it
        (Polynomial(degree=[1, 2, 3, 4]), "unit"),  # not a function of one quantity
        ([RBF(gamma=0.1) * Linear()] * 8, None),
    ],
)
def test_other_kernels_are_left_to_the_dense_engine(X, kernels, normalize):
    assert not FamilyEngine.serves(training_set(kernels, X, normalize))


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, np.inf])
def test_training_reaches_the_same_optimum(rng, X, norm, monkeypatch):
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)))
    model = MKLClassifier(WIDTHS, norm=norm, tol=1e-6).fit(X, y)
    monkeypatch.setattr(family, "MANY_EXAMPLES", 1000)
    other = MKLClassifier(WIDTHS, norm=norm, tol=1e-6).fit(X, y)
    assert model.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-6)
    assert model.duality_gap_ <= 1e-6
    kernels = model._model.compiled
    K = kernels.kernels[0](X)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0]
    F = np.einsum("m,mij,j->i", model.weights_, K, alpha) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-9)


def test_changes_are_not_followed_under_weights_that_no_longer_count(rng):
    X = rng.normal(size=(150, 4))
    dense, combined = engines(WIDTHS, X)
    alpha, (first, second) = rng.normal(size=150), rng.random((2, combined.n_kernels))
    idx = np.arange(90)
    for engine in (dense, combined):
        engine.combined(first)
        engine.change(idx, alpha[:90])
    close(combined.combined(second), dense.combined(second), np.abs(alpha).sum())
    assert combined.work.pairs["changed alphas"] == 0
    for engine in (dense, combined):
        engine.change(idx[:20], alpha[20:40])
        engine.change(idx[10:30], alpha[40:60])
    part = np.arange(5, 60)
    close(combined.subset(part).combined(second), dense.combined(second)[part], 150)
    close(combined.combined(second), dense.combined(second), np.abs(alpha).sum())
    assert combined.work.pairs["changed alphas"] == 40 * 150
