"""The training loop: interleaved, or with complete inner problems, it reaches one optimum."""

from dataclasses import replace

import numpy as np
import pytest
from kernelweave.optimization.loop import ACCURATE, COMPLETE, GOOD_WEIGHTS, Accuracy, train
from mkl_cases import begin, hinge_case, make_case

from kernelweave import norms
from kernelweave.kernels import RBF
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.newton import Newton

STEPS = [
    ("analytic", norms.Lp(2)),
    ("analytic", norms.Block(3)),
    ("newton", norms.Lp(1.5)),
    ("hessian", norms.Lp(1)),
    ("cutting-plane", norms.Lp(1)),
    ("cutting-plane", norms.Lp(2)),
    ("level", norms.Lp(1)),
    ("level", norms.Lp(1.5)),
    ("gradient", norms.Lp(1, (1.0, 2.0, 0.5, 1.5, 1.0))),
]


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize(("solver", "norm"), STEPS, ids=lambda part: str(part)[:20])
def test_complete_inner_problems_lead_to_the_optimum_of_interleaved_training(
    solver, norm, loss, load_real
):
    table = load_real("concrete" if loss == "squared" else "wdbc")
    case = make_case(table, loss, norm, n=80)
    complete = case.solve(solver, tol=1e-3, interleaved=False)
    assert complete.gap <= 1e-3
    assert case.naive_gap(complete) == pytest.approx(complete.gap, abs=1e-9)
    assert complete.primal == pytest.approx(case.solve("auto", tol=1e-4).primal, rel=1.1e-3)


def test_the_history_tells_of_every_step(load_real):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1.5), n=80)
    result = case.solve("newton", tol=1e-6, interleaved=False)
    seconds = [progress.seconds for progress in result.history]
    assert len(result.history) == result.n_iter + 1
    assert seconds == sorted(seconds)
    assert result.history[-1].gap == result.gap
    np.testing.assert_array_equal(result.history[0].weights, case.problem.norm.start(5))


def test_max_iter_bounds_the_weight_steps(load_real):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1), n=80)
    result = case.solve("hessian", tol=1e-9, interleaved=False, max_iter=2)
    assert result.n_iter == 2
    assert not result.converged
    assert np.isfinite(result.dual)


class Recorded:
    """A step that keeps the weights, and notes what it sees."""

    def __init__(self):
        self.turns = []

    def __call__(self, turn):
        self.turns.append(turn)
        return turn.theta


def solved_turns(case, monkeypatch, pace=COMPLETE, **how):
    """The turns that a step with some pace sees."""
    step = Recorded()
    monkeypatch.setattr(Plan, "make_step", lambda plan, norm: step)
    plan, history = Plan("dense", step="Newton", pace=pace, working_set=60), Run.start(**how)
    train(case.problem, case.engine, begin(case.problem, case.engine), plan, history)
    return step.turns


def test_inner_problems_are_solved_for_the_weights_they_are_given(load_real, monkeypatch):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    turn = solved_turns(case, monkeypatch, tol=1e-6, max_iter=2)[0]
    for theta in (np.array([0.0, 0.2, 0.5, 0.0, 0.3]), np.eye(5)[2]):
        there = turn.at(theta)
        assert there.primal() - there.value <= 1e-6 * there.primal()
        np.testing.assert_array_equal(there.theta, theta)
        np.testing.assert_allclose(there.s, case.engine.quadratic())


@pytest.mark.parametrize("pace", [ACCURATE, COMPLETE], ids=lambda pace: pace.name)
def test_a_step_sees_inner_problems_as_accurate_as_its_pace_asks_for(pace, load_real, monkeypatch):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    turns = solved_turns(case, monkeypatch, pace, tol=1e-3, max_iter=4)
    assert len(turns) == 3  # the last solution is certified, and nobody moves on from it
    most = Accuracy(pace, 1e-3).gap
    assert all(turn.primal() - turn.value <= most * turn.primal() for turn in turns)
    assert {turn.tol for turn in turns} == {1e-3}


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_steps_act_where_weights_account_for_most_of_the_tolerance(tol, load_real, monkeypatch):
    """Otherwise alpha follows: a step would cost outputs of every kernel, and alphas anew."""
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    seen, norm = [], case.problem.norm

    class Watched(Newton):
        def __call__(self, turn):
            part = 0.5 * (norm.dual(turn.s) - turn.theta @ turn.s) / turn.scale
            seen.append((part, turn.gap(norm) / turn.scale))
            return super().__call__(turn)

    monkeypatch.setattr(Plan, "make_step", lambda plan, norm: Watched(norm))
    plan = Plan("dense", step="Newton", pace=ACCURATE, working_set=60)
    result = train(case.problem, case.engine, begin(case.problem, case.engine), plan, Run.start(tol))
    assert result.converged
    assert seen
    assert all(GOOD_WEIGHTS * tol < part <= gap for part, gap in seen)


