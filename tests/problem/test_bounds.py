"""Generalisation bounds against the formulas of the paper, and against brute force."""

import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kernelweave import MKLClassifier, MKLRegressor, bounds, norms
from kernelweave.kernels import RBF


@pytest.mark.parametrize(
    ("p", "expected"), [(1, 0.1192), (4 / 3, 0.1179), (2, 0.1359), (4, 0.2217)]
)
def test_corollary_9_at_50_kernels_and_800_examples(p, expected):
    assert bounds.rademacher(p, 50, 800) == pytest.approx(expected, abs=5e-5)


def test_complexity_falls_with_examples_and_grows_with_the_radius():
    one = bounds.rademacher(2, 10, 100)
    assert bounds.rademacher(2, 10, 400) == pytest.approx(one / 2)
    assert bounds.rademacher(2, 10, 100, R=3.0) == pytest.approx(3 * one)
    assert bounds.rademacher(np.inf, 10, 100) == pytest.approx(math.sqrt(23 / 22 * 10 / 100))


@pytest.mark.parametrize(
    "wrong", [(0.5, 10, 100), (2, 1, 100), (2, 10, 0), (np.nan, 10, 100), (2, 10, 100, -1.0)]
)
def test_arguments_outside_the_theorem_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        bounds.rademacher(*wrong)


@pytest.mark.parametrize("norm", [1, 1.5, 2, np.inf, norms.Elliptic(np.eye(3) + 0.2)], ids=str)
def test_signs_are_fitted_as_well_as_the_best_hypothesis_can(norm, rng):
    X, gammas = rng.normal(size=(40, 3)), [0.1, 1.0, 10.0]
    found = bounds.empirical_rademacher(RBF(gammas), X, norm, draws=20, random_state=7)
    signs = np.random.RandomState(7)
    K = np.stack([rbf_kernel(X, gamma=gamma) for gamma in gammas])
    values = []
    for _ in range(20):
        sigma = signs.choice([-1.0, 1.0], size=40)
        s = np.einsum("i,mij,j->m", sigma, K, sigma)
        values.append(math.sqrt(norms.as_norm(norm).dual(s)) / 40)
    assert found.value == pytest.approx(np.mean(values), rel=1e-12)
    assert found.error == pytest.approx(np.std(values, ddof=1) / math.sqrt(20), rel=1e-12)


@pytest.mark.parametrize("p", [1, 4 / 3, 2, 4])
def test_corollary_9_bounds_the_empirical_complexity(p, rng):
    X = rng.normal(size=(200, 5))
    family = RBF(list(np.geomspace(0.01, 10, 8)))
    found = bounds.empirical_rademacher(family, X, p, draws=30, random_state=0)
    assert found.value <= bounds.rademacher(p, 8, 200)


def test_a_margin_bound_is_the_sum_of_its_parts(rng):
    X = rng.normal(size=(150, 4))
    y = X[:, 0] * X[:, 1] > 0
    model = MKLClassifier(RBF([0.1, 1.0]), normalize=None, norm=2).fit(X, y)
    found = bounds.margin_bound(model, X, y, margin=0.5, delta=0.1)
    f, signs = model.decision_function(X), np.where(y, 1, -1)
    K = np.stack([rbf_kernel(X, gamma=gamma) for gamma in (0.1, 1.0)])
    alpha = np.zeros(150)
    alpha[model.support_] = model.dual_coef_[0]
    size = math.sqrt(model.weights_ @ np.einsum("i,mij,j->m", alpha, K, alpha))
    assert found.margin_risk == pytest.approx(np.clip(1 - signs * f / 0.5, 0, 1).mean())
    assert found.complexity == pytest.approx(8 * size * bounds.rademacher(2, 2, 150))
    assert found.confidence == pytest.approx(math.sqrt(math.log(20) / 300))
    parts = found.margin_risk + found.complexity + found.confidence
    assert found.bound == pytest.approx(parts)


def test_models_outside_the_theorem_are_refused(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    with pytest.raises(ValueError, match="classifier of two classes"):
        bounds.margin_bound(MKLClassifier(RBF(1.0)).fit(X, y), X, y)
    with pytest.raises(ValueError, match="classifier of two classes"):
        bounds.margin_bound(MKLRegressor(RBF(1.0)).fit(X, X[:, 0]), X, y)
    model = MKLClassifier(RBF([0.1, 1.0]), norm=norms.Block(4)).fit(X, y > 0)
    with pytest.raises(ValueError, match="lp norm"):
        bounds.margin_bound(model, X, y > 0)
    model = MKLClassifier(RBF([0.1, 1.0])).fit(X, y > 0)
    with pytest.raises(ValueError, match="margin must be above 0"):
        bounds.margin_bound(model, X, y > 0, margin=0.0)
