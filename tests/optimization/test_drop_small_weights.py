"""Small weights of a sparse solution become zeros, as many as the certificate allows."""

from dataclasses import replace

import numpy as np
import pytest
from kernelweave.optimization.loop import ACCURATE, train
from mkl_cases import begin, make_case

from kernelweave import norms
from kernelweave.optimization import solve
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import FEW_TURNS, SMALL_WEIGHTS, drop_small_weights
from kernelweave.optimization.steps import newton

TOL = 1e-4
PLAN = Plan("dense", step="Newton", pace=ACCURATE)


@pytest.fixture
def case(load_real):
    return make_case(load_real("wdbc"), "hinge", norms.Lp(1), n=100, M=20)


@pytest.fixture
def result(case, monkeypatch):
    """A result of steps that leave a part of every weight, at whose alpha the engine is."""
    monkeypatch.setattr(newton, "SEVERAL", 0)
    weights = begin(case.problem, case.engine)
    return train(case.problem, case.engine, weights, PLAN, Run.start(TOL))


def drop(case, result, tol, max_iter=None, observe=None, turns=FEW_TURNS):
    """Drop small weights as far as a tolerance allows it."""
    history = Run.start(tol, max_iter, observe=observe)
    history.entries, history.n_iter = list(result.history), result.n_iter
    return drop_small_weights(case.problem, case.engine, result, PLAN, history, turns)


def gap_without(count, case, result):
    """The gap without the smallest weights, from the kernel matrices."""
    theta = result.weights.copy()
    theta[np.argsort(theta)[:count]] = 0.0
    return case.naive_gap(replace(result, weights=theta / theta.sum()))


@pytest.mark.parametrize("slack", [1.0, 1.01, 2.0, 10.0])
def test_as_many_weights_go_as_the_gap_allows(slack, case, result):
    limit = slack * result.gap
    dropped = drop(case, result, limit)
    left_out = np.count_nonzero(dropped.weights == 0)
    sizes = result.weights / result.weights.max()
    small = [np.count_nonzero(sizes < limit) for limit in SMALL_WEIGHTS]
    assert np.count_nonzero(result.weights == 0) == 0
    assert left_out <= max(small)
    assert case.naive_gap(dropped) <= limit + 1e-12
    assert dropped.gap == pytest.approx(case.naive_gap(dropped), abs=1e-9)
    assert left_out in small or gap_without(left_out + 1, case, result) > limit


def test_what_is_left_is_the_same_model_but_for_its_scale(case, result):
    dropped = drop(case, result, 10 * TOL)
    kept = dropped.weights > 0
    np.testing.assert_array_equal(dropped.alpha, result.alpha)  # it fits at once
    assert dropped.weights.sum() == pytest.approx(1.0)
    ratio = dropped.weights[kept] / result.weights[kept]
    np.testing.assert_allclose(ratio, ratio[0])
    assert result.weights[kept].min() >= result.weights[~kept].max()


def test_the_engine_is_at_the_alpha_that_is_returned(case, result):
    for tol in (0.0, 1.01 * result.gap, 10 * TOL):  # alpha stays, moves, or fits at once
        dropped = drop(case, result, tol)
        np.testing.assert_array_equal(case.engine.alpha, dropped.alpha)
        np.testing.assert_allclose(case.engine.outputs(), case.K @ dropped.alpha, atol=1e-9)
        case.engine.move_to(result.alpha)


def test_an_observer_knows_the_alpha_that_is_returned(case, result):
    kept = []
    dropped = drop(case, result, 0.0, observe=lambda alpha, _: kept.append(alpha.copy()))
    np.testing.assert_array_equal(kept[-1], dropped.alpha)
    assert not np.array_equal(kept[0], dropped.alpha)  # turns that did not help


def test_no_more_turns_than_the_history_allows(case, result):
    assert drop(case, result, 1.01 * result.gap, result.n_iter).n_iter == result.n_iter


def test_nothing_goes_where_the_gap_would_widen_beyond_what_it_was(case, result):
    assert drop(case, result, 0.0).gap <= result.gap


def test_the_way_there_is_that_of_the_result(case, result):
    dropped = drop(case, result, 1.01 * result.gap)
    assert dropped.history == result.history
    assert dropped.n_iter >= result.n_iter


def test_the_same_weights_are_not_dropped_twice(case, result, monkeypatch):
    tried = []
    monkeypatch.setattr(solve, "_adapted", lambda theta, *_: tried.append(theta))
    sizes = result.weights / result.weights.max()
    for tiny, attempts in ((1e-4, 1), (5e-3, 2)):  # all small ones are tiny, or one is not
        weights = np.where(sizes < SMALL_WEIGHTS[0], 1e-4, sizes)
        weights[weights.argmin()] = tiny
        tried.clear()
        drop(case, replace(result, weights=weights / weights.sum()), 0.0)
        assert len(tried) == attempts


def test_without_turns_alpha_stays_as_it_is(case, result):
    before = case.engine.alpha.copy()
    dropped = drop(case, result, result.gap, turns=0)
    assert np.count_nonzero(dropped.weights) < len(dropped.weights)
    assert dropped.gap <= result.gap
    assert dropped.n_iter == result.n_iter
    np.testing.assert_array_equal(case.engine.alpha, before)
