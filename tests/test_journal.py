"""The journal of a solver: what it keeps, and when it says that enough is enough."""

from dataclasses import replace

import numpy as np
import pytest
from mkl_cases import hinge_case

from kernelweave import norms
from kernelweave.kernels import RBF
from kernelweave.problem import Certificate
from kernelweave.solvers.journal import PATIENCE, Journal


@pytest.fixture
def task(load_real):
    return hinge_case(load_real("wdbc"), norms.Lp(2), RBF([0.1, 1.0]), n=20).task(tol=1e-3)


def certificate(gap, dual=1.0):
    return Certificate(primal=dual / (1 - gap), dual=dual, gap=gap, bias=0.5)


def test_it_keeps_and_tells_every_model(task):
    told = []
    journal, theta = Journal(replace(task, watch=told.append)), np.array([0.6, 0.8])
    for gap in (0.5, 0.1):
        journal.note(certificate(gap), theta)
        theta *= 0.5  # a solver may go on with the same array
    assert told == journal.history
    assert [past.gap for past in told] == [0.5, 0.1]
    np.testing.assert_array_equal(told[0].weights, [0.6, 0.8])
    np.testing.assert_array_equal(told[1].weights, [0.3, 0.4])
    assert 0 <= told[0].seconds <= told[1].seconds


def test_it_is_over_at_the_tolerance_or_after_the_last_turn(task):
    journal = Journal(replace(task, max_iter=2))
    over = []
    for gap in (0.5, 0.2, 0.1):
        journal.note(certificate(gap), task.theta)
        over.append(journal.over)
    assert over == [False, False, True]
    journal = Journal(task)
    journal.note(certificate(1e-3), task.theta)
    assert journal.over


@pytest.mark.parametrize(
    ("gap", "dual", "stuck"), [(0.1, 1.0, True), (0.09, 1.0, False), (0.1, 1.1, False)]
)
def test_it_is_stuck_without_a_better_value_for_long(gap, dual, stuck, task):
    journal = Journal(task)
    for _ in range(PATIENCE):
        journal.note(certificate(0.1), task.theta)
    assert not journal.stuck(task.alpha)
    journal.note(certificate(gap, dual), task.theta)
    assert journal.stuck(task.alpha) == stuck


def test_it_is_stuck_where_values_fall_to_rounding_of_zero(task):
    journal = Journal(task)
    journal.note(Certificate(primal=5.0, dual=-5.0, gap=2.0, bias=0.0), task.theta)
    for turn in range(PATIENCE + 1):
        dual = -1e-14 * (1 - 1e-4 * turn)  # rising, relative to itself
        gap = 1 + 1e-8 * (PATIENCE - turn)
        journal.note(Certificate(primal=1e-12, dual=dual, gap=gap, bias=0.0), task.theta)
    assert journal.stuck(task.alpha)


@pytest.mark.parametrize(
    ("primal", "tau", "stuck"), [(4e-15, 1, True), (4e-14, 1, False), (0, 0, False)]
)
def test_one_class_may_have_an_objective_that_vanishes(primal, tau, stuck, task):
    journal = Journal(replace(task, problem=replace(task.problem, tau=tau)))
    journal.note(Certificate(primal=5.0, dual=-5.0, gap=2.0, bias=0.0), task.theta)
    assert not journal.stuck(task.alpha)
    journal.note(Certificate(primal=primal, dual=-primal, gap=2.0, bias=0.0), task.theta)
    assert journal.stuck(task.alpha) == stuck


def test_the_result_is_judged_by_the_tolerance(task):
    journal = Journal(task)
    journal.note(certificate(0.5), task.theta)
    journal.note(certificate(1e-4), task.theta)
    result = journal.result(certificate(1e-4), task.alpha, task.theta)
    assert (result.n_iter, result.converged, result.history) == (1, True, journal.history)
    assert not journal.result(certificate(0.5), task.alpha, task.theta, n_iter=7).converged
    assert journal.result(certificate(0.5), task.alpha, task.theta, n_iter=7).n_iter == 7
