"""Gaps that solvers stop at are confirmed: outputs anew, and more work where rounding hid a gap."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from kernel_cases import training_set
from kernelweave.optimization.loop import train

from kernelweave import losses, norms
from kernelweave.engines import DenseEngine
from kernelweave.kernels import RBF
from kernelweave.optimization import solve
from kernelweave.optimization.confirm import judged
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem
from kernelweave.problem.rounding import Digits

TOL = 1e-3
PLAN = Plan(engine="dense", step="analytic", working_set=20)


class Setting:
    """A problem whose solver drifts: outputs are off by a part, and the way of alphas is long."""

    def __init__(self, drift):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
        given = training_set(RBF([0.1, 1.0]), X)
        self.problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(60))
        self.engine, self.weights = DenseEngine.of(given), norms.Lp(2).start(2)
        self.digits, self.history = Digits(given.kernels, given.examples), Run.start(tol=TOL)
        self.drift, self.tolerances = drift, []

    def solve(self, weights):
        self.tolerances.append(self.history.tol)
        result = train(self.problem, self.engine, weights, PLAN, self.history)
        self.engine._outputs[:] *= 1 - self.drift
        self.engine.accumulated_update += 1e16 * self.drift * np.abs(self.engine.alpha)
        return result

    def confirmed(self):
        with mock.patch.object(solve, "_solve_from", lambda *given: self.solve(given[4])):
            return solve.solve(
                self.problem, self.engine, PLAN, self.history, self.weights, self.digits
            )


def test_what_rounding_cannot_have_made_is_left_alone():
    setting, other = Setting(0.0), Setting(0.0)
    result, before = setting.confirmed(), other.solve(other.weights)
    assert result.converged
    assert 0 < result.doubt < 1e-9
    np.testing.assert_array_equal(result.alpha, before.alpha)


def test_outputs_that_have_drifted_are_computed_anew():
    setting = Setting(1e-2)
    result = setting.confirmed()
    assert result.converged
    assert result.doubt < 1e-9
    fresh = setting.engine.outputs().copy()
    setting.engine.move_to(result.alpha)
    np.testing.assert_array_equal(setting.engine.outputs(), fresh)


def test_where_rounding_may_hide_a_gap_the_solver_goes_on():
    """It stops just below the tolerance, and kernels leave a tenth of that open."""
    first = Setting(0.0)
    gap = first.solve(first.weights).gap
    setting = Setting(0.0)
    setting.history.tol = tol = 1.02 * gap
    rough = replace(setting.digits, precision=1e-6)
    doubt = judged(first.problem, first.engine, first.solve(first.weights), rough, tol).doubt
    setting.digits = replace(rough, precision=1e-7 * tol / doubt)
    result = setting.confirmed()
    assert setting.tolerances[0] == setting.history.tol == tol
    assert setting.tolerances[1] == pytest.approx(0.9 * tol, rel=0.05)
    assert result.converged
    assert result.gap + result.doubt <= tol


def test_kernels_without_digits_are_in_doubt():
    setting = Setting(0.0)
    setting.digits = replace(setting.digits, precision=1e-2)
    result = setting.confirmed()
    assert result.gap <= TOL < result.gap + result.doubt
    assert not result.converged
    assert setting.tolerances == [TOL]


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic(), losses.SquaredHinge()])
@pytest.mark.parametrize("norm", [norms.Lp(1), norms.Lp(2), norms.Lp(np.inf), norms.Block(3)])
def test_values_move_by_less_than_is_said(loss, norm):
    """Kernels that are off by a known part: both values stay within what is said of them."""
    setting = Setting(0.0)
    setting.problem = replace(setting.problem, loss=loss, norm=norm)
    result = setting.solve(setting.weights)
    setting.digits = replace(setting.digits, precision=1e-5)
    said = judged(setting.problem, setting.engine, result, setting.digits, TOL)
    rng = np.random.default_rng(1)
    alpha, theta = setting.engine.alpha, result.weights
    for _ in range(20):
        E = 1e-5 * rng.choice([-1.0, 1.0], size=(2, 60, 60))
        off = np.einsum("mij,j->mi", E + E.transpose(0, 2, 1), 0.5 * alpha)
        g = setting.engine.outputs() + off
        found = setting.problem.certificate(alpha, theta @ g, g @ alpha, theta)
        assert abs(found.gap - result.gap) <= said.doubt
