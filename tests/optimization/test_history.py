"""The history of a solver: what it keeps, whom it tells, and when it is finished."""

import numpy as np
import pytest

from kernelweave.optimization.run import Run
from kernelweave.optimization.stopping import ROUNDING, STUCK_TURNS
from kernelweave.problem.certificate import Certificate

THETA = np.array([0.6, 0.8])


class ENGINE:
    """Two alphas, and two kernels with values of at most 1."""

    alpha = np.array([1.0, -1.0])

    largest_values = np.ones(2)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when it is told to."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def certificate(gap, dual=1.0):
    return Certificate(primal=dual / (1 - gap), dual=dual, constant=np.inf, gap=gap, bias=0.5)


def test_it_keeps_and_tells_every_model():
    told = []
    history, theta = Run.start(watch=told.append), THETA.copy()
    for gap in (0.5, 0.1):
        history.add(certificate(gap), theta)
        theta *= 0.5  # a solver may go on with the same array
    assert told == history.entries
    assert [past.gap for past in told] == [0.5, 0.1]
    np.testing.assert_array_equal(told[0].weights, [0.6, 0.8])
    np.testing.assert_array_equal(told[1].weights, [0.3, 0.4])
    assert 0 <= told[0].seconds <= told[1].seconds


def test_it_is_finished_at_the_tolerance_or_after_the_last_turn():
    history = Run.start(max_iter=2)
    finished, left = [], []
    for turns, gap in enumerate((0.5, 0.2, 0.1)):
        history.add(certificate(gap), THETA, min(turns, 1))
        finished.append(history.finished(ENGINE))
        left.append(history.turns_left)
    assert finished == [False, False, True]
    assert left == [2, 1, 0]
    history = Run.start(1e-3)
    assert history.turns_left is None
    history.add(certificate(1e-3), THETA)
    assert history.converged
    assert history.finished(ENGINE)


def test_it_is_finished_when_time_is_up(clock):
    history = Run.start(1e-3, deadline=10.0)
    clock[0] = 9.0
    history.add(certificate(0.5), THETA)
    assert not history.finished(ENGINE)
    inner = history.inner(1e-6)
    clock[0] = 10.0
    assert history.finished(ENGINE)
    assert inner.out_of_time
    history.add(certificate(0.4), THETA)
    assert [past.seconds for past in history.entries] == [9.0, 10.0]


def test_an_inner_problem_has_the_same_clock_and_observer_but_tells_nobody(clock):
    told, seen = [], []
    history = Run.start(1e-3, 7, watch=told.append, observe=lambda *both: seen.append(both))
    clock[0] = 3.0
    inner = history.inner(1e-2, 5)
    inner.add(certificate(0.5), THETA)
    inner.tell(np.ones(2), THETA)
    assert (inner.tol, inner.max_iter) == (1e-2, 5)
    assert inner.entries[0].seconds == 3.0
    assert told == history.entries == []
    assert len(seen) == 1
    history.inner(1e-2, observe=lambda *both: None).tell(np.ones(2), THETA)
    assert len(seen) == 1


@pytest.mark.parametrize(("first", "tol"), [(0.5, 0.1), (0.1, 0.03), (1e-20, ROUNDING)])
def test_the_gap_of_an_inner_problem_falls_from_where_it_starts(first, tol):
    inner = Run.start().inner(0.1, fall=0.3)
    inner.add(certificate(first), THETA)
    assert inner.tol == pytest.approx(tol)
    inner.add(certificate(0.2 * first), THETA)
    assert inner.tol == pytest.approx(tol)  # only the first gap counts


def test_no_inner_problem_is_solved_beyond_rounding():
    """Where little can be gained, rounding of the values is more of the gap."""
    inner = Run.start().inner(0.1, fall=0.3)
    inner.add(Certificate(primal=2.0, dual=2.0, constant=2.0 + 1e-6, gap=0.0, bias=0.0), THETA)
    assert inner.tol == pytest.approx(2e6 * ROUNDING)


@pytest.mark.parametrize(
    ("gap", "dual", "stuck"), [(0.1, 1.0, True), (0.09, 1.0, False), (0.1, 1.1, False)]
)
def test_it_is_stuck_without_a_better_value_for_long(gap, dual, stuck):
    history = Run.start()
    for _ in range(STUCK_TURNS):
        history.add(certificate(0.1), THETA)
    assert not history.stuck(ENGINE)
    history.add(certificate(gap, dual), THETA)
    assert history.stuck(ENGINE) == stuck


def test_it_is_stuck_where_values_fall_to_rounding_of_zero():
    history = Run.start()
    history.add(Certificate(primal=5.0, dual=-5.0, constant=0.0, gap=2.0, bias=0.0), THETA)
    for turn in range(STUCK_TURNS + 1):
        dual = -1e-14 * (1 - 1e-4 * turn)  # rising, relative to itself
        gap = 1 + 1e-8 * (STUCK_TURNS - turn)
        history.add(Certificate(primal=1e-12, dual=dual, constant=0.0, gap=gap, bias=0.0), THETA)
    assert history.stuck(ENGINE)


@pytest.mark.parametrize(
    ("primal", "dual", "stuck"),
    [
        (4e-15, -4e-15, True),
        (4e-14, -4e-14, False),
        (4e-15, 3e-15, False),  # the optimum is above 0: a large C makes it small
        (0.0, 0.0, False),
    ],
)
def test_one_class_may_have_an_objective_that_vanishes(primal, dual, stuck):
    history = Run.start()
    history.add(Certificate(primal=5.0, dual=-5.0, constant=0.0, gap=2.0, bias=0.0), THETA)
    assert not history.stuck(ENGINE)
    history.add(Certificate(primal=primal, dual=dual, constant=0.0, gap=2.0, bias=0.0), THETA)
    assert history.stuck(ENGINE) == stuck


def test_the_result_is_judged_by_the_tolerance():
    history, alpha = Run.start(1e-3), np.zeros(20)
    history.add(certificate(0.5), THETA, 0)
    history.add(certificate(1e-4), THETA, 7)
    result = history.result(certificate(1e-4), alpha, THETA)
    assert (result.n_iter, result.converged, result.history) == (7, True, history.entries)
    assert not history.result(certificate(0.5), alpha, THETA).converged
    alpha[0] = 1.0  # an engine may go on with the same array
    assert not result.alpha.any()
