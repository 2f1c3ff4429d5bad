"""Gaps are confirmed: outputs are recomputed, and training continues if rounding hid a gap."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import losses, norms
from kernelweave.engines import DenseEngine
from kernelweave.kernels import RBF
from kernelweave.optimization.certifier import certified
from kernelweave.optimization.confirm import judged
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve_confirmed
from kernelweave.optimization.start import Uniform
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.problem.problem import Problem
from kernelweave.problem.rounding import RoundingBounds

TOL = 1e-3
SETS = WorkingSets(20)


class Drifting:
    """A solver whose outputs drift by a part, with long accumulated updates of alpha."""

    def __init__(self, drift):
        self.drift, self.tolerances = drift, []

    def solve(self, problem, engine, weights, run):
        self.tolerances.append(run.tol)
        result = Interleaved(SETS, Analytic()).solve(problem, engine, weights, run)
        engine._outputs[:] *= 1 - self.drift
        engine.accumulated_update += 1e16 * self.drift * np.abs(engine.alpha)
        return result


class Setting:
    """A problem, and a solver whose outputs drift."""

    def __init__(self, drift, tol=TOL):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
        given = training_set(RBF([0.1, 1.0]), X)
        self.problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(60))
        self.engine, self.weights = DenseEngine.of(given), norms.Lp(2).start(2)
        self.rounding, self.run = RoundingBounds(given.kernels, given.examples), Run.start(tol)
        self.solver = Drifting(drift)

    def solve(self):
        return self.solver.solve(self.problem, self.engine, self.weights, self.run)

    def confirmed(self):
        plan = Plan("dense", Uniform(), self.solver)
        given = self.problem, self.engine, plan, self.run, self.rounding, self.weights
        return solve_confirmed(*given)


def test_certain_result_is_returned_unchanged():
    setting, other = Setting(0.0), Setting(0.0)
    result, before = setting.confirmed(), other.solve()
    assert result.converged
    assert 0 < result.rounding_bound < 1e-9
    np.testing.assert_array_equal(result.alpha, before.alpha)


def test_drifted_outputs_are_recomputed():
    setting = Setting(1e-2)
    result = setting.confirmed()
    assert result.converged
    assert result.rounding_bound < 1e-9
    fresh = setting.engine.outputs().copy()
    setting.engine.move_to(result.alpha)
    np.testing.assert_array_equal(setting.engine.outputs(), fresh)


def test_a_gap_above_the_tolerance_is_recomputed_if_outputs_have_drifted():
    class Stopped(Drifting):
        """Stops early, with a certificate of drifted outputs."""

        def solve(self, problem, engine, weights, run):
            result = super().solve(problem, engine, weights, run.inner(TOL, 2))
            return replace(result, **vars(certified(problem, engine, result.weights)))

    setting = Setting(0.3)
    setting.solver = Stopped(0.3)
    result = setting.confirmed()
    again = Setting(0.0)
    again.engine.move_to(result.alpha)
    right = certified(again.problem, again.engine, result.weights)
    assert result.gap > TOL
    assert result.gap == pytest.approx(right.gap, rel=1e-9)
    assert result.primal == pytest.approx(right.primal, rel=1e-9)
    assert result.rounding_bound <= 1e-9


def test_solver_continues_if_rounding_may_hide_a_gap():
    """The gap is just below the tolerance, and the rounding bound a tenth of it."""
    first = Setting(0.0)
    found = first.solve()
    tol = 1.02 * found.gap
    setting = Setting(0.0, tol)
    imprecise = replace(setting.rounding, precision=1e-6)
    bound = judged(first.problem, first.engine, first.solve(), imprecise, tol).rounding_bound
    setting.rounding = replace(imprecise, precision=1e-7 * tol / bound)
    result = setting.confirmed()
    assert setting.solver.tolerances[0] == setting.run.tol == tol
    assert setting.solver.tolerances[1] == pytest.approx(0.9 * tol, rel=0.05)
    assert result.converged
    assert result.gap + result.rounding_bound <= tol


def test_inaccurate_kernels_leave_the_gap_uncertain():
    setting = Setting(0.0)
    setting.rounding = replace(setting.rounding, precision=1e-2)
    result = setting.confirmed()
    assert result.gap <= TOL < result.gap + result.rounding_bound
    assert not result.converged
    assert setting.solver.tolerances == [TOL]


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic(), losses.SquaredHinge()])
@pytest.mark.parametrize("norm", [norms.Lp(1), norms.Lp(2), norms.Lp(np.inf), norms.Block(3)])
def test_rounding_bound_covers_kernel_errors(loss, norm):
    """With kernels of known relative error both objective values stay within the bound."""
    setting = Setting(0.0)
    risk = replace(setting.problem.risk, loss=loss)
    setting.problem = replace(setting.problem, risk=risk, norm=norm)
    result = setting.solve()
    setting.rounding = replace(setting.rounding, precision=1e-5)
    said = judged(setting.problem, setting.engine, result, setting.rounding, TOL)
    rng = np.random.default_rng(1)
    alpha, theta = setting.engine.alpha, result.weights
    for _ in range(20):
        E = 1e-5 * rng.choice([-1.0, 1.0], size=(2, 60, 60))
        off = np.einsum("mij,j->mi", E + E.transpose(0, 2, 1), 0.5 * alpha)
        g = setting.engine.outputs() + off
        found = setting.problem.certificate(alpha, theta @ g, g @ alpha, theta)
        assert abs(found.gap - result.gap) <= said.rounding_bound
