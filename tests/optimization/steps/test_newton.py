"""Models of the inner problem's value: against differences, and against kernels of rank one."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from kernelweave import norms
from kernelweave.common.core import _core
from kernelweave.optimization.steps.newton import LARGEST, RankOneModel, _limited

M, N, RIDGE = 5, 30, 0.5


class RankOneProblem:
    """J(theta) = 1/2 y' (sum_m theta_m x_m x_m' + ridge I)^-1 y: a squared loss without a bias."""

    def __init__(self, rng):
        self.X, self.y = rng.normal(size=(N, M)), rng.normal(size=N)
        self.y += 2 * self.X[:, 0] - self.X[:, 1]

    def system(self, theta):
        return (self.X * theta) @ self.X.T + RIDGE * np.eye(N)

    def J(self, theta):
        return 0.5 * self.y @ np.linalg.solve(self.system(theta), self.y)

    def model(self, theta):
        inner = self.X.T @ np.linalg.solve(self.system(theta), self.y)
        G = self.X * inner
        return RankOneModel(theta, inner**2, G.T @ np.linalg.solve(self.system(theta), G))


@pytest.fixture
def problem(rng):
    return RankOneProblem(rng)


@pytest.fixture
def theta(rng):
    theta = rng.random(M)
    return theta / theta.sum()


def test_the_model_of_rank_one_kernels_is_exact_for_them(problem, theta, rng):
    model = problem.model(theta)
    for other in (rng.random(M), np.eye(M)[0], np.zeros(M), 3 * theta):
        wanted = problem.J(other) - problem.J(theta)
        assert model.at(other)[0] == pytest.approx(wanted, rel=1e-2, abs=1e-3 * abs(wanted))


def test_its_derivatives_are_those_of_its_value(problem, theta, rng):
    model, there = problem.model(theta), 0.2 + rng.random(M)
    _, gradient, hessian = model.at(there)
    for m, unit in enumerate(1e-5 * np.eye(M)):
        above, below = model.at(there + unit), model.at(there - unit)
        assert gradient[m] == pytest.approx((above[0] - below[0]) / 2e-5, rel=1e-5)
        np.testing.assert_allclose(hessian[m], (above[1] - below[1]) / 2e-5, rtol=1e-4, atol=1e-4)


def test_the_model_begins_with_the_derivatives_of_J(problem, theta):
    model = problem.model(theta)
    steps = 1e-4 * np.eye(M)
    slopes = [(problem.J(theta + h) - problem.J(theta - h)) / 2e-4 for h in steps]
    np.testing.assert_allclose(model.at(theta)[1], slopes, rtol=1e-5, atol=1e-6)
    direction = np.linspace(-1, 1, M)
    there, here = (model.at(theta + h * direction)[1] for h in (1e-4, 0.0))
    change = (there - here) @ direction / 1e-4
    J = [problem.J(theta + h * direction) for h in (-1e-3, 0, 1e-3)]
    assert change == pytest.approx((J[0] - 2 * J[1] + J[2]) / 1e-6, rel=1e-2)


@pytest.mark.parametrize("reach", [0.0, 0.3])
def test_the_minimum_is_that_of_another_solver(reach, problem, theta):
    model, lower = problem.model(theta), reach * theta
    found = model.minimum(lower, norms.Lp(1))

    def value(other):
        return model.at(other)[0]

    other = minimize(
        value,
        theta,
        bounds=[(low, 1.0) for low in lower],
        constraints=LinearConstraint(np.ones(M), 1.0, 1.0),
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert (found >= lower - 1e-12).all()
    assert found.sum() == pytest.approx(1.0)
    scale = value(theta) - other.fun
    assert value(found) <= other.fun + 5e-3 * scale


def test_weights_that_are_small_are_left_out_without_harm(problem):
    """A weight of a millionth moves too little for its kernel's rank to matter."""
    theta = np.array([0.5, 0.5, 1e-6, 1e-6, 0.0])
    model = problem.model(theta)
    without = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    wanted = problem.J(without) - problem.J(theta)
    assert model.at(without)[0] == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("zeros", [0, 2])
def test_a_hessian_that_is_too_large_is_limited(zeros, rng):
    root = rng.normal(size=(M, 3))
    hessian, limit = root @ root.T, 0.1 + rng.random(M)
    limit[:zeros] = 0.0
    limited, q = _limited(hessian, limit), np.sqrt(limit)
    assert np.linalg.eigvalsh(q[:, None] * hessian * q)[-1] > 1
    assert np.linalg.eigvalsh(q[:, None] * limited * q)[-1] == pytest.approx(LARGEST)
    assert np.linalg.eigvalsh(limited)[0] >= -1e-10
    assert np.linalg.matrix_rank(limited, tol=1e-8) == 3
    small = 1e-3 * hessian
    np.testing.assert_array_equal(_limited(small, limit), small)


@pytest.mark.parametrize("size", [1, 5, 36, 100])
@pytest.mark.parametrize("slight", [0.0, 1e-2, np.inf])
def test_the_core_follows_the_formulas(size, slight, rng):
    root, s = rng.normal(size=(size, size + 2)), 0.5 + rng.random(size)
    hessian, d = root @ root.T / size, 0.1 * rng.normal(size=size)
    D = np.where(np.abs(d / s) * hessian.diagonal() > slight, d / s, 0.0)
    P = np.linalg.solve(np.eye(size) + hessian * D, hessian)
    u = -P @ d
    V = np.where(D != 0, 1 + u / s, 1.0)
    value, gradient, bent = _core.rank_one_model(hessian, s, d, slight)
    assert value == pytest.approx(-0.5 * d @ (s + u))
    np.testing.assert_allclose(gradient, -0.5 * (s + u + V * u), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(bent, V[:, None] * P * V, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(bent, bent.T)
    response = _core.rank_one_response(hessian, d / s, slight)
    np.testing.assert_allclose(response, P, rtol=1e-6, atol=1e-8)


def test_rank_one_models_without_a_value_return_none():
    one = np.ones((1, 1))
    assert _core.rank_one_response(one, np.array([-1.0]), 0.0) is None
    assert _core.rank_one_model(one, np.ones(1), np.array([-1.0]), 0.0) is None


def test_arrays_of_models_must_agree():
    square, two, three = np.eye(3), np.ones(2), np.ones(3)
    for call in (
        lambda: _core.rank_one_response(square, two, 0.0),
        lambda: _core.rank_one_model(square, three, two, 0.0),
        lambda: _core.even_weights(square, 0.0, three, two, three, three, 1.0, 1e-7, 1e-2, 300),
    ):
        with pytest.raises(ValueError, match="differ in length"):
            call()
