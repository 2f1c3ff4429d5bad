"""Wrapper training reaches the optimum of interleaved training, with complete machines."""

import numpy as np
import pytest
from mkl_cases import make_case

from kernelweave import norms
from kernelweave.solvers.wrapper import Machines, wrapper
from kernelweave.steps.base import keep_weights
from kernelweave.steps.patient import complete

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
def test_it_is_certified_and_agrees_with_interleaved_training(solver, norm, loss, load_real):
    table = load_real("concrete" if loss == "squared" else "wdbc")
    case = make_case(table, loss, norm, n=80)
    wrapped = case.solve(solver, tol=1e-3, interleaved=False)
    assert wrapped.gap <= 1e-3
    assert case.naive_gap(wrapped) == pytest.approx(wrapped.gap, abs=1e-9)
    assert wrapped.primal == pytest.approx(case.solve("auto", tol=1e-4).primal, rel=1.1e-3)


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


def test_machines_are_solved_for_the_weights_they_are_given(load_real):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=80)
    state = Machines(case.task(), tol=1e-6)
    theta = np.array([0.0, 0.2, 0.5, 0.0, 0.3])
    turn = state.solve(np.ones(5) / 5).at(theta)
    assert turn.primal() - turn.value <= 1e-6 * turn.primal()
    np.testing.assert_array_equal(state.theta, theta)


def test_gradients_and_curvature_are_those_of_the_best_machine(load_real):
    """-1/2 s and the curvature against differences of J and of its gradient."""
    case = make_case(load_real("pima"), "squared_hinge", norms.Lp(2), n=60)
    state = Machines(case.task(), tol=1e-12)
    theta, step = np.array([0.3, 0.2, 0.5, 0.1, 0.3]), 1e-4
    here = state.solve(theta)
    slope, bend = -0.5 * here.s, here.curvature()
    for m in range(5):
        there = state.solve(theta + step * np.eye(5)[m])
        assert (there.value - here.value) / step == pytest.approx(slope[m], rel=1e-2)
        np.testing.assert_allclose(
            (-0.5 * there.s - slope) / step, bend[m], rtol=2e-2, atol=1e-3 * np.abs(bend).max()
        )


def test_steps_that_keep_the_weights_end_when_nothing_gets_better(load_real):
    """No machine with equal weights closes the gap of the whole problem; the loop must not hang."""
    case = make_case(load_real("sonar"), "hinge", norms.Lp(1), n=40)
    result = wrapper(case.task(tol=1e-3), complete(keep_weights))
    assert not result.converged
    assert result.gap > 1e-3
