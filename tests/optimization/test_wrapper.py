"""The wrapper schedule: accurate inner solutions, and the optimum of interleaved training."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from mkl_cases import begin, make_case

from kernelweave import norms
from kernelweave.optimization.certifier import certified
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.iterate import Iterate
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.base import WeightStep
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.newton import Newton
from kernelweave.optimization.wrapper import (
    ACCURATE,
    COMPLETE,
    InnerGap,
    ProbeWeights,
    Wrapper,
    WrapperTuning,
)

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
every_accuracy = pytest.mark.parametrize(
    "accuracy", [ACCURATE, COMPLETE], ids=["accurate", "complete"]
)


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


def test_history_has_an_entry_for_every_iteration(load_real):
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


@pytest.mark.parametrize("interleaved", [True, False])
def test_engine_ends_at_the_alpha_of_the_result(interleaved, load_real):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1.5), n=80)
    result = case.solve("newton", tol=1e-4, interleaved=interleaved)
    np.testing.assert_array_equal(case.engine.alpha, result.alpha)
    np.testing.assert_allclose(case.engine.outputs(), case.K @ result.alpha, atol=1e-9)


def test_fit_ends_at_the_deadline_with_a_certified_model(load_real, monkeypatch):
    case = make_case(load_real("pima"), "hinge", norms.Lp(1), n=80)
    ticks = iter(range(10**9))
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    result = case.solve("hessian", tol=1e-12, max_iter=None, deadline=40.0)
    assert not result.converged
    assert np.isfinite(result.dual)
    assert case.naive_gap(result) == pytest.approx(result.gap, abs=1e-9)


class Recorded(WeightStep):
    """A step that keeps the weights, and records the iterates."""

    def __init__(self):
        self.iterates = []

    def begin(self, problem, engine):
        def step(iterate):
            self.iterates.append(iterate)
            return iterate.theta

        return step


def recorded_iterates(case, accuracy=COMPLETE, **limits):
    """The iterates on which a weight step acts."""
    step, sets = Recorded(), WorkingSets(60)
    weights = begin(case.problem, case.engine)
    wrapper = Wrapper(sets, step, accuracy)
    wrapper.solve(case.problem, case.engine, weights, Run.start(**limits))
    return step.iterates


def test_inner_problems_are_solved_at_the_weights_of_a_line_search(load_real):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    iterate = recorded_iterates(case, tol=1e-6, max_iter=2)[0]
    for theta in (np.array([0.0, 0.2, 0.5, 0.0, 0.3]), np.eye(5)[2]):
        there = iterate.at(theta)
        assert there.primal() - there.value <= 1e-6 * there.primal()
        np.testing.assert_array_equal(there.theta, theta)
        np.testing.assert_allclose(there.s, case.engine.quadratic())


@every_accuracy
def test_steps_act_on_inner_solutions_of_the_required_accuracy(accuracy, load_real):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    iterates = recorded_iterates(case, accuracy, tol=1e-3, max_iter=4)
    assert len(iterates) == 3  # no step follows the last solution
    largest = InnerGap(accuracy, 1e-3).value
    assert all(one.primal() - one.value <= largest * one.primal() for one in iterates)
    assert {one.tol for one in iterates} == {1e-3}


@dataclass(frozen=True)
class Watched(Newton):
    """Newton steps that record how much of the gap better weights would close."""

    seen: list = field(default_factory=list)

    def begin(self, problem, engine):
        norm, newton = problem.norm, super().begin(problem, engine)

        def step(iterate):
            part = 0.5 * (norm.dual(iterate.s) - iterate.theta @ iterate.s) / iterate.scale
            self.seen.append((part, iterate.gap(norm) / iterate.scale))
            return newton(iterate)

        return step


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_steps_act_only_if_weights_account_for_most_of_the_tolerance(tol, load_real):
    """Otherwise only alpha improves: a step would cost the outputs of every kernel."""
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    step, sets = Watched(InnerHessian(1200)), WorkingSets(60)
    weights = begin(case.problem, case.engine)
    result = Wrapper(sets, step).solve(case.problem, case.engine, weights, Run.start(tol))
    assert result.converged
    assert step.seen
    good = WrapperTuning().good_weights
    assert all(good * tol < part <= gap for part, gap in step.seen)


def test_gradient_and_hessian_are_those_of_the_inner_problem(load_real):
    """-1/2 s and the Hessian against differences of J and of its gradient."""
    case = make_case(load_real("pima"), "squared_hinge", norms.Lp(2), n=60)
    at = recorded_iterates(case, tol=1e-12, max_iter=2)[0].at
    theta, step = np.array([0.3, 0.2, 0.5, 0.1, 0.3]), 5e-4
    here = at(theta)
    slope = -0.5 * here.s
    hessian = InnerHessian(1200)(case.problem, case.engine, theta)
    small = 1e-3 * np.abs(hessian).max()
    for m in range(5):
        there = at(theta + step * np.eye(5)[m])
        assert (there.value - here.value) / step == pytest.approx(slope[m], rel=1e-2)
        np.testing.assert_allclose(
            (-0.5 * there.s - slope) / step, hessian[m], rtol=2e-2, atol=small
        )


def test_steps_that_keep_the_weights_end_without_progress(load_real):
    """Equal weights do not close the gap of the whole problem; the loop must not hang."""
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=40)
    weights, sets = begin(case.problem, case.engine), WorkingSets(1000)
    wrapper = Wrapper(sets, Recorded(), COMPLETE)
    result = wrapper.solve(case.problem, case.engine, weights, Run.start(1e-3))
    assert not result.converged
    assert result.gap > 1e-3


class Idle:
    """An inner solver that makes no progress."""

    def solve(self, problem, engine, weights, run):
        certificate = certified(problem, engine, weights)
        run.record(certificate, weights)
        return run.result(certificate, engine.alpha, weights)


@pytest.mark.parametrize("failures", [1, 4])
def test_stalled_inner_problems_in_a_row_end_the_fit(failures, load_real):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=40)
    weights, tuning = begin(case.problem, case.engine), WrapperTuning(inner_failures=failures)
    wrapper = Wrapper(Idle(), Recorded(), tuning=tuning)
    result = wrapper.solve(case.problem, case.engine, weights, Run.start(1e-3))
    assert result.n_iter == failures
    assert not result.converged


OLD, NEW, TOL = np.array([0.5, 0.5]), np.array([1.0, 0.0]), 1e-3
GAPS, FACTORS = np.array([0.5, 0.4, 0.4, 0.45, 0.3]), np.array([1.0, 1.0, 0.5, 0.25, 0.25])


def iterate(primal, value):
    """An iterate with these two values; from OLD to NEW its value falls by 1/2, to first order."""
    s = np.array([3.0, 1.0])
    linear = value + 0.5 * float(OLD @ s)
    return Iterate(OLD, s, linear, lambda: primal, None, tol=TOL, constant=np.inf)


def test_first_inner_gap_is_the_largest():
    assert InnerGap(ACCURATE, TOL).value == ACCURATE.largest


@pytest.mark.parametrize(
    ("primal", "expected"),
    [(100.0, 0.005), (-100.0, 0.005), (10.0, ACCURATE.largest), (0.0, ACCURATE.largest)],
)
def test_inner_gap_is_at_most_the_promised_gain(primal, expected):
    gap = InnerGap(ACCURATE, TOL)
    gap.after_step(iterate(primal, primal - 1.0), NEW, 0.1)
    assert gap.value == pytest.approx(expected)


def test_inner_gap_is_at_least_a_share_of_the_outer_gap():
    gap = InnerGap(replace(ACCURATE, outer_share=0.1), TOL)
    gap.after_step(iterate(100.0, 99.0), NEW, 0.1)  # the gain of the step is 0.005
    assert gap.value == pytest.approx(0.1 * 0.1)


def test_same_weights_leave_the_rest_of_the_tolerance_to_alpha():
    gap = InnerGap(ACCURATE, TOL)
    gap.after_same_weights(0.6 * TOL)
    assert gap.value == pytest.approx(0.2 * TOL)


def test_complete_solutions_do_not_depend_on_the_gain():
    gap = InnerGap(COMPLETE, TOL)
    assert gap.value == pytest.approx(COMPLETE.least * TOL)
    gap.after_step(iterate(100.0, 99.0), NEW, 0.1)
    assert gap.value == pytest.approx(COMPLETE.least * TOL)
    assert COMPLETE.largest == 0.0
    assert COMPLETE.least > ACCURATE.least


def inner_gaps(accuracy):
    """Inner gaps after steps that gain nothing; the third and fourth do not lower the gap."""
    inner, found = InnerGap(accuracy, TOL), []
    for gap in GAPS:
        inner.after_step(iterate(10.0, 9.0), OLD, gap)
        found.append(inner.value)
    return found


@every_accuracy
def test_inner_gap_is_halved_if_the_outer_gap_does_not_fall(accuracy):
    np.testing.assert_allclose(inner_gaps(accuracy), accuracy.least * TOL * FACTORS)


def test_share_of_the_outer_gap_is_halved_as_well():
    shares = 0.1 * FACTORS * GAPS
    found = inner_gaps(replace(ACCURATE, outer_share=0.1))
    np.testing.assert_allclose(found, np.minimum(shares, ACCURATE.largest))


@pytest.mark.parametrize("norm", [norms.Lp(1), norms.Lp(2)], ids=repr)
def test_probes_start_with_equal_weights_and_favour_large_block_norms(norm):
    probes, s = ProbeWeights(norm), np.array([5.0, 1.0, 0.0, -1e-18])
    first, second, third = (probes.next(s) for _ in range(3))
    np.testing.assert_allclose(first, norm.start(4))
    for probe in (first, second, third):
        assert norm.value(probe) == pytest.approx(1.0)
        assert probe.min() > 0
    assert first[0] < second[0] < third[0]
    assert second[0] > second[1] > second[2] == second[3]
