"""The trust region of a weight step: its bounds, and the minimum of a model inside it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave import losses, norms
from kernelweave.common.core import _core
from kernelweave.engines.costs import EngineCosts
from kernelweave.optimization.iterate import Iterate
from kernelweave.optimization.named_methods import METHODS
from kernelweave.optimization.plan import make_plan
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.optimization.steps.base import MOST_WEIGHTS
from kernelweave.optimization.steps.cutting_plane import CuttingPlane
from kernelweave.optimization.steps.gradient import Gradient
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.level import Level
from kernelweave.optimization.steps.master import (
    MasterTuning,
    QuadraticModel,
    least_weights,
    model_minimum,
)
from kernelweave.optimization.steps.newton import Newton
from kernelweave.problem.problem import Problem

M = 4
NORMS = [norms.Lp(1), norms.Lp(1, (1.0, 2.0, 0.5, 1.0)), norms.Lp(2), norms.Elliptic(np.eye(M) + 1)]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=repr)


def iterate(theta, s, primal):
    return Iterate(theta, s, 10.0, lambda: primal, None, tol=1e-3, constant=np.inf)


def test_weights_shrink_to_a_part_and_below_a_floor_no_further():
    theta = np.array([0.6, 0.4 - 1e-9, 1e-9, 0.0])
    seen = iterate(theta, np.zeros(M), 20.0)  # a relative gap of a half
    lower = least_weights(seen, norms.Lp(1), 0.1)
    np.testing.assert_allclose(lower[:2], 0.1 * theta[:2])
    assert MasterTuning().floor * 0.5 * theta.mean() > 1e-9
    np.testing.assert_array_equal(lower[2:], theta[2:])


@every_norm
def test_the_minimum_is_that_of_a_general_solver(norm, rng):
    theta, gradient = norm.start(M), -rng.random(M)
    root = rng.normal(size=(M, M))
    H, lower = root @ root.T, 0.2 * theta

    def model(v):
        return gradient @ v + 0.5 * (v - theta) @ H @ (v - theta)

    found = model_minimum(QuadraticModel.of(theta, gradient / 2, H / 2), lower, norm)
    inside = {"type": "ineq", "fun": lambda v: 1.0 - norm.value(v)}
    oracle = minimize(
        model, 0.9 * theta, bounds=[(low, None) for low in lower], constraints=inside, tol=1e-12
    )
    assert norm.value(found) == pytest.approx(1.0)
    assert np.all(found >= lower * (1 - 1e-9))
    scaled = oracle.x / norm.value(oracle.x)
    assert model(found) <= model(scaled) + 1e-6


@pytest.mark.parametrize("p", [1, 1.1, 2])
def test_many_weights_are_minimised_over_as_if_all_at_once(p, rng):
    many, norm = 4 * MasterTuning().first_weights, norms.Lp(p)
    theta, gradient = norm.start(many), -rng.random(many)
    root = rng.normal(size=(many, 5))
    given = QuadraticModel.of(theta, gradient, root @ root.T), 0.2 * theta, norm
    some = model_minimum(*given)
    every = model_minimum(*given, MasterTuning(first_weights=many))
    np.testing.assert_allclose(some, every, atol=1e-6 * theta[0])


class Many:
    """An engine with costs and a number of kernels only."""

    n, costs = 2, EngineCosts(block=1000, free_weights=True)

    def __init__(self, count):
        self.n_kernels = count


@pytest.mark.parametrize(("name", "p"), [("level", 1), ("level", 2), ("newton", 2)])
def test_matrices_of_very_many_weights_are_refused_before_anything_is_computed(name, p):
    y = np.array([-1.0, 1.0])
    problem = Problem.of(losses.Hinge(), norms.Lp(p), y, np.ones(2))
    with pytest.raises(ValueError, match=r'steps need matrices of 5,001 x 5,001.*solver="auto"'):
        make_plan(METHODS[name], problem, Many(MOST_WEIGHTS + 1), "dense")


def test_matrices_are_refused_by_step_and_norm():
    newton = Newton(InnerHessian(300))
    few = [(Level(), norms.Lp(1)), (CuttingPlane(), norms.Lp(2)), (newton, norms.Lp(2))]
    many = [(step, norms.Lp(1)) for step in (CuttingPlane(), newton, Gradient())]
    many.append((Analytic(), norms.Lp(2)))
    assert all(step.refuse_many(norm, MOST_WEIGHTS) is None for step, norm in few)
    assert all(step.refuse_many(norm, 10**6) is None for step, norm in many)
    for step, norm in few:
        with pytest.raises(ValueError, match="at most 5,000 kernels"):
            step.refuse_many(norm, MOST_WEIGHTS + 1)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9])
def test_slopes_that_differ_slightly_move_the_weights(size):
    """Without this, fits stall near a gap of 1e-8."""
    theta, curvature = np.array([0.3, 0.5, 0.2]), np.array([1.0, 3.0, 2.0])
    gradient = np.array([0.4, 0.4 + size, 0.4])
    found = model_minimum(
        QuadraticModel.of(theta, gradient, np.diag(curvature)), np.zeros(3), norms.Lp(1)
    )
    # The slopes of all weights are equal there, and the weights still add up to 1.
    slopes = gradient + curvature * (found - theta)
    assert np.ptp(slopes) <= 0.1 * size
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_even_weights_are_those_of_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    root, costs = rng.normal(size=(M, M)), 0.5 + rng.random(M)
    theta = rng.random(M)
    theta /= costs @ theta
    P, lower, total, gradient = root @ root.T, 0.3 * theta, 0.9, rng.normal(size=M)
    model = P, 0.1, gradient, theta, lower, costs, total
    found = _core.even_weights(*model, 1e-9, 1e-9, 300)

    def value(v):
        return gradient @ (v - theta) + 0.5 * (v - theta) @ (P + 0.1 * np.eye(M)) @ (v - theta)

    fixed = {"type": "eq", "fun": lambda v: costs @ v - total}
    bounds = [(low, None) for low in lower]
    oracle = minimize(value, 0.9 * theta, bounds=bounds, constraints=fixed, tol=1e-12)
    assert costs @ found == pytest.approx(total)
    assert np.all(found >= lower * (1 - 1e-12))
    np.testing.assert_allclose(found, oracle.x, atol=1e-5)
    assert _core.even_weights(*model, 1e-9, 1e-9, 0) is None  # without any pair
    assert _core.even_weights(*model[:-1], 0.1, 1e-9, 1e-9, 300) is None  # bounds add up to more
