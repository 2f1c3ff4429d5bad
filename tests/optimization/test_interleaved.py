"""The interleaved schedule: a weight step after every working set."""

import numpy as np
import pytest
from mkl_cases import begin, make_case

from kernelweave import norms
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.optimization.steps.base import WeightStep


class Recorded(WeightStep):
    """Analytic steps that record the iterates."""

    def __init__(self):
        self.iterates = []

    def begin(self, problem, engine):
        analytic = Analytic().begin(problem, engine)

        def step(iterate):
            self.iterates.append(iterate)
            return analytic(iterate)

        return step


@pytest.fixture
def case(load_real):
    return make_case(load_real("sonar"), "hinge", norms.Lp(2), n=80)


def test_weights_move_after_every_working_set(case):
    step, working_sets = Recorded(), WorkingSets(10)
    changes = []
    run = Run.start(1e-9, 5, observe=lambda alpha, weights: changes.append(alpha.copy()))
    weights = begin(case.problem, case.engine)
    result = Interleaved(working_sets, step).solve(case.problem, case.engine, weights, run)
    assert result.n_iter == len(step.iterates) == len(changes) == 5
    for alpha, iterate in zip(changes, step.iterates, strict=True):
        np.testing.assert_allclose(iterate.s, alpha @ (case.K @ alpha).T, rtol=1e-9)
    assert np.count_nonzero(changes[0]) <= 10
    np.testing.assert_array_equal(step.iterates[0].theta, weights)
    for past, iterate in zip(result.history[1:], step.iterates[1:], strict=False):
        np.testing.assert_array_equal(past.weights, iterate.theta)


def test_solution_is_returned_unchanged(case):
    solver, problem, engine = Interleaved(WorkingSets(60), Analytic()), case.problem, case.engine
    first = solver.solve(problem, engine, begin(problem, engine), Run.start(1e-4))
    again = solver.solve(problem, engine, first.weights, Run.start(1e-4))
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.weights, first.weights)
    np.testing.assert_array_equal(again.alpha, first.alpha)


def test_line_searches_solve_the_inner_problem(case):
    step = Recorded()
    weights = begin(case.problem, case.engine)
    interleaved = Interleaved(WorkingSets(60), step)
    interleaved.solve(case.problem, case.engine, weights, Run.start(1e-5, 1))
    theta = np.array([0.1, 0.2, 0.5, 0.0, 0.3])
    there = step.iterates[0].at(theta)
    np.testing.assert_array_equal(there.theta, theta)
    assert there.primal() - there.value <= 1e-5 * there.primal()
