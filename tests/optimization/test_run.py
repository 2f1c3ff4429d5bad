"""The run of a solver: its end, its result, and the runs of subproblems."""

from dataclasses import replace

import numpy as np
import pytest

from kernelweave.optimization.best_model import BestModel
from kernelweave.optimization.run import Run
from kernelweave.optimization.stopping import StallTuning, StoppingRule
from kernelweave.problem.certificate import Certificate

THETA = np.array([0.6, 0.8])


class Engine:
    """Two alphas, and two kernels with values of at most 1."""

    alpha = np.array([1.0, -1.0])
    largest_values = np.ones(2)


ENGINE = Engine()


@pytest.fixture
def clock(monkeypatch):
    """A clock whose time a test sets."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def certificate(gap, dual=1.0):
    return Certificate(primal=dual / (1 - gap), dual=dual, constant=np.inf, gap=gap, bias=0.5)


def test_run_is_finished_after_the_last_iteration():
    run = Run.start(max_iter=2)
    finished, left = [], []
    for iterations, gap in enumerate((0.5, 0.2, 0.1)):
        run.record(certificate(gap), THETA, min(iterations, 1))
        finished.append(run.finished(ENGINE))
        left.append(run.budget.iterations_left)
    assert finished == [False, False, True]
    assert left == [2, 1, 0]


def test_run_is_finished_at_the_tolerance():
    run = Run.start(1e-3)
    assert run.budget.iterations_left is None
    run.record(certificate(1e-3), THETA)
    assert run.converged
    assert run.finished(ENGINE)


def test_run_is_finished_at_the_deadline(clock):
    run = Run.start(1e-3, deadline=10.0)
    clock[0] = 9.0
    run.record(certificate(0.5), THETA)
    assert not run.finished(ENGINE)
    inner = run.inner(1e-6)
    clock[0] = 10.0
    assert run.finished(ENGINE)
    assert inner.budget.out_of_time
    run.record(certificate(0.4), THETA)
    assert [past.seconds for past in run.log.entries] == [9.0, 10.0]


def test_run_is_finished_when_stalled():
    run = Run(StoppingRule(1e-3, tuning=StallTuning(patience=5)))
    for _ in range(5):
        run.record(certificate(0.1), THETA)
    assert not run.finished(ENGINE)
    run.record(certificate(0.1), THETA)
    assert run.stalled(ENGINE)
    assert run.finished(ENGINE)


def test_inner_run_shares_clock_and_observer_but_not_the_watcher(clock):
    watched, observed = [], []
    run = Run.start(1e-3, 7, watch=watched.append, observe=lambda *both: observed.append(both))
    clock[0] = 3.0
    inner = run.inner(1e-2, 5)
    inner.record(certificate(0.5), THETA)
    inner.notify(np.ones(2), THETA)
    assert (inner.tol, inner.budget.max_iter) == (1e-2, 5)
    assert inner.log.last.seconds == 3.0
    assert watched == run.log.entries == []
    assert run.budget.used == 0
    assert len(observed) == 1
    run.inner(1e-2, observe=lambda *both: None).notify(np.ones(2), THETA)
    assert len(observed) == 1


def test_inner_gap_must_fall_from_its_start():
    inner = Run.start().inner(0.1, decrease=0.3)
    inner.record(certificate(0.1), THETA)
    assert inner.tol == pytest.approx(0.03)
    assert not inner.converged
    inner.record(certificate(0.02), THETA)
    assert inner.tol == pytest.approx(0.03)  # only the first gap counts
    assert inner.converged


def test_unobserved_run_notifies_nobody():
    observed = []
    run = Run.start(observe=lambda *both: observed.append(both))
    run.unobserved(0.1).notify(np.ones(2), THETA)
    assert observed == []
    Run.start().notify(np.ones(2), THETA)


def test_run_in_single_precision_is_absorbed_except_for_its_last_model():
    watched = []
    run = Run.start(1e-3, 10, watch=watched.append)
    single = run.in_single_precision(1e-2)
    for gap in (0.5, 0.1, 0.005):
        single.record(certificate(gap), THETA)
    assert {past.phase for past in watched} == {"single precision"}
    run.absorb(single)
    run.record(certificate(0.006), THETA, 0)
    assert [past.gap for past in run.log.entries] == [0.5, 0.1, 0.006]
    assert run.log.last.phase == "double precision"
    assert run.budget.used == 3
    assert run.budget.iterations_left == 7


def test_run_with_another_tolerance_shares_log_and_budget():
    run = Run.start(1e-3, 10)
    stricter = run.with_tol(1e-4)
    stricter.record(certificate(5e-4), THETA)
    assert run.log.entries == stricter.log.entries
    assert run.budget.used == 1
    assert run.converged
    assert not stricter.converged


def test_certified_models_with_an_alpha_are_noted_as_candidates():
    best = BestModel(1e-3)
    run, alpha = replace(Run.start(1e-3), best=best), np.array([1.0, -1.0])
    run.record(certificate(0.1), THETA)
    run.record(certificate(0.2), THETA, 1, alpha)
    last = run.result(certificate(0.5), alpha, THETA)
    assert best.instead_of(last).gap == 0.2


def test_result_has_converged_if_its_gap_is_at_most_the_tolerance():
    run, alpha = Run.start(1e-3), np.zeros(20)
    run.record(certificate(0.5), THETA, 0)
    run.record(certificate(1e-4), THETA, 7)
    result = run.result(certificate(1e-4), alpha, THETA)
    assert (result.n_iter, result.converged, result.history) == (7, True, run.log.entries)
    assert not run.result(certificate(0.5), alpha, THETA).converged
    alpha[0] = 1.0  # an engine may continue with the same array
    assert not result.alpha.any()


def test_result_is_late_only_if_time_ran_out_before_convergence(clock):
    run, alpha = Run.start(1e-3, deadline=1.0), np.zeros(2)
    run.record(certificate(0.5), THETA)
    assert not run.result(certificate(0.5), alpha, THETA).late
    clock[0] = 1.0
    assert run.result(certificate(0.5), alpha, THETA).late
    assert not run.result(certificate(1e-4), alpha, THETA).late
