"""Problems solved by their plan: start, solver, and constant models."""

import numpy as np
import pytest
from kernel_cases import dense
from mkl_cases import begin

from kernelweave import losses, norms
from kernelweave.kernels import RBF
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.methods.alignment import Aligned
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.optimization.start import Uniform
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.problem.problem import Problem

SETS = WorkingSets(60)
LEARNED = Interleaved(SETS, Analytic())


class Never:
    """A start that must not be used."""

    fixes_weights = False

    def weights(self, problem, engine, run):
        raise AssertionError("a warm start has its weights")


@pytest.fixture
def case(rng):
    X = rng.normal(size=(100, 3))
    y = np.where(np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(100))
    return problem, dense(RBF([0.1, 1.0, 10.0]), X)


def test_training_starts_at_a_feasible_alpha_and_the_weights_of_the_start(case):
    problem, engine = case
    engine.change(np.arange(2), np.array([0.5, -0.5]))
    result = solve(problem, engine, Plan("dense", Uniform(), LEARNED), Run.start(max_iter=0))
    np.testing.assert_array_equal(result.alpha, problem.risk.feasible_alpha())
    np.testing.assert_array_equal(result.history[0].weights, problem.norm.start(3))


def test_warm_start_uses_the_given_weights_and_the_alpha_of_the_engine(case):
    problem, engine = case
    begin(problem, engine)
    engine.change(np.array([problem.y.argmax(), problem.y.argmin()]), np.array([0.5, -0.5]))
    before, weights = engine.alpha.copy(), np.eye(3)[1]
    result = solve(problem, engine, Plan("dense", Never(), LEARNED), Run.start(max_iter=0), weights)
    np.testing.assert_array_equal(result.history[0].weights, weights)
    np.testing.assert_array_equal(result.alpha, before)


def test_fixed_weights_are_those_of_the_start_in_spite_of_a_warm_start(case):
    problem, engine = case
    begin(problem, engine)
    plan = Plan("dense", Aligned("plain"), SETS)
    expected = plan.start.weights(problem, engine, Run.start())
    result = solve(problem, engine, plan, Run.start(1e-6), np.eye(3)[1])
    assert result.converged
    np.testing.assert_array_equal(result.weights, expected)


def test_weights_are_zero_if_the_constant_model_is_optimal():
    y, X = np.where(np.arange(60) < 3, 1.0, -1.0), np.ones((60, 1))
    problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(60))
    result = solve(
        problem, dense(RBF([0.1, 1.0]), X), Plan("dense", Uniform(), LEARNED), Run.start()
    )
    assert result.converged
    assert not result.weights.any()
    assert result.primal == problem.constant == pytest.approx(6.0)
