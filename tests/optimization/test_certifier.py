"""Certificates of an engine's alpha, recomputed in plain NumPy."""

import naive_mkl
import numpy as np
import pytest
from kernel_cases import dense
from loss_cases import every_loss
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import norms
from kernelweave.kernels import RBF, Linear
from kernelweave.optimization.certifier import Certifier, block_norms, certified
from kernelweave.problem.problem import Problem

N, M = 40, 3
E = np.eye(M) + 0.3 * (np.eye(M, k=1) + np.eye(M, k=-1))
THETA = np.array([0.2, 0.1, 0.7])
NORMS = [
    norms.Lp(1),
    norms.Lp(2),
    norms.Lp(1, weights=(1.0, 2.0, 0.5)),
    norms.Elliptic(E),
    norms.Block(3),
    norms.Fixed(THETA),
]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: str(norm)[:20])


@pytest.fixture
def case(rng):
    """Return a function from a loss and a norm to a problem, an engine and kernel matrices."""

    def make(loss, norm):
        X = rng.normal(size=(N, 3))
        y = X[:, 0] if loss.kind == "regressor" else np.where(X[:, 0] > 0, 1.0, -1.0)
        tau = 0.3 * N if loss.kind == "one-class" else 0.0
        problem = Problem.of(loss, norm, y, np.ones(N), tau)
        engine = dense([RBF([0.1, 1.0]), Linear()], X)
        engine.move_to(0.7 * problem.risk.feasible_alpha() + 0.3 * feasible(problem, rng))
        K = [rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=1.0), linear_kernel(X)]
        return problem, engine, np.stack(K)

    return make


def feasible(problem, rng):
    """Return a random alpha within its bounds that adds up to tau."""
    lo, hi = np.maximum(problem.term.lo, -1.0), np.minimum(problem.term.hi, 1.0)
    alpha = lo + rng.uniform(0.05, 0.95, N) * (hi - lo)
    end = hi if alpha.sum() < problem.tau else lo
    return alpha + (problem.tau - alpha.sum()) / (end.sum() - alpha.sum()) * (end - alpha)


def weights_of(norm):
    return THETA if norm.is_fixed else THETA / norm.value(THETA)


@every_loss
@every_norm
def test_certificate_is_that_of_plain_numpy(norm, loss, case):
    problem, engine, K = case(loss, norm)
    weights = weights_of(norm)
    found = Certifier(problem, engine).certify(weights)
    wanted = naive_mkl.values(K, problem, engine.alpha, weights, found.bias)
    assert found.primal == pytest.approx(wanted.primal, rel=1e-9)
    assert found.dual == pytest.approx(wanted.dual, rel=1e-9)
    assert found.gap == pytest.approx(wanted.gap, rel=1e-9)
    assert certified(problem, engine, weights) == found


@every_norm
def test_block_norms_determine_the_dual_value(norm, case):
    """With fixed weights only theta . s matters, and needs no product of single kernels."""
    problem, engine, K = case(every_loss.args[1][0], norm)
    s = np.einsum("i,mij,j->m", engine.alpha, K, engine.alpha)
    found = block_norms(problem, engine)
    if norm.is_fixed:
        assert THETA @ found == pytest.approx(THETA @ s)
    else:
        np.testing.assert_allclose(found, s, rtol=1e-10)
    assert problem.dual(engine.alpha, found) == pytest.approx(problem.dual(engine.alpha, s))


def test_certificates_keep_the_combined_outputs(case):
    problem, engine, K = case(every_loss.args[1][0], norms.Lp(2))
    certifier = Certifier(problem, engine)
    for weights in (weights_of(problem.norm), np.eye(M)[1]):
        certifier.certify(weights)
        np.testing.assert_allclose(
            certifier.F, np.einsum("m,mij,j->i", weights, K, engine.alpha), atol=1e-10
        )


def test_certificate_follows_alpha_and_weights(case, rng):
    """Only the same s, by identity, and equal weights may be answered from memory."""
    problem, engine, _ = case(every_loss.args[1][0], norms.Lp(2))
    certifier, weights = Certifier(problem, engine), weights_of(problem.norm)
    s = engine.quadratic()
    first = certifier.certify(weights, s)
    assert certifier.certify(weights.copy(), s) is first
    assert certifier.certify(np.eye(M)[1], s) == certified(problem, engine, np.eye(M)[1])
    engine.move_to(feasible(problem, rng))
    after = certifier.certify(weights, engine.quadratic())
    assert after == certified(problem, engine, weights)
    assert after != first


@every_norm
def test_primal_of_exactly_these_weights_uses_their_own_regulariser(norm, case):
    problem, engine, _ = case(every_loss.args[1][0], norm)
    weights, s = weights_of(norm), engine.quadratic()
    certifier = Certifier(problem, engine)
    F = engine.combined(weights)
    expected = problem.risk.value(F, problem.best_bias(F)) + 0.5 * float(weights @ s)
    assert certifier.primal(weights, s) == pytest.approx(expected, rel=1e-12)
