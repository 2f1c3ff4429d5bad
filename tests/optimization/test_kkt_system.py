"""Hessians of low rank: all that is asked of them agrees with the matrix itself."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF
from kernelweave.optimization import kkt_system
from kernelweave.optimization.kkt_system import LowRank, symmetric_product, total

M, F = 12, 3


@pytest.fixture
def factors(rng):
    return LowRank(rng.normal(size=(M, F)), rng.normal(size=(F, M)))


def test_low_rank_operations_are_those_of_the_matrix(factors, rng):
    matrix = 0.5 * (factors.left @ factors.right + (factors.left @ factors.right).T)
    np.testing.assert_allclose(factors.made, matrix)
    vector, some = rng.normal(size=M), np.arange(M) % 3 == 0
    np.testing.assert_allclose(factors @ vector, matrix @ vector)
    np.testing.assert_allclose((factors * 3.0).made, 3.0 * matrix)
    np.testing.assert_allclose(factors[np.ix_(some, some)], matrix[np.ix_(some, some)])
    np.testing.assert_allclose(factors[np.ix_(some, ~some)], matrix[np.ix_(some, ~some)])
    assert factors.trace() == pytest.approx(matrix.trace())


@pytest.mark.parametrize(("many", "f", "kept"), [(1000, 3, False), (10, 3, True), (10, 6, False)])
def test_factors_are_kept_if_smaller_than_the_matrix(many, f, kept, rng, monkeypatch):
    monkeypatch.setattr(kkt_system, "MANY", many)
    left, right = rng.normal(size=(M, f)), rng.normal(size=(f, M))
    found = symmetric_product(left, right)
    assert isinstance(found, LowRank) == kept
    made = found.made if kept else found
    np.testing.assert_allclose(made, 0.5 * (left @ right + (left @ right).T))


def test_sum_of_factors_is_the_sum_of_matrices(factors, rng, monkeypatch):
    monkeypatch.setattr(kkt_system, "MANY", 10)
    other = LowRank(rng.normal(size=(M, 1)), rng.normal(size=(1, M)))
    several = total([factors, other])
    assert isinstance(several, LowRank)
    np.testing.assert_allclose(several.made, factors.made + other.made)
    np.testing.assert_allclose(total([factors, other.made]), factors.made + other.made)
    np.testing.assert_allclose(total([factors.made, other.made]), factors.made + other.made)


def test_empty_factors_are_the_zero_matrix(monkeypatch):
    monkeypatch.setattr(kkt_system, "MANY", 10)
    none = symmetric_product(np.zeros((M, 0)), np.zeros((0, M)))
    assert isinstance(none, LowRank)
    assert none.trace() == 0.0
    np.testing.assert_array_equal(none @ np.ones(M), np.zeros(M))


@pytest.mark.parametrize("p", [1.0, 1.2])
@pytest.mark.parametrize("classes", [2, 3])
def test_fits_with_factors_reach_the_same_optimum(p, classes, rng, monkeypatch):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1) * (classes > 2)
    solver = "hessian" if p == 1 else "newton"
    model = MKLClassifier(RBF(np.geomspace(0.01, 100, 300)), norm=p, solver=solver, tol=1e-5)
    model.set_params(share_weights=classes > 2)
    expected = model.fit(X, y).primal_objective_
    made = []
    monkeypatch.setattr(kkt_system, "MANY", 100)
    monkeypatch.setattr(LowRank, "trace", lambda self: made.append(self) or TRACE(self))
    assert model.fit(X, y).primal_objective_ == pytest.approx(expected, rel=2e-5)
    assert model.duality_gap_ <= 1e-5
    assert made


TRACE = LowRank.trace
