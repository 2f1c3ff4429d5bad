"""Weights from a sample: near the best ones, for every loss, and only where they are worth it."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import dense, training_set
from loss_cases import every_loss

from kernelweave import losses, norms
from kernelweave.engines import FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.problem import Problem
from kernelweave.solvers import sampled
from kernelweave.solvers.chunking import chunking
from kernelweave.plan import METHODS
from kernelweave.solvers.sampled import sampled_weights
from kernelweave.solvers.start import first_task
from kernelweave.steps.base import keep_weights
from kernelweave.steps.newton import Newton
from kernelweave.steps.patient import Patient

WIDTHS = RBF(gamma=list(np.geomspace(1e-3, 1e2, 12)))
L1 = norms.Lp(1)


@pytest.fixture(autouse=True)
def a_hundred_are_many(monkeypatch):
    monkeypatch.setattr(sampled, "FEW", 100)


@pytest.fixture
def X(rng):
    return rng.normal(size=(600, 3))


def make_problem(loss, X, C=1.0):
    signal = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    y = signal if loss.kind == "regressor" else np.where(signal > 0, 1.0, -1.0)
    costs = np.broadcast_to(C, len(X)).astype(float)
    return Problem(loss, L1, y, costs, tau=0.3 * costs.sum() if loss.kind == "one-class" else 0.0)


def make_task(X, engine=FamilyEngine.of, loss=None, **how):
    return first_task(make_problem(loss or losses.Hinge(), X), engine(training_set(WIDTHS, X)), **how)


def step():
    return Patient(Newton(L1))


def test_the_costs_of_a_sample_add_up_to_those_of_all(X, rng):
    problem = make_problem(losses.OneClass(), X, C=rng.random(len(X)))
    small = problem.sample(np.arange(0, 600, 7))
    assert small.C.sum() == pytest.approx(problem.C.sum())
    assert small.tau == problem.tau
    np.testing.assert_allclose(small.C / small.C[0], problem.C[::7] / problem.C[0])


def test_machines_with_these_weights_are_better_than_with_equal_ones(X):
    def value(theta):
        return chunking(make_task(X, tol=1e-5).with_weights(theta), keep_weights).dual

    task = make_task(X)
    best = METHODS["hessian"].solve(make_task(X, tol=1e-5)).dual
    found = sampled_weights(task, step)
    assert L1.value(found) == pytest.approx(1.0)
    assert value(found) - best < 0.2 * (value(task.theta) - best)


@every_loss
def test_the_optimum_is_that_of_other_solvers(loss, X):
    reference = make_task(X, lambda given: dense(WIDTHS, X), loss, tol=1e-5)
    expected = METHODS["level"].solve(reference)
    found = METHODS["hessian"].solve(make_task(X, loss=loss, tol=1e-4))
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(expected.primal, rel=2e-4)


def test_an_engine_is_left_as_it_was(X):
    task = make_task(X)
    sampled_weights(task, step)
    assert not task.engine.combined(task.theta).any()


@pytest.mark.parametrize(
    "why", ["few examples", "other weights", "weights cost nothing", "no costs"]
)
def test_where_a_sample_is_not_worth_it(why, X):
    task = make_task(X)
    if why == "few examples":
        task = make_task(X[:90])
    if why == "other weights":
        task = replace(task, theta=np.eye(12)[3])
    if why == "weights cost nothing":
        task = replace(task, engine=dense(WIDTHS, X))
    if why == "no costs":
        task = replace(task, problem=replace(task.problem, C=np.zeros(len(X))))
    assert sampled_weights(task, step) is task.theta


def test_the_clock_runs_while_the_sample_is_solved(X, monkeypatch):
    def slow(task, make_step):
        monkeypatch.setattr("time.perf_counter", lambda: 1e9)
        return task.theta

    monkeypatch.setattr("kernelweave.solvers.registry.sampled_weights", slow)
    history = METHODS["hessian"].solve(make_task(X)).history
    assert history[0].seconds > 1e6
