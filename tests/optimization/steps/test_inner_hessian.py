"""The Hessian of the inner problem's value: against the bordered system, written out."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.steps import inner_hessian as module
from kernelweave.optimization.steps.inner_hessian import inner_hessian, most_examples
from kernelweave.problem.problem import Problem

N, M = 90, 5


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
def test_free_examples_make_it(case, kind):
    kernel, X, theta, problem, alpha = case
    engine = kind.of(training_set(kernel, X))
    engine.move_to(alpha)
    wanted = slow_hessian(kernel(X), alpha, theta, np.arange(60, N))
    found = inner_hessian(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


def test_of_too_many_every_kth_counts_k_times(case, monkeypatch):
    kernel, X, theta, problem, alpha = case
    monkeypatch.setattr(module, "FEW_EXAMPLES", 14)
    engine = FamilyEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    wanted = 2 * slow_hessian(kernel(X), alpha, theta, np.arange(60, N, 2))
    found = inner_hessian(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


def test_products_tell_where_pairs_are_costly(case, monkeypatch):
    """With products of all directions nothing is left to guess."""
    kernel, X, theta, problem, alpha = case
    engine = DenseEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    K = np.tensordot(theta, kernel(X), 1)
    monkeypatch.setattr("kernelweave.engines.recorded_products.MOST_MOVES", N)
    monkeypatch.setattr(DenseEngine, "pairs_are_costly", True)
    monkeypatch.setattr(DenseEngine, "block", None)
    for move in np.eye(N):
        engine.recorded.add(move, K @ move, theta)
    wanted = slow_hessian(kernel(X), alpha, theta, np.arange(60, N))
    found = inner_hessian(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
    settled = problem.y * np.repeat([0.0, 1.0], N // 2)
    engine.move_to(settled)
    assert not inner_hessian(problem, engine, theta).any()


def test_fewer_examples_where_passes_are_short(case):
    kernel, X, *_ = case
    dense, family = (kind.of(training_set(kernel, X)) for kind in (DenseEngine, FamilyEngine))
    assert most_examples(dense, 2000) == 1200
    assert [most_examples(family, n) for n in (2000, 4000, 20000)] == [600, 800, 1200]
