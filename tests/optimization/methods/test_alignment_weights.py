"""Alignments against their definition, and the two-stage baselines built on them."""

import numpy as np
import pytest
from mkl_cases import make_case
from scipy.optimize import minimize
from sklearn.svm import SVC

from kernelweave import norms
from kernelweave.optimization.methods.alignment import (
    Moments,
    alignment_weights,
    centered_alignment_weights,
)


def centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def cosine(K, L):
    return np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)


@pytest.fixture
def case(load_real):
    return make_case(load_real("ionosphere"), "hinge", norms.Lp(2), n=70)


def test_moments_are_sums_over_matrices(case):
    moments = Moments.of(case.engine)
    np.testing.assert_allclose(moments.gram, np.einsum("mij,kij->mk", case.K, case.K))
    np.testing.assert_allclose(moments.sums, case.K.sum(axis=1))


def test_alignment_weights_are_cosines_with_the_targets(case):
    y = case.problem.y
    expected = np.array([cosine(K, np.outer(y, y)) for K in case.K])
    weights = alignment_weights(case.engine, y)
    np.testing.assert_allclose(weights / weights.sum(), expected / expected.sum())


def test_centered_weights_have_the_largest_alignment(case):
    y = case.problem.y
    K = np.stack([centered(kernel) for kernel in case.K])
    weights = centered_alignment_weights(case.engine, y)

    def misalignment(theta):
        return -cosine(np.tensordot(np.abs(theta), K, 1), np.outer(y, y))

    starts = [weights + 1e-3, *np.eye(5)]
    best = min(minimize(misalignment, start, method="Nelder-Mead").fun for start in starts)
    assert np.all(weights >= 0)
    assert misalignment(weights) <= best + 1e-6


@pytest.mark.parametrize("solver", ["alignment", "centered-alignment"])
def test_two_stage_solvers_end_with_one_svm(solver, case):
    result = case.solve(solver, tol=1e-7)
    combined = np.tensordot(result.weights, case.K, 1)
    reference = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(combined, case.problem.y)
    assert result.converged
    assert case.problem.norm.value(result.weights) == pytest.approx(1.0)
    expected = reference.decision_function(combined)
    np.testing.assert_allclose(result.alpha @ combined + result.bias, expected, atol=1e-3)


def test_without_alignment_the_weights_stay_equal(case):
    """Targets that are orthogonal to every kernel: none at all."""
    zero = np.zeros_like(case.problem.y)
    assert not alignment_weights(case.engine, zero).any()
    assert not centered_alignment_weights(case.engine, zero).any()
