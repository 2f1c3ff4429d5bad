"""Single precision first: phases, tolerances and budget, and a certificate in double precision."""

import numpy as np
import pytest
from kernel_cases import training_set
from mkl_cases import begin, working_sets

from kernelweave import losses, norms
from kernelweave.engines import FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.run import Run
from kernelweave.optimization.single_precision import (
    LEAST_GAP,
    SHARE,
    SinglePrecision,
)
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.problem.problem import Problem


class Recorded:
    """A solver that records the precision of the engine and the tolerance of the run."""

    def __init__(self, solver):
        self.solver, self.seen = solver, []

    def solve(self, problem, engine, weights, run):
        self.seen.append((engine.single_precision, run.tol, weights.copy()))
        return self.solver.solve(problem, engine, weights, run)


@pytest.fixture
def case(rng):
    X = rng.normal(size=(1200, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1200) > 0, 1.0, -1.0)
    engine = FamilyEngine.of(training_set(RBF([0.1, 1.0, 2.0, 3.0]), X))
    assert engine.has_single_precision
    return Problem.of(losses.Hinge(), norms.Lp(4), y, np.ones(1200)), engine


def schedule(engine):
    return Interleaved(working_sets(engine, 200), Analytic())


@pytest.mark.parametrize(("tol", "first_tol"), [(1e-2, SHARE * 1e-2), (1e-4, LEAST_GAP)])
def test_double_precision_continues_from_the_solution_in_single_precision(tol, first_tol, case):
    problem, engine = case
    first, then = Recorded(schedule(engine)), Recorded(schedule(engine))
    weights = begin(problem, engine)
    run = Run.start(tol)
    result = SinglePrecision(first, then).solve(problem, engine, weights, run)
    assert [one[:2] for one in first.seen] == [(True, pytest.approx(first_tol))]
    assert [one[:2] for one in then.seen] == [(False, tol)]
    phases = [past.phase for past in result.history]
    assert phases == sorted(phases, reverse=True)  # single precision, then double precision
    assert set(phases) == {"single precision", "double precision"}
    np.testing.assert_array_equal(result.history[0].weights, weights)
    assert result.converged
    engine.move_to(result.alpha)
    F, s = engine.combined(result.weights), engine.quadratic()
    certificate = problem.certificate(result.alpha, F, s, result.weights)
    assert certificate.gap == pytest.approx(result.gap, abs=1e-9)


def test_both_precisions_share_the_budget(case):
    problem, engine = case
    solver = SinglePrecision(schedule(engine), schedule(engine))
    result = solver.solve(problem, engine, begin(problem, engine), Run.start(1e-9, 3))
    assert result.n_iter == 3
    assert not result.converged
    assert result.history[-1].phase == "double precision"
    assert not engine.single_precision
