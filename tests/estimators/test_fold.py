"""Folds: values of held-out examples are decision values of models that never saw them."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, StackedEngine
from kernelweave.engines.outputs import OutputsEngine
from kernelweave.estimators.fold import Fold
from kernelweave.kernels import RBF, Linear
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.named_methods import find_method
from kernelweave.optimization.plan import make_plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.problem.problem import Problem

KERNELS = [Linear(), RBF([0.1, 1.0])]
TRAIN, TEST = np.arange(0, 60, 2), np.arange(1, 60, 2)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)


def solved(problem, engine):
    shared = problem.n_outputs > 1
    method = find_method("auto", problem.norm, problem.loss, shared=shared)
    plan = make_plan(method, problem, engine, "dense")
    result = solve(problem, engine, plan, Run.start(1e-8))
    assert result.converged
    return result


def costs_of_training():
    costs = np.zeros(60)
    costs[TRAIN] = 1.0
    return costs


@pytest.mark.parametrize("p", [1, 2, np.inf])
@pytest.mark.parametrize("kind", [DenseEngine, StackedEngine])
def test_held_out_values_are_those_of_a_model_trained_without_them(kind, p, data):
    X, y = data
    fold = Fold(kind.of(training_set(KERNELS, X)), TEST)
    alone = DenseEngine.of(training_set(KERNELS, X[TRAIN]))
    K = np.concatenate([np.atleast_3d(kernel(X).T).T for kernel in KERNELS])
    for C in (0.1, 1.0):
        problem = Problem.of(Hinge(), Lp(p), y, C * costs_of_training())
        values = fold.values(problem, solved(problem, fold.engine))
        part = solved(problem.restricted(TRAIN, 0.0), alone)
        expected = np.einsum("m,mij,j->i", part.weights, K[:, TEST][:, :, TRAIN], part.alpha)
        assert values.shape == (1, len(TEST))
        np.testing.assert_allclose(values[0], expected + part.bias, atol=1e-3)


def test_values_of_outputs_that_share_weights_have_a_row_each(data):
    X, y = data
    problems = [Problem.of(Hinge(), Lp(2), sign * y, costs_of_training()) for sign in (1, -1)]
    shared = Problem.sharing(problems)
    fold = Fold(OutputsEngine(DenseEngine.of(training_set(KERNELS, X)), 2), TEST)
    result = solved(shared, fold.engine)
    values = fold.values(shared, result)
    assert values.shape == (2, len(TEST))
    np.testing.assert_allclose(values[0], -values[1], atol=1e-3)
    again = fold.values(shared, replace(result, bias=result.bias + np.array([1.0, 2.0])))
    np.testing.assert_allclose(again - values, [[1.0] * len(TEST), [2.0] * len(TEST)])
