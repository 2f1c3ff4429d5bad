"""Starts: a feasible alpha for every loss, and the first kernel weights."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from kernel_cases import dense, training_set
from loss_cases import every_loss
from mkl_cases import begin, planned, working_sets

from kernelweave import losses, norms
from kernelweave.engines import FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.optimization.inner.violations import every_kth
from kernelweave.optimization.methods.alignment import Aligned
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.optimization.solver import Solver
from kernelweave.optimization.start import Sample, SampleTuning, Uniform
from kernelweave.problem.problem import Problem

WIDTHS = RBF(gamma=list(np.geomspace(1e-3, 1e2, 12)))
L1 = norms.Lp(1)
COSTS = {
    "equal": lambda y: np.full(len(y), 2.0),
    "different": lambda y: np.linspace(0.0, 3.0, len(y)),
    "tiny and huge": lambda y: np.where(np.arange(len(y)) % 3, 1e-9, 1e9),
    "nothing on one side": lambda y: np.where(y > 0, 0.0, 1.0),
    "nothing": lambda y: np.zeros(len(y)),
}


@pytest.fixture
def X(rng):
    return rng.normal(size=(600, 3))


def make_problem(loss, X, C=1.0):
    signal = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    y = signal if loss.kind == "regressor" else np.where(signal > 0, 1.0, -1.0)
    costs = np.broadcast_to(C, len(X)).astype(float)
    return Problem.of(
        loss, L1, y, costs, tau=0.3 * costs.sum() if loss.kind == "one-class" else 0.0
    )


@every_loss
@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_start_is_feasible(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = costly_problem(loss, costs(y), y)
    alpha, term = problem.risk.feasible_alpha(), problem.term
    assert alpha.shape == y.shape
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    assert alpha.sum() == pytest.approx(problem.tau, abs=1e-12 * (1 + np.abs(alpha).sum()))
    assert np.isfinite(problem.dual(alpha, np.zeros(1)))


@every_loss
@pytest.mark.parametrize("costs", ["equal", "different", "tiny and huge"])
def test_start_has_finite_slopes_of_entropies(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = costly_problem(loss, COSTS[costs](y), y)
    down, up = problem.term.slopes(problem.risk.feasible_alpha())
    entropic = problem.term.ent > 0
    assert np.all(np.isfinite(down[entropic]))
    assert np.all(np.isfinite(up[entropic]))


def test_unbalanced_problem_starts_inside_its_box():
    y = np.array([1.0] + [-1.0] * 999)
    alpha = costly_problem(losses.Logistic(), np.ones(1000), y).risk.feasible_alpha()
    assert np.all(y * alpha > 0)
    assert np.all(y * alpha < 1)


def costly_problem(loss, C, y):
    return Problem.of(
        loss, norms.Lp(2), y, C, tau=0.2 * C.sum() if loss.kind == "one-class" else 0.0
    )


def family(X):
    return FamilyEngine.of(training_set(WIDTHS, X))


@dataclass(frozen=True)
class Recorded:
    """A solver that records the problems, and the sums of the alphas, that it starts from."""

    solver: Solver
    problems: list = field(default_factory=list)
    sums: list = field(default_factory=list)
    single: list = field(default_factory=list)

    def solve(self, problem, engine, weights, run):
        self.problems.append(problem)
        self.sums.append(engine.alpha.sum())
        self.single.append(engine.single_precision)
        return self.solver.solve(problem, engine, weights, run)


TUNING = SampleTuning(smallest=100)


def sampling(problem, engine):
    """The start of Newton steps, with a hundred examples as the smallest sample."""
    start = planned("hessian", problem, engine, "family").start
    assert isinstance(start, Sample)
    return Sample(Recorded(start.solver), TUNING)


def sampled_plan(problem, engine):
    plan = planned("hessian", problem, engine, "family")
    return replace(plan, start=sampling(problem, engine))


def test_costs_of_a_sample_add_up_to_those_of_all_examples(X, rng):
    problem, engine = make_problem(losses.OneClass(), X, C=rng.random(len(X))), family(X)
    start = sampling(problem, engine)
    start.weights(problem, engine, Run.start())
    seen = start.solver.problems
    assert [len(small.y) for small in seen] == [38, 151]  # a sample starts from a sample
    for small in seen:
        assert small.C.sum() == pytest.approx(problem.C.sum())
        assert small.tau == problem.tau
    sample = problem.C[every_kth(problem.y, TUNING.every)]
    np.testing.assert_allclose(seen[-1].C / seen[-1].C[0], sample / sample[0])


def test_samples_of_one_class_start_at_alphas_that_add_up_to_tau(X):
    """Costs are up-weighted although most examples are support vectors, so tau stays feasible."""
    problem, engine = make_problem(losses.OneClass(), X), family(X)
    problem = replace(problem, risk=replace(problem.risk, tau=0.8 * problem.C.sum()))
    start = sampling(problem, engine)
    start.weights(problem, engine, Run.start())
    seen, sums = start.solver.problems, start.solver.sums
    assert len(seen[-1].y) < len(X)
    for small, total in zip(seen, sums, strict=True):
        assert total == pytest.approx(small.tau)
        assert small.tau == pytest.approx(0.8 * small.C.sum())


def test_sampled_weights_are_better_than_equal_ones(X):
    problem, engine = make_problem(losses.Hinge(), X), family(X)

    def value(theta):
        begin(problem, engine)
        sets = working_sets(engine)
        return sets.solve(problem.with_weights(theta), engine, theta, Run.start(1e-5)).dual

    best = solve(problem, engine, sampled_plan(problem, engine), Run.start(1e-5)).dual
    found = sampling(problem, engine).weights(problem, engine, Run.start())
    assert L1.value(found) == pytest.approx(1.0)
    assert value(found) - best < 0.2 * (value(L1.start(12)) - best)


@every_loss
def test_optimum_after_a_sample_is_that_of_other_solvers(loss, X):
    problem, engine, other = make_problem(loss, X), family(X), dense(WIDTHS, X)
    expected = solve(problem, other, planned("level", problem, other), Run.start(1e-5))
    found = solve(problem, engine, sampled_plan(problem, engine), Run.start(1e-4))
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(expected.primal, rel=2e-4)


@every_loss
def test_sampling_leaves_the_engine_at_its_alpha(loss, X):
    problem, engine = make_problem(loss, X), family(X)
    begin(problem, engine)
    sampling(problem, engine).weights(problem, engine, Run.start())
    np.testing.assert_array_equal(engine.alpha, problem.risk.feasible_alpha())
    expected = dense(WIDTHS, X)
    expected.move_to(problem.risk.feasible_alpha())
    theta = L1.start(12)
    np.testing.assert_allclose(engine.combined(theta), expected.combined(theta), atol=1e-9)


@pytest.mark.parametrize("why", ["few examples", "no costs"])
def test_weights_are_equal_if_there_is_no_sample(why, X):
    X = X[:90] if why == "few examples" else X
    engine = family(X)
    problem = make_problem(losses.Hinge(), X, C=0.0 if why == "no costs" else 1.0)
    start = sampling(problem, engine)
    begin(problem, engine)
    np.testing.assert_array_equal(start.weights(problem, engine, Run.start()), L1.start(12))
    assert start.solver.problems == []


@pytest.mark.parametrize("why", ["free weights", "interleaved"])
def test_samples_are_not_planned_if_steps_cost_little(why, X):
    engine = dense(WIDTHS, X) if why == "free weights" else family(X)
    problem = make_problem(losses.Hinge(), X)
    solver = "level" if why == "interleaved" else "hessian"
    assert planned(solver, problem, engine, "family").start == Uniform()


def test_clock_runs_while_the_sample_is_solved(X, monkeypatch):
    problem, engine = make_problem(losses.Hinge(), X), family(X)
    run, plan = Run.start(), sampled_plan(problem, engine)

    class Slow:
        def solve(self, *given):
            monkeypatch.setattr("time.monotonic", lambda: 1e9)
            return plan.start.solver.solve(*given)

    slow = replace(plan, start=Sample(Slow(), TUNING))
    assert solve(problem, engine, slow, run).history[0].seconds > 1e6


def test_samples_are_neither_logged_nor_observed(X):
    watched, observed = [], []
    run = Run.start(watch=watched.append, observe=lambda *both: observed.append(both))
    problem, engine = make_problem(losses.Hinge(), X), family(X)
    begin(problem, engine)
    start = sampling(problem, engine)
    start.weights(problem, engine, run)
    assert start.solver.problems
    assert watched == observed == run.log.entries == []


def test_large_samples_are_bounded(X):
    problem, engine = make_problem(losses.Hinge(), X), family(X)
    begin(problem, engine)
    start = replace(sampling(problem, engine), tuning=replace(TUNING, largest=50))
    start.weights(problem, engine, Run.start())
    assert [len(small.y) for small in start.solver.problems] == [51]  # a few more by rounding


def test_samples_are_in_single_precision_if_that_is_faster(rng):
    X = rng.normal(size=(1200, 3))
    problem = make_problem(losses.Hinge(), X)
    engine = FamilyEngine.of(training_set(RBF([0.1, 1.0, 2.0, 3.0]), X))
    assert engine.has_single_precision
    begin(problem, engine)
    start = sampling(problem, engine)
    start.weights(problem, engine, Run.start())
    assert len(start.solver.single) == 2
    assert all(start.solver.single)
    assert not engine.single_precision


@pytest.mark.parametrize("alignment", ["plain", "centred"])
def test_aligned_weights_are_feasible_and_fixed(alignment, X):
    problem, engine = make_problem(losses.Hinge(), X), dense(WIDTHS, X)
    start = Aligned(alignment)
    assert start.fixes_weights
    assert L1.value(start.weights(problem, engine, Run.start())) == pytest.approx(1.0)
    nothing = replace(problem, risk=replace(problem.risk, y=np.zeros(len(X))))
    equal = start.weights(nothing, engine, Run.start())
    np.testing.assert_array_equal(equal, L1.start(12))