def test_slopes_and_the_hessian_are_those_of_the_inner_problem(load_real, monkeypatch):
    """-1/2 s and the Hessian against differences of J and of its gradient."""
    case = make_case(load_real("pima"), "squared_hinge", norms.Lp(2), n=60)
    at = solved_turns(case, monkeypatch, tol=1e-12, max_iter=2)[0].at
    theta, step = np.array([0.3, 0.2, 0.5, 0.1, 0.3]), 5e-4
    here = at(theta)
    slope, hessian = -0.5 * here.s, here.hessian()
    small = 1e-3 * np.abs(hessian).max()
    for m in range(5):
        there = at(theta + step * np.eye(5)[m])
        assert (there.value - here.value) / step == pytest.approx(slope[m], rel=1e-2)
        np.testing.assert_allclose(
            (-0.5 * there.s - slope) / step, hessian[m], rtol=2e-2, atol=small
        )


def test_steps_that_keep_the_weights_end_when_nothing_gets_better(load_real, monkeypatch):
    """Equal weights do not close the gap of the whole problem; the loop must not hang."""
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=40)
    monkeypatch.setattr(Plan, "make_step", lambda plan, norm: Recorded())
    weights = begin(case.problem, case.engine)
    plan = Plan("dense", step="Newton", pace=COMPLETE)
    result = train(case.problem, case.engine, weights, plan, Run.start(1e-3))
    assert not result.converged
    assert result.gap > 1e-3


KERNELS = RBF([0.01, 0.1, 1.0])
GIVEN = Plan("dense")


@pytest.fixture
def case(load_real):
    return hinge_case(load_real("wdbc"), norms.Lp(np.inf), KERNELS, n=120)


def test_some_examples_are_a_problem_like_any_other(case):
    even, equal = np.arange(120) % 2 == 0, begin(case.problem, case.engine)
    idx = np.flatnonzero(even)
    some = case.problem.restricted(idx, 0.0)
    part = train(some, case.engine.subset(idx), equal, GIVEN, Run.start(1e-8))
    without = replace(case.problem, C=even.astype(float))  # without costs they are as good as none
    alone = train(without, case.engine, equal, GIVEN, Run.start(1e-8))
    assert part.primal == pytest.approx(alone.primal, rel=1e-7)
    np.testing.assert_allclose(part.alpha, alone.alpha[even], atol=1e-3)


def test_examples_set_aside_leave_the_sum_of_alphas_as_it_is(case):
    weights = begin(case.problem, case.engine)
    done = train(case.problem, case.engine, weights, GIVEN, Run.start(1e-3))
    first = np.arange(60)
    rest = case.problem.restricted(first, case.problem.tau - float(done.alpha[60:].sum()))
    part = train(rest, case.engine.subset(first), weights, GIVEN, Run.start(1e-8))
    assert part.n_iter > 0
    assert part.alpha.sum() == pytest.approx(done.alpha[:60].sum(), abs=1e-9)


def test_given_weights_are_certified_as_one_machine(load_real):
    case = hinge_case(load_real("wdbc"), norms.Lp(1), KERNELS, n=120)
    theta, equal = np.array([0.0, 0.9, 0.1]), begin(case.problem, case.engine)
    result = train(case.problem.given(theta), case.engine, theta, GIVEN, Run.start(1e-6))
    assert result.converged
    np.testing.assert_array_equal(result.weights, theta)
    begin(case.problem, case.engine)
    with_equal = train(case.problem, case.engine, equal, GIVEN, Run.start(1e-3, 50))
    assert with_equal.gap > 1e-3  # p = 1 has better ones


def test_the_engine_ends_at_the_alpha_of_the_result(load_real):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1.5), n=80)
    for interleaved in (True, False):
        result = case.solve("newton", tol=1e-4, interleaved=interleaved)
        np.testing.assert_array_equal(case.engine.alpha, result.alpha)
        np.testing.assert_allclose(case.engine.outputs(), case.K @ result.alpha, atol=1e-9)


def test_a_fit_ends_when_time_is_up(load_real, monkeypatch):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1), n=80)
    ticks = iter(range(10**9))
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    result = case.solve("hessian", tol=1e-12, max_iter=None, deadline=40.0)
    assert not result.converged
    assert np.isfinite(result.dual)
    assert case.naive_gap(result) == pytest.approx(result.gap, abs=1e-9)
