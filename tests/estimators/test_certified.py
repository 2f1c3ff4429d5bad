"""Certificates of an engine's alpha equal those of plain NumPy, for any weights."""

import numpy as np
import pytest
from kernel_cases import dense
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import losses, norms
from kernelweave.kernels import RBF, Linear
from kernelweave.optimization.certifier import block_norms, certified
from kernelweave.problem.problem import Problem

NORMS = [norms.Lp(1), norms.Lp(2), norms.Lp(np.inf), norms.Fixed(np.array([0.2, 0.0, 0.7]))]


class Setting:
    """A random alpha, and the matrices of three kernels."""

    def __init__(self, norm, rng):
        X = rng.normal(size=(40, 3))
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        self.problem = Problem.of(losses.Hinge(), norm, y, np.ones(40))
        self.K = np.stack([rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=0.5), linear_kernel(X)])
        self.engine = dense([RBF([0.1, 0.5]), Linear()], X)
        shares = rng.uniform(0.1, 0.9, size=40) * (y > 0)
        shares[y < 0] = shares.sum() / np.count_nonzero(y < 0)
        self.engine.move_to(0.5 * y * shares)
        self.s = np.einsum("i,mij,j->m", self.engine.alpha, self.K, self.engine.alpha)


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_block_norms_give_the_dual_value_of_all_kernels(norm, rng):
    setting = Setting(norm, rng)
    found = block_norms(setting.problem, setting.engine)
    assert norm.dual(found) == pytest.approx(norm.dual(setting.s), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("size", [0.0, 1.0])
def test_no_weights_change_the_dual_value(norm, size, rng):
    """A constant model has weights of 0, and its alpha the dual value that it has."""
    setting = Setting(norm, rng)
    problem, alpha, theta = setting.problem, setting.engine.alpha, size * norm.best(setting.s)
    F = np.einsum("m,mij,j->i", theta, setting.K, alpha)
    expected = problem.certificate(alpha, F, setting.s, theta)
    found = certified(problem, setting.engine, theta)
    assert found.dual == pytest.approx(expected.dual, rel=1e-12)
    assert found.primal == pytest.approx(expected.primal, rel=1e-12)
    assert found.gap == pytest.approx(expected.gap, rel=1e-9)
