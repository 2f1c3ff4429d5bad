"""The log of a solver: a copy of every certified model, with its time and its cost."""

import numpy as np
import pytest

from kernelweave.common.core import Work
from kernelweave.optimization.log import Log
from kernelweave.problem.certificate import Certificate

THETA = np.array([0.6, 0.8])


def certificate(gap, dual=1.0):
    return Certificate(primal=dual / (1 - gap), dual=dual, constant=np.inf, gap=gap, bias=0.5)


def test_every_model_is_logged_and_shown_to_the_watcher():
    seen, theta = [], THETA.copy()
    log = Log(Work(), seen.append)
    for gap in (0.5, 0.1):
        log.add(certificate(gap), theta)
        theta *= 0.5  # a solver may continue with the same array
    assert seen == log.entries
    assert log.last is seen[-1]
    assert [past.gap for past in seen] == [0.5, 0.1]
    np.testing.assert_array_equal(seen[0].weights, [0.6, 0.8])
    np.testing.assert_array_equal(seen[1].weights, [0.3, 0.4])
    assert 0 <= seen[0].seconds <= seen[1].seconds


def test_entries_state_time_phase_and_evaluated_pairs(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 5.0)
    work = Work()
    log = Log(work, phase="single precision", started=2.0)
    log.add(certificate(0.5), THETA)
    assert (log.last.seconds, log.last.phase) == (3.0, "single precision")
    assert log.last.pairs == work.pairs
    assert log.last.pairs is not work.pairs


@pytest.mark.parametrize(
    ("primal", "dual"), [(np.nan, 1.0), (np.inf, 1.0), (1.0, np.nan), (1.0, np.inf)]
)
def test_values_that_are_not_finite_are_an_error(primal, dual):
    wrong = Certificate(primal=primal, dual=dual, constant=2.0, gap=np.inf, bias=0.0)
    with pytest.raises(FloatingPointError, match="the objective is not finite"):
        Log(Work()).add(wrong, THETA)


def test_an_infeasible_alpha_is_logged():
    log = Log(Work())
    log.add(Certificate(primal=1.0, dual=-np.inf, constant=2.0, gap=np.inf, bias=0.0), THETA)
    assert log.last.dual == -np.inf


def test_extremes_are_those_of_all_models_so_far():
    log = Log(Work())
    for primal, dual in ((5.0, -np.inf), (4.0, -1.0), (6.0, 2.0), (5.0, 1.0)):
        log.add(Certificate(primal=primal, dual=dual, constant=9.0, gap=primal, bias=0.0), THETA)
        extremes, models = log.extremes[-1], log.entries
        assert extremes.gap == min(one.gap for one in models)
        assert extremes.primal == min(one.primal for one in models)
        assert extremes.dual == max(one.dual for one in models)
        finite = [abs(one.dual) for one in models if np.isfinite(one.dual)]
        assert extremes.largest_dual == max(finite, default=0.0)
        assert log.largest_primal == max(one.primal for one in models)
    assert log.extremes[0].distance == np.inf
    assert log.extremes[-1].distance == 4.0 - 2.0


def test_a_continued_log_shares_entries_but_has_extremes_of_its_own():
    log = Log(Work())
    log.add(certificate(0.1), THETA)
    following = log.continued()
    assert following.largest_primal == log.largest_primal > 0
    following.add(certificate(0.2), THETA)
    assert [one.gap for one in log.entries] == [0.1, 0.2]
    assert [one.gap for one in following.extremes] == [0.2]
