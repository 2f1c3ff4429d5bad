"""Folds: those of a copy and those of all examples have the same machines."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, StackedEngine
from kernelweave.estimators.fold import FEWEST_MACHINES, CopiedFold, Fold
from kernelweave.kernels import RBF, Linear
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.plan import find_method, make_plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.problem.problem import Problem

KERNELS = [Linear(), RBF([0.1, 1.0])]
TRAIN, TEST = np.arange(0, 60, 2), np.arange(1, 60, 2)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)


def machine_of(fold, problem):
    problem = fold.problem(problem)
    plan = make_plan(find_method("auto", problem.norm, problem.loss), problem, fold.engine, "name")
    result = solve(problem, fold.engine, plan, Run.start(1e-8))
    assert result.converged
    return fold.machine(problem, result)


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_a_copy_trains_the_same_machines(data, p):
    X, y = data
    costs = np.zeros(60)
    costs[TRAIN] = 1.0
    problems = [Problem.of(Hinge(), Lp(p), y, C * costs) for C in (0.1, 1.0)]
    examples = training_set(KERNELS, X)
    copied = Fold.of(StackedEngine.of(examples), TRAIN, TEST, 100)
    shared = Fold.of(DenseEngine.of(examples), TRAIN, TEST, 100)
    assert isinstance(copied, CopiedFold)
    assert not isinstance(shared, CopiedFold)
    values, expected = (
        fold.values([machine_of(fold, one) for one in problems]) for fold in (copied, shared)
    )
    assert values.shape == (2, 1, 30)
    np.testing.assert_allclose(values, expected, atol=1e-3)


def test_a_copy_is_made_where_it_pays(data):
    engine = StackedEngine.of(training_set(KERNELS, data[0]))
    assert isinstance(Fold.of(engine, TRAIN, TEST, FEWEST_MACHINES), CopiedFold)
    assert not isinstance(Fold.of(engine, TRAIN, TEST, FEWEST_MACHINES - 1), CopiedFold)
    assert not isinstance(Fold.of(engine, np.arange(55), np.arange(55, 60), 100), CopiedFold)
