"""The Hessian of the inner problem's value: against the bordered system, written out."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.problem.problem import Problem

N, M = 90, 5
EXACT = InnerHessian(1200)


def slow_hessian(kernels, alpha, theta, free):
    """G' A G, where A is the block of the inverse of [[K, 1], [1', 0]] that belongs to K."""
    system = np.ones((len(free) + 1,) * 2)
    system[:-1, :-1] = np.tensordot(theta, kernels[:, free][:, :, free], 1)
    system[-1, -1] = 0.0
    outputs = (kernels @ alpha)[:, free]
    return outputs @ np.linalg.inv(system)[:-1, :-1] @ outputs.T


@pytest.fixture
def case(rng):
    X, theta = rng.normal(size=(N, 3)), rng.random(M)
    kernel = RBF(np.geomspace(0.3, 3.0, M))
    problem = Problem.of(Hinge(), Lp(1.0), np.resize([-1.0, 1.0], N), np.ones(N))
    alpha = problem.y * np.repeat([0.0, 1.0, 0.3], N // 3)
    return kernel, X, theta, problem, alpha


@pytest.mark.parametrize("kind", [DenseEngine, FamilyEngine])
def test_hessian_is_that_of_the_free_examples(case, kind):
    kernel, X, theta, problem, alpha = case
    engine = kind.of(training_set(kernel, X))
    engine.move_to(alpha)
    wanted = slow_hessian(kernel(X), alpha, theta, np.arange(60, N))
    found = EXACT(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize(("most", "every"), [(29, 2), (14, 3)])
def test_every_kth_free_example_counts_k_times_above_the_limit(most, every, case):
    kernel, X, theta, problem, alpha = case
    engine = FamilyEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    wanted = every * slow_hessian(kernel(X), alpha, theta, np.arange(60, N, every))
    found = InnerHessian(most)(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


def test_recorded_products_replace_the_kernel_matrix(case, monkeypatch):
    """With products of all directions nothing is left to estimate."""
    kernel, X, theta, problem, alpha = case
    engine = DenseEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    K = np.tensordot(theta, kernel(X), 1)
    monkeypatch.setattr("kernelweave.engines.recorded_products.MOST_MOVES", N)
    monkeypatch.setattr(DenseEngine, "block", None)
    for move in np.eye(N):
        engine.recorded.add(move, K @ move, theta)
    wanted = slow_hessian(kernel(X), alpha, theta, np.arange(60, N))
    recorded = InnerHessian(1200, recorded=True)
    found = recorded(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
    engine.move_to(problem.y * np.repeat([0.0, 1.0], N // 2))
    assert not recorded(problem, engine, theta).any()
