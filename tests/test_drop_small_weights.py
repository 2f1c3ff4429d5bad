"""Small weights of a sparse solution become zeros, as many as the certificate allows."""

from dataclasses import replace

import numpy as np
import pytest
from mkl_cases import make_case

from kernelweave import norms
from kernelweave.engines.remembering import RememberingEngine
from kernelweave.solvers.active_sets import active_sets
from kernelweave.solvers.prune import SMALL, prune
from kernelweave.steps.newton import Newton

TOL = 1e-4


@pytest.fixture
def case(load_real):
    return make_case(load_real("wdbc"), "hinge", norms.Lp(1), n=100, M=20)


@pytest.fixture
def solved(case):
    """A task, whose engine holds the outputs of the result, and the result."""
    task = case.task(tol=TOL)
    return task, active_sets(task, lambda: Newton(norms.Lp(1)))


def gap_without(count, case, result):
    """The gap without the smallest weights, from the kernel matrices."""
    theta = result.weights.copy()
    theta[np.argsort(theta)[:count]] = 0.0
    return case.naive_gap(replace(result, weights=theta / theta.sum()))


@pytest.mark.parametrize("slack", [1.0, 1.01, 2.0, 10.0])
def test_as_many_weights_go_as_the_gap_allows(slack, case, solved):
    task, result = solved
    limit = slack * result.gap
    pruned = prune(replace(task, tol=limit), result)
    left_out = np.count_nonzero(pruned.weights == 0)
    sizes = result.weights / result.weights.max()
    small = [np.count_nonzero(sizes < limit) for limit in SMALL]
    assert np.count_nonzero(result.weights == 0) == 0
    assert left_out <= max(small)
    assert case.naive_gap(pruned) <= limit + 1e-12
    assert pruned.gap == pytest.approx(case.naive_gap(pruned), abs=1e-9)
    assert left_out in small or gap_without(left_out + 1, case, result) > limit


def test_what_is_left_is_the_same_model_but_for_its_scale(solved):
    task, result = solved
    pruned = prune(replace(task, tol=10 * TOL), result)
    kept = pruned.weights > 0
    np.testing.assert_array_equal(pruned.alpha, result.alpha)  # it fits at once
    assert pruned.weights.sum() == pytest.approx(1.0)
    ratio = pruned.weights[kept] / result.weights[kept]
    np.testing.assert_allclose(ratio, ratio[0])
    assert result.weights[kept].min() >= result.weights[~kept].max()


def test_the_engine_holds_the_outputs_of_what_is_returned(case, solved):
    task, result = solved
    for tol in (0.0, 1.01 * result.gap, 10 * TOL):  # the machine stays, moves, or fits at once
        pruned = prune(replace(task, tol=tol), result)
        np.testing.assert_allclose(task.engine.outputs(), case.K @ pruned.alpha, atol=1e-9)
        task.engine.move_to(result.alpha)


def test_an_engine_that_remembers_knows_the_alpha_that_is_returned(solved):
    task, result = solved
    kept = []
    engine = RememberingEngine(
        task.engine, result.alpha, result.weights, lambda alpha, _: kept.append(alpha.copy())
    )
    pruned = prune(replace(task, tol=0.0, engine=engine), result)
    np.testing.assert_array_equal(kept[-1], pruned.alpha)
    assert not np.array_equal(kept[0], pruned.alpha)  # turns that did not help


def test_no_more_turns_than_the_task_allows(solved):
    task, result = solved
    last = replace(task, tol=1.01 * result.gap, max_iter=result.n_iter)
    assert prune(last, result).n_iter == result.n_iter


def test_nothing_goes_where_the_gap_would_widen_beyond_what_it_was(solved):
    task, result = solved
    pruned = prune(replace(task, tol=0.0), result)
    assert pruned.gap <= result.gap
