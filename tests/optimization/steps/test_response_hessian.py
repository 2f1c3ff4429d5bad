"""The Hessian of the inner problem's value for smooth risks: against finite differences."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.losses import Cox
from kernelweave.losses.cox import CoxRisk
from kernelweave.norms import Lp
from kernelweave.optimization.inner.newton_cg import NewtonCG
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.response_hessian import ResponseHessian
from kernelweave.problem.problem import Problem

N, M = 90, 4


@pytest.fixture
def case(rng):
    X, theta = rng.normal(size=(N, 3)), 0.2 + rng.random(M)
    risk = CoxRisk(
        Cox("efron"),
        np.round(rng.exponential(np.exp(-X[:, 0])), 1),
        np.full(N, 0.5),
        event=rng.random(N) < 0.6,
        ties="efron",
    )
    return RBF(np.geomspace(0.1, 3.0, M)), X, theta, Problem(risk, Lp(1.0))


def squared_norms(problem, engine, theta):
    """Return s at the optimum under weights theta: -2 times the gradient of J."""
    engine.move_to(problem.risk.feasible_alpha())
    NewtonCG("matrix").solve(problem.with_weights(theta), engine, theta, Run.start(1e-12))
    return engine.quadratic()


@pytest.mark.parametrize("kind", [DenseEngine, FamilyEngine])
def test_hessian_is_the_derivative_of_the_gradient(kind, case):
    kernel, X, theta, problem = case
    engine = kind.of(training_set(kernel, X))
    step = 1e-3
    differences = [
        squared_norms(problem, engine, theta + step * unit)
        - squared_norms(problem, engine, theta - step * unit)
        for unit in np.eye(M)
    ]
    expected = -0.5 * np.array(differences) / (2 * step)
    squared_norms(problem, engine, theta)
    found = ResponseHessian("matrix")(problem, engine, theta)
    np.testing.assert_allclose(found, found.T)
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())


def test_approximate_matrix_gives_a_similar_hessian(case):
    kernel, X, theta, problem = case
    engine = FamilyEngine.of(training_set(kernel, X))
    squared_norms(problem, engine, theta)
    alpha = engine.alpha.copy()
    exact = ResponseHessian("matrix")(problem, engine, theta)
    found = ResponseHessian("sample")(problem, engine, theta)
    np.testing.assert_array_equal(engine.alpha, alpha)
    assert np.linalg.norm(found - exact) < 0.3 * np.linalg.norm(exact)
