"""Hessians from landmarks: exact where landmarks tell all, near the truth elsewhere."""

import numpy as np
import pytest
from kernel_cases import training_set
from mkl_cases import parts, planned

from kernelweave.engines import DenseEngine, FamilyEngine
from kernelweave.kernels import RBF, Linear
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.single_precision import SinglePrecision
from kernelweave.optimization.steps import inner_hessian as module
from kernelweave.optimization.steps.inner_hessian import (
    InnerHessian,
    landmark_hessian,
    shortfall,
)
from kernelweave.problem.problem import Problem

CURVATURE, BLOCK = 0.3, 1000


def exact_hessian(kernels, alpha, theta):
    """G' A G, where A is the block of the inverse of [[K + curvature, 1], [1', 0]] for K."""
    system = np.ones((len(alpha) + 1,) * 2)
    system[:-1, :-1] = np.tensordot(theta, kernels, 1) + CURVATURE * np.eye(len(alpha))
    system[-1, -1] = 0.0
    outputs = kernels @ alpha
    return outputs @ np.linalg.inv(system)[:-1, :-1] @ outputs.T


@pytest.fixture
def linear(rng):
    """Two kernels of rank two: landmarks leave nothing of them."""
    X, theta, alpha = rng.normal(size=(240, 4)), np.array([0.4, 0.6]), rng.normal(size=240)
    kernels = [Linear(columns=[0, 1]), Linear(columns=[2, 3])]
    return kernels, X, theta, alpha


def engine_at(kernels, X, alpha):
    engine = DenseEngine.of(training_set(kernels, X))
    engine.move_to(alpha)
    return engine


def test_landmarks_are_exact_for_kernels_of_low_rank(linear):
    kernels, X, theta, alpha = linear
    found = landmark_hessian(
        engine_at(kernels, X, alpha), np.arange(240), 1, theta, np.full(240, CURVATURE), BLOCK
    )
    stack = np.stack([kernel(X) for kernel in kernels])
    wanted = exact_hessian(stack, alpha, theta)
    np.testing.assert_allclose(found, shortfall(3) * wanted, rtol=1e-6)


def test_each_example_represents_its_copies(linear):
    """All examples three times, of which one of each is told."""
    kernels, X, theta, alpha = linear
    X3, alpha3 = np.tile(X, (3, 1)), np.tile(alpha, 3) / 3
    found = landmark_hessian(
        engine_at(kernels, X3, alpha3), np.arange(240), 3, theta, np.full(240, CURVATURE), BLOCK
    )
    stack = np.stack([kernel(X3) for kernel in kernels])
    wanted = exact_hessian(stack, alpha3, theta)
    np.testing.assert_allclose(found, shortfall(9) * wanted, rtol=1e-6)


@pytest.mark.parametrize("n", [1500, 3000])
def test_probes_estimate_the_error_of_landmarks(n, rng):
    """Smooth kernels, one of middle width, and one that is nearly the identity."""
    X, alpha = rng.normal(size=(n, 8)), rng.normal(size=n)
    alpha -= alpha.mean()
    kernel, theta = RBF([0.01, 0.1, 0.3, 5.0]), np.array([0.2, 0.2, 0.3, 0.3])
    engine = FamilyEngine.of(training_set(kernel, X))
    engine.move_to(alpha)
    found = landmark_hessian(engine, np.arange(n), 1, theta, np.full(n, CURVATURE), BLOCK)
    wanted = exact_hessian(kernel(X), alpha, theta)
    values, vectors = np.linalg.eigh(wanted)
    whitened = vectors / np.sqrt(values)
    relative = np.linalg.eigvalsh(whitened.T @ found @ whitened)
    assert relative.min() > 0.4
    assert relative.max() < 2.5


@pytest.fixture
def many_free(rng):
    X = rng.normal(size=(1200, 3))
    engine = FamilyEngine.of(training_set(RBF([0.1, 1.0, 2.0, 3.0]), X))
    return engine, np.resize([-1.0, 1.0], 1200)


@pytest.mark.parametrize(
    ("most", "landmarks", "asked"), [(40, True, 1), (40, False, 0), (1201, True, 0)]
)
def test_landmarks_represent_free_examples_above_the_limit(
    most, landmarks, asked, many_free, monkeypatch
):
    (engine, y), calls = many_free, []
    monkeypatch.setattr(module, "landmark_hessian", lambda *given: calls.append(given) or 0.0)
    engine.move_to(0.3 * y)
    problem = Problem.of(Hinge(), Lp(1.0), y, np.ones(1200))
    InnerHessian(most, 1000, landmarks=landmarks)(problem, engine, np.full(4, 0.25))
    assert len(calls) == asked
    assert all(len(call[1]) == 1200 for call in calls)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_landmarks_are_planned_for_sparse_norms_in_single_precision(p, many_free):
    engine, y = many_free
    problem = Problem.of(Hinge(), Lp(p), y, np.ones(1200))
    solver = planned("newton", problem, engine, "family").solver
    assert isinstance(solver, SinglePrecision)

    def landmarks(solver):
        return {part.landmarks for part in parts(solver) if isinstance(part, InnerHessian)}

    assert landmarks(solver.first) == {p == 1}
    assert landmarks(solver.then) == {False}
