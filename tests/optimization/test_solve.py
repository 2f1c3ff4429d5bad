"""Starts: a feasible alpha for every loss, and weights of a sample where they are worth it."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import dense, training_set
from kernelweave.optimization.loop import train
from loss_cases import every_loss
from mkl_cases import begin, planned

from kernelweave import losses, norms
from kernelweave.engines import FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.optimization import solve as solving
from kernelweave.optimization.inner.violations import every_kth
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import feasible_alpha, first_weights, solve
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


@pytest.fixture(autouse=True)
def a_hundred_are_many(monkeypatch):
    monkeypatch.setattr(solving, "SMALLEST_SAMPLED", 100)


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
def test_the_start_is_feasible(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = costly_problem(loss, costs(y), y)
    alpha, term = feasible_alpha(problem), problem.term
    assert alpha.shape == y.shape
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    assert alpha.sum() == pytest.approx(problem.tau, abs=1e-12 * (1 + np.abs(alpha).sum()))
    assert np.isfinite(problem.dual(alpha, np.zeros(1)))


@every_loss
@pytest.mark.parametrize("costs", ["equal", "different", "tiny and huge"])
def test_slopes_are_finite_where_an_entropy_has_no_end(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = costly_problem(loss, COSTS[costs](y), y)
    down, up = problem.term.slopes(feasible_alpha(problem))
    entropic = problem.term.ent > 0
    assert np.all(np.isfinite(down[entropic]))
    assert np.all(np.isfinite(up[entropic]))


def test_an_unbalanced_problem_starts_inside_its_box():
    y = np.array([1.0] + [-1.0] * 999)
    alpha = feasible_alpha(costly_problem(losses.Logistic(), np.ones(1000), y))
    assert np.all(y * alpha > 0)
    assert np.all(y * alpha < 1)


def costly_problem(loss, C, y):
    return Problem.of(
        loss, norms.Lp(2), y, C, tau=0.2 * C.sum() if loss.kind == "one-class" else 0.0
    )


def family(X):
    return FamilyEngine.of(training_set(WIDTHS, X))


def sampled(problem, engine, history=None):
    """Return the first weights of a problem, as Newton steps would start from."""
    plan = planned("hessian", problem, engine, "family")
    return first_weights(problem, engine, plan, history or Run.start())[0]


def test_the_costs_of_a_sample_add_up_to_those_of_all(X, rng, monkeypatch):
    problem, engine = make_problem(losses.OneClass(), X, C=rng.random(len(X))), family(X)
    seen = []

    def note(small, *given):
        seen.append(small)
        return train(small, *given)

    monkeypatch.setattr(solving, "train", note)
    sampled(problem, engine)
    assert [len(small.y) for small in seen] == [38, 151]  # a sample starts from a sample
    for small in seen:
        assert small.C.sum() == pytest.approx(problem.C.sum())
        assert small.tau == problem.tau
    sample = problem.C[every_kth(problem.y, solving.SAMPLE_EVERY)]
    np.testing.assert_allclose(seen[-1].C / seen[-1].C[0], sample / sample[0])


def test_the_sum_of_alphas_is_that_of_a_sample_with_its_own_costs(X, monkeypatch):
    """Most examples are support: the larger sample has the costs, and so the sum, that it has."""
    problem, engine, seen = make_problem(losses.OneClass(), X), family(X), []
    problem = replace(problem, tau=0.8 * problem.C.sum())

    def note(small, part, *given):
        assert part.alpha.sum() == pytest.approx(small.tau)
        seen.append(small)
        return train(small, part, *given)

    monkeypatch.setattr(solving, "train", note)
    sampled(problem, engine)
    assert seen[-1].C.sum() == len(seen[-1].y)
    assert all(small.tau == pytest.approx(0.8 * small.C.sum()) for small in seen)


def test_models_with_these_weights_are_better_than_with_equal_ones(X):
    problem, engine = make_problem(losses.Hinge(), X), family(X)

    def value(theta):
        begin(problem, engine)
        return train(problem.given(theta), engine, theta, Plan("family"), Run.start(1e-5)).dual

    plan = planned("hessian", problem, engine, "family")
    best = solve(problem, engine, plan, Run.start(1e-5)).dual
    found = sampled(problem, engine)
    assert L1.value(found) == pytest.approx(1.0)
    assert value(found) - best < 0.2 * (value(L1.start(12)) - best)


@every_loss
def test_the_optimum_is_that_of_other_solvers(loss, X):
    problem, engine, other = make_problem(loss, X), family(X), dense(WIDTHS, X)
    expected = solve(problem, other, planned("level", problem, other), Run.start(1e-5))
    plan = planned("hessian", problem, engine, "family")
    assert plan.samples
    found = solve(problem, engine, plan, Run.start(1e-4))
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(expected.primal, rel=2e-4)


@every_loss
def test_the_engine_is_at_a_feasible_alpha(loss, X):
    problem, engine = make_problem(loss, X), family(X)
    sampled(problem, engine)
    np.testing.assert_array_equal(engine.alpha, feasible_alpha(problem))
    expected = dense(WIDTHS, X)
    expected.move_to(feasible_alpha(problem))
    theta = L1.start(12)
    np.testing.assert_allclose(engine.combined(theta), expected.combined(theta), atol=1e-9)


@pytest.mark.parametrize("why", ["few examples", "weights cost nothing", "no costs", "each turn"])
def test_where_a_sample_is_not_worth_it(why, X, monkeypatch):
    monkeypatch.setattr(solving, "train", None)
    X = X[:90] if why == "few examples" else X
    engine = dense(WIDTHS, X) if why == "weights cost nothing" else family(X)
    problem = make_problem(losses.Hinge(), X, C=0.0 if why == "no costs" else 1.0)
    solver = "level" if why == "each turn" else "hessian"
    plan = planned(solver, problem, engine, "family")
    np.testing.assert_array_equal(
        first_weights(problem, engine, plan, Run.start())[0], L1.start(12)
    )


def test_given_weights_are_where_training_starts(X, monkeypatch):
    monkeypatch.setattr(solving, "first_weights", None)
    problem, engine = make_problem(losses.Hinge(), X), family(X)
    begin(problem, engine)
    plan, weights = planned("hessian", problem, engine, "family"), np.eye(12)[3]
    result = solve(problem, engine, plan, Run.start(max_iter=0), weights)
    np.testing.assert_array_equal(result.history[0].weights, weights)


def test_the_clock_runs_while_the_sample_is_solved(X, monkeypatch):
    problem, engine = make_problem(losses.Hinge(), X), family(X)
    history = Run.start()

    def slow(small, *given):
        monkeypatch.setattr("time.monotonic", lambda: 1e9)
        return train(small, *given)

    monkeypatch.setattr(solving, "train", slow)
    plan = planned("hessian", problem, engine, "family")
    assert solve(problem, engine, plan, history).history[0].seconds > 1e6


def test_nobody_is_told_of_a_sample(X):
    told, seen = [], []
    history = Run.start(watch=told.append, observe=lambda *both: seen.append(both))
    sampled(make_problem(losses.Hinge(), X), family(X), history)
    assert told == seen == history.entries == []
