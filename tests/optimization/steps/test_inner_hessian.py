"""The Hessian of the inner problem's value: against the bordered system, written out."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, FamilyEngine, OutputsEngine
from kernelweave.kernels import RBF
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.kkt_system import value_hessian
from kernelweave.optimization.steps.inner_hessian import InnerHessian, extrapolated
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
def test_hessian_is_extrapolated_from_every_kth_free_example_above_the_limit(most, every, case):
    kernel, X, theta, problem, alpha = case
    engine = FamilyEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    sample, half = (
        k * slow_hessian(kernel(X), alpha, theta, np.arange(60, N, k)) for k in (every, 2 * every)
    )
    wanted = extrapolated(sample, half, np.log2(every))
    found = InnerHessian(most)(problem, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize(("outputs", "every"), [(6, 1), (7, 2), (20, 4)])
def test_hessian_of_many_outputs_is_that_of_evenly_spaced_ones(outputs, every, case, rng):
    kernel, X, theta, problem, _ = case
    alphas = problem.y * rng.choice([0.0, 0.3, 1.0], size=(outputs, N))
    joint = Problem.sharing([problem] * outputs)
    engine = OutputsEngine(DenseEngine.of(training_set(kernel, X)), outputs)
    engine.move_to(alphas.ravel())
    single = DenseEngine.of(training_set(kernel, X))
    wanted = np.zeros((M, M))
    for alpha in alphas[::every]:
        single.move_to(alpha)
        wanted += EXACT(problem, single, theta)
    wanted *= outputs / len(alphas[::every])
    found = InnerHessian(1200, most_outputs=6)(joint, engine, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("copies", [2, 4, 7])
def test_extrapolation_is_exact_for_copies_and_for_independent_examples(copies, rng):
    outputs, kernel = rng.normal(size=(M, 40)), np.zeros((40, 40))
    outputs[:, 1::2] = outputs[:, ::2]  # the half has one of each pair of copies
    for shares in (0.0, 1.0):
        kernel[:] = shares * np.kron(np.eye(20), np.ones((2, 2)))
        curvature = np.full(40, 1.0 - 0.999999 * shares)
        whole = copies * value_hessian(kernel, curvature, outputs, fixed_sum=False)
        half = (
            2
            * copies
            * value_hessian(kernel[::2, ::2], curvature[::2], outputs[:, ::2], fixed_sum=False)
        )
        found = extrapolated(whole, half, np.log2(copies))
        np.testing.assert_allclose(found, whole / copies**shares, rtol=1e-4, atol=1e-4)


def test_extrapolation_lies_between_the_limits_in_every_direction(rng):
    half = np.cov(rng.normal(size=(M, 9)))
    half[-1] = half[:, -1] = 0.0  # a direction that the half has not seen
    whole = np.cov(rng.normal(size=(M, 20)))
    found = extrapolated(whole, half, 3.0)
    assert np.linalg.eigvalsh(whole - found).min() > -1e-9
    assert np.linalg.eigvalsh(found - whole / 8).min() > -1e-9


def test_extrapolation_of_no_response_is_none():
    np.testing.assert_array_equal(extrapolated(np.zeros((3, 3)), np.zeros((3, 3)), 2.0), 0.0)


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
