"""Small weights of a sparse solution become zeros, as many as the certificate allows."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from mkl_cases import begin, make_case

from kernelweave import norms
from kernelweave.optimization.certifier import certified
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.result import Result
from kernelweave.optimization.run import Run
from kernelweave.optimization.sparsity import SMALL_WEIGHT, DropSmallWeights
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.newton import Newton
from kernelweave.optimization.wrapper import Wrapper

TOL = 1e-4
INSIDE = 1e-4  # sum of the weights that vanish at the optimum
SETS = WorkingSets(1000)


class InteriorNewton(Newton):
    """Newton steps that leave every weight above 0, as interior methods do."""

    def begin(self, problem, engine):
        newton = super().begin(problem, engine)

        def step(iterate):
            inside = np.geomspace(1.0, 1e-3, len(iterate.theta))
            return (1 - INSIDE) * newton(iterate) + INSIDE * inside / inside.sum()

        return step


@pytest.fixture
def case(load_real):
    return make_case(load_real("wdbc"), "hinge", norms.Lp(1), n=100, M=20)


@pytest.fixture
def result(case):
    """A result with weights above 0, at whose alpha the engine is."""
    solver = Wrapper(SETS, InteriorNewton(InnerHessian(1200)))
    weights = begin(case.problem, case.engine)
    return solver.solve(case.problem, case.engine, weights, Run.start(TOL))


@dataclass(frozen=True)
class Solved:
    """A solver that returns a given result."""

    result: Result

    def solve(self, problem, engine, weights, run):
        run.log.entries.extend(self.result.history)
        run.budget.used += self.result.n_iter
        return self.result


def drop(case, result, tol, max_iter=None, observe=None, iterations=3):
    """Drop small weights of a result as far as a tolerance allows it."""
    solver = DropSmallWeights(Solved(result), SETS, iterations)
    run = Run.start(tol, max_iter, observe=observe)
    return solver.solve(case.problem, case.engine, case.problem.norm.start(20), run)


def gap_without(count, case, result):
    """The gap without the smallest weights, from the kernel matrices."""
    theta = result.weights.copy()
    theta[np.argsort(theta)[:count]] = 0.0
    return case.naive_gap(replace(result, weights=theta / theta.sum()))


@pytest.mark.parametrize("slack", [1.0, 1.01, 2.0, 10.0])
def test_as_many_weights_are_dropped_as_the_gap_allows(slack, case, result):
    limit = slack * result.gap
    dropped = drop(case, result, limit)
    left_out = np.count_nonzero(dropped.weights == 0)
    sizes = result.weights / result.weights.max()
    small = np.count_nonzero(sizes < SMALL_WEIGHT)
    assert np.count_nonzero(result.weights == 0) == 0
    assert left_out <= small
    assert case.naive_gap(dropped) <= limit + 1e-12
    assert dropped.gap == pytest.approx(case.naive_gap(dropped), abs=1e-9)
    assert left_out == small or gap_without(left_out + 1, case, result) > limit


def test_remaining_weights_keep_their_ratios(case, result):
    dropped = drop(case, result, 10 * TOL)
    kept = dropped.weights > 0
    np.testing.assert_array_equal(dropped.alpha, result.alpha)  # it fits at once
    assert dropped.weights.sum() == pytest.approx(1.0)
    ratio = dropped.weights[kept] / result.weights[kept]
    np.testing.assert_allclose(ratio, ratio[0])
    assert result.weights[kept].min() >= result.weights[~kept].max()


def test_engine_ends_at_the_alpha_of_the_result(case, result):
    for tol in (0.0, 1.01 * result.gap, 10 * TOL):  # alpha stays, moves, or fits at once
        dropped = drop(case, result, tol)
        np.testing.assert_array_equal(case.engine.alpha, dropped.alpha)
        np.testing.assert_allclose(case.engine.outputs(), case.K @ dropped.alpha, atol=1e-9)
        case.engine.move_to(result.alpha)


def test_last_observed_alpha_is_that_of_the_result(case, result):
    kept = []
    dropped = drop(case, result, 0.0, observe=lambda alpha, _: kept.append(alpha.copy()))
    np.testing.assert_array_equal(kept[-1], dropped.alpha)
    assert not np.array_equal(kept[0], dropped.alpha)  # iterations that did not help


def test_iterations_stay_within_the_budget(case, result):
    assert drop(case, result, 1.01 * result.gap, result.n_iter).n_iter == result.n_iter


def test_dropping_never_widens_a_gap_above_the_tolerance(case, result):
    assert drop(case, result, 0.0).gap <= result.gap


def test_history_is_that_of_the_first_solver(case, result):
    dropped = drop(case, result, 1.01 * result.gap)
    assert dropped.history == result.history
    assert dropped.n_iter >= result.n_iter


def test_small_weights_that_the_certificate_needs_are_kept(case, result):
    """The second kernel has too little weight; without it the gap would be wider still."""
    order = np.argsort(-result.weights)
    weights = np.full(20, 1e-5)
    weights[order[:2]] = 1.0, 0.5 * SMALL_WEIGHT
    weights /= weights.sum()
    inner = case.problem.with_weights(weights)
    alpha = SETS.solve(inner, case.engine, weights, Run.start(1e-6)).alpha
    poor = replace(
        result, alpha=alpha, weights=weights, **vars(certified(case.problem, case.engine, weights))
    )
    dropped = drop(case, poor, 0.0, iterations=0)
    left_out = np.count_nonzero(dropped.weights == 0)
    assert 0 < left_out < 19
    assert dropped.weights[order[1]] > 0
    assert case.naive_gap(dropped) <= poor.gap + 1e-9
    assert gap_without(left_out + 1, case, poor) > poor.gap


def test_all_small_weights_are_dropped_before_alpha_adapts(case, result, monkeypatch):
    tried = []
    monkeypatch.setattr(DropSmallWeights, "_adapted", lambda *given: tried.append(given[1]))
    drop(case, result, 0.0)
    (theta,) = tried
    small = result.weights < SMALL_WEIGHT * result.weights.max()
    np.testing.assert_array_equal(theta == 0, small)
    assert theta.sum() == pytest.approx(1.0)


def test_alpha_stays_without_iterations(case, result):
    before = case.engine.alpha.copy()
    dropped = drop(case, result, result.gap, iterations=0)
    assert np.count_nonzero(dropped.weights) < len(dropped.weights)
    assert dropped.gap <= result.gap
    assert dropped.n_iter == result.n_iter
    np.testing.assert_array_equal(case.engine.alpha, before)


@pytest.mark.parametrize("zeros", [0, 1])
def test_weights_that_were_not_changed_are_not_dropped(zeros, case, result):
    """A fit that starts at the sparse optimum ends without changing the weights."""
    weights = np.where(np.arange(20) < zeros, 0.0, result.weights)
    same = replace(result, weights=weights / weights.sum())
    solver = DropSmallWeights(Solved(same), SETS, 0)
    run = Run.start(10 * TOL)
    found = solver.solve(case.problem, case.engine, same.weights, run)
    assert (found is same) == (zeros > 0)
