"""Conjugate gradients: the optimum of chunking, with the same support, for every quadratic loss."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import dense

from kernelweave import losses, norms
from kernelweave.datasets import make_splice
from kernelweave.kernels import RBF, WeightedDegree
from kernelweave.problem import Problem
from kernelweave.solvers import conjugate as module
from kernelweave.solvers.chunking import chunking
from kernelweave.solvers.conjugate import conjugate, project
from kernelweave.solvers.start import first_task
from kernelweave.steps.base import keep_weights


@pytest.fixture
def alone(monkeypatch):
    """Let chunking be of no help."""

    def refuse(*_):
        raise AssertionError("chunking was asked for help")

    monkeypatch.setattr(module, "alternate", refuse)


def task(loss="hinge", C=1.0, kernel=None, n=800, **how):
    """Return a task of many examples for their working sets."""
    X, y = make_splice(n, 0.3, seed=1)
    kind = "one-class" if loss == "one_class" else "classifier"
    cost = np.where(np.arange(n) % 7 == 0, 0.0, C)
    tau = 0.2 * cost.sum() if kind == "one-class" else 0.0
    problem = Problem(losses.get(loss, kind), norms.Lp(2.0), y.astype(float), cost, tau)
    engine = dense(kernel or WeightedDegree(8), X, "unit")
    return first_task(problem, engine, **{"working_set": 50, "tol": 1e-4, **how})


every_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "one_class"])


@every_loss
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_same_optimum_as_chunking(loss, C, alone):
    given = task(loss, C)
    found, expected = conjugate(given, keep_weights), chunking(task(loss, C), keep_weights)
    assert found.converged
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    outputs = given.engine.outputs.copy()
    given.engine.rebuild(found.alpha)
    np.testing.assert_allclose(outputs, given.engine.outputs, rtol=0, atol=1e-9 * max(C, 1.0))


def test_what_does_not_count_is_exactly_zero(alone):
    found = conjugate(task(tol=1e-6), keep_weights)
    expected = chunking(task(tol=1e-6), keep_weights)
    counts = [np.count_nonzero(result.alpha) for result in (found, expected)]
    assert abs(counts[0] - counts[1]) <= 0.02 * counts[1]
    at_bound = [np.count_nonzero(np.abs(result.alpha) == 1.0) for result in (found, expected)]
    assert abs(at_bound[0] - at_bound[1]) <= 0.02 * counts[1]


def test_from_an_alpha_that_is_not_zero(alone):
    first = conjugate(task(tol=1e-2), keep_weights)
    given = replace(task(tol=1e-5), alpha=first.alpha)
    given.engine.rebuild(first.alpha)
    found = conjugate(given, keep_weights)
    assert found.gap <= 1e-5
    assert found.history[0].gap == pytest.approx(first.gap, rel=1e-6)
    again = conjugate(replace(given, alpha=found.alpha), keep_weights)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.alpha, found.alpha)


@pytest.mark.parametrize("most", [0, 1, 5])
def test_a_bounded_number_of_moves(most, alone):
    found = conjugate(task(max_iter=most, tol=1e-9), keep_weights)
    assert not found.converged
    assert found.n_iter == most == len(found.history) - 1


def test_chunking_takes_over_where_moves_lead_nowhere(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1)
    told = []
    found = conjugate(task(C=1000.0, watch=told.append), keep_weights)
    assert found.gap <= 1e-4
    assert told == found.history
    assert found.n_iter >= 2


def test_the_moves_that_are_left_are_for_chunking(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1)
    found = conjugate(task(C=1000.0, max_iter=4, tol=1e-9), keep_weights)
    assert found.n_iter == 4


@pytest.mark.parametrize(
    "other",
    [
        {"loss": "logistic"},
        {"kernel": WeightedDegree(4, split="degree")},
        {"kernel": WeightedDegree(4, store="rows")},
        {"working_set": 800},
    ],
    ids=str,
)
def test_chunking_does_what_does_not_suit(other, monkeypatch):
    called = []
    monkeypatch.setattr(module, "alternate", lambda *arguments: called.append(arguments))
    conjugate(task(**other), keep_weights)
    assert len(called) == 1


def test_other_examples_are_chunked(rng):
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = Problem(losses.get("hinge", "classifier"), norms.Lp(2.0), y, np.ones(300))
    found = conjugate(first_task(problem, dense(RBF(0.5), X), working_set=50), keep_weights)
    assert found.gap <= 1e-3


@given(n=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), open_ended=st.booleans())
def test_a_projection_is_the_nearest_feasible_point(n, seed, open_ended):
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(n), rng.random(n)
    total = rng.uniform(lo.sum(), hi.sum())
    hi = np.where(rng.random(n) < 0.3, np.inf, hi) if open_ended else hi
    wish = 3 * rng.normal(size=n)
    found = project(wish, lo, hi, total)
    assert np.all((found >= lo) & (found <= hi))
    assert found.sum() == pytest.approx(total, abs=1e-12 * n)
    # Optimal: what is not at a bound has been shifted by one number, what is would go further.
    shift = found - wish
    free = (found > lo) & (found < hi)
    level = shift[free].mean() if free.any() else 0.5 * (shift.min() + shift.max())
    if free.any():
        np.testing.assert_allclose(shift[free], level, atol=1e-9)
        assert np.all(shift[found == hi] <= level + 1e-9)
        assert np.all(shift[found == lo] >= level - 1e-9)
