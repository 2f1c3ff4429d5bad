"""The engine for families says what the engine that keeps every kernel apart says."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import MKLClassifier
from kernelweave.engines import DenseEngine, FamilyEngine, mixture
from kernelweave.kernels import RBF, Linear, Polynomial

FAMILIES = {
    "widths": RBF(gamma=list(np.geomspace(1e-4, 1e2, 12))),
    "doublings": RBF(gamma=list(2.0 ** np.arange(-10, 10))),
    "degrees": Polynomial(degree=[1, 2, 3, 4, 5], gamma=0.1, coef0=1.0),
    "two quantities": [Linear(), RBF(gamma=list(np.geomspace(1e-3, 1, 9)))],
}


@pytest.fixture
def X(rng):
    values = rng.normal(size=(301, 6))
    values[7] = values[3]  # a distance of exactly zero
    values[11] = values[3] + 1e-9
    return values


@pytest.fixture(autouse=True)
def three_hundred_are_many(monkeypatch):
    monkeypatch.setattr(mixture, "MANY_EXAMPLES", 100)


def engines(kernels, X, normalize=None, n_jobs=1):
    given = training_set(kernels, X, normalize, cache_mb=1, n_jobs=n_jobs)
    assert FamilyEngine.serves(given)
    return DenseEngine.of(given), FamilyEngine.of(given)


def close(got, wanted, scale):
    assert np.abs(got - wanted).max() <= 2e-12 * scale


@pytest.mark.parametrize("normalize", [None, "variance", "trace"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kernels", FAMILIES.values(), ids=FAMILIES)
def test_both_engines_agree(rng, X, kernels, n_jobs, normalize):
    dense, family = engines(kernels, X, normalize, n_jobs=n_jobs)
    alpha = np.zeros(len(X))
    for turn in range(4):
        theta = rng.random(dense.n_kernels) * (rng.random(dense.n_kernels) < 0.7)
        idx = np.sort(rng.choice(len(X), 40, replace=False))
        delta = rng.normal(size=40)
        alpha[idx] += delta
        for engine in (dense, family):
            engine.add(idx, delta)
        size = float(theta.sum() * np.abs(alpha).sum() * np.abs(dense.diagonal()).max()) + 1e-300
        close(family.combined(theta), dense.combined(theta), size)
        close(family.block(idx, theta), dense.block(idx, theta), size)
        if turn % 2:
            close(family.quadratic(), dense.quadratic(), size * np.abs(alpha).sum())
    close(family.outputs(), dense.outputs(), np.abs(dense.outputs()).max())
    error = np.abs(family.outputs_at(idx) - dense.outputs()[:, idx]).max(axis=1)
    sizes = np.abs(dense.blocks(np.arange(len(X)))).max(axis=(1, 2)) * np.abs(alpha).sum()
    assert np.all(error <= 1e-6 * sizes)
    np.testing.assert_array_equal(family.diagonal(), dense.diagonal())
    np.testing.assert_array_equal(family.blocks(idx), dense.blocks(idx))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cached", [0, 1, 30, 60])
def test_pairs_inside_a_set_are_the_same_whichever_rows_are_cached(rng, cached, n_jobs):
    X = rng.normal(size=(150, 400)) / 20  # so many columns that known rows are read
    family = engines(FAMILIES["widths"], X, n_jobs=n_jobs)[1]
    idx, theta, alpha = rng.permutation(150)[:60], rng.random(family.n_kernels), np.zeros(150)
    alpha[idx] = rng.normal(size=60)
    K = FAMILIES["widths"](X)[:, idx[:, None], idx]
    family.combined(theta)
    family.add(rng.permutation(idx)[:cached], np.ones(cached))
    assert family._core.cached_rows == cached
    block = family.block(idx, theta)
    np.testing.assert_array_equal(block, block.T)
    close(block, np.einsum("m,mij->ij", theta, K), theta.sum())
    energies = np.einsum("i,mij,j->m", alpha[idx], K, alpha[idx])
    close(family.quadratic(), energies, np.abs(alpha).sum() ** 2)


def test_subset_scale_rebuild_and_clear(rng, X):
    dense, family = engines(FAMILIES["widths"], X)
    alpha, theta = rng.normal(size=len(X)), rng.random(dense.n_kernels)
    part = np.arange(0, len(X), 3)
    for engine in (dense, family):
        engine.move_to(alpha)
        engine.combined(theta)
        engine.scale(0.5)
    size = np.abs(dense.combined(theta)).max()
    close(family.combined(theta), dense.combined(theta), size)
    small, other = dense.subset(part), family.subset(part)
    for engine in (small, other):
        engine.add(np.array([1, 5]), np.array([1.0, -2.0]))
    close(other.combined(theta), small.combined(theta), size)
    family.clear()
    assert not family.combined(theta).any()


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
    model = MKLClassifier(FAMILIES["widths"], norm=norm, tol=1e-6).fit(X, y)
    monkeypatch.setattr(mixture, "MANY_EXAMPLES", 1000)
    other = MKLClassifier(FAMILIES["widths"], norm=norm, tol=1e-6).fit(X, y)
    assert model.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-6)
    assert model.duality_gap_ <= 1e-6
    kernels = model._model.compiled
    K = kernels.kernels[0](X)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0]
    F = np.einsum("m,mij,j->i", model.weights_, K, alpha) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-9)
