"""Growing active sets: the same optimum as training on all examples, with any first sample."""

import numpy as np
import pytest
from kernel_cases import dense
from kernelweave.optimization.loop import ACCURATE, train
from mkl_cases import begin

from kernelweave import losses, norms
from kernelweave.datasets import make_splice
from kernelweave.kernels import RBF, Linear, WeightedDegree
from kernelweave.optimization import active_sets as shrinking
from kernelweave.optimization.active_sets import first_set, sample, train_on_active_sets
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem


@pytest.fixture
def small_sets(monkeypatch):
    """Make a thousand examples many."""
    monkeypatch.setattr(shrinking, "MANY_EXAMPLES", 100)


def machine(kernel, X, y, norm=1.0, loss="hinge"):
    problem = Problem.of(losses.get(loss, "classifier"), norms.as_norm(norm), y, np.ones(len(y)))
    return problem, dense(kernel, X, "variance")


def solve(run, kernel, X, y, step=None, **kwargs):
    problem, engine = machine(kernel, X, y, **kwargs)
    plan = Plan("dense", step=step, working_set=200)
    return run(problem, engine, begin(problem, engine), plan, Run.start(1e-4)), engine


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_machine(loss, small_sets):
    X, y = make_splice(1500, 0.1)
    expected, _ = solve(train, WeightedDegree(8), X, y, loss=loss)
    found, engine = solve(train_on_active_sets, WeightedDegree(8), X, y, loss=loss)
    assert found.converged
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    outputs = engine.outputs().copy()
    np.testing.assert_array_equal(engine.alpha, found.alpha)
    engine.move_to(found.alpha)
    np.testing.assert_allclose(outputs, engine.outputs(), rtol=1e-9, atol=1e-9)


def test_weights_are_learned_too(small_sets):
    X, y = make_splice(1500, 0.1)
    family = WeightedDegree(6, split="degree")
    expected, _ = solve(train, family, X, y, step="analytic", norm=2.0)
    found, _ = solve(train_on_active_sets, family, X, y, step="analytic", norm=2.0)
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    np.testing.assert_allclose(found.weights, expected.weights, atol=0.02)


@pytest.mark.parametrize(("step", "p"), [("Newton", 1), ("Newton", 1.5), ("cutting plane", 1)])
def test_what_a_step_remembers_of_one_set_does_not_hold_the_next_up(step, p, rng, small_sets):
    """Each larger set has a larger objective; a step that compares them would never move again."""
    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=2000) > 0, 1.0, -1.0)
    family = RBF(gamma=[0.01, 0.1, 0.3, 1.0, 10.0])
    expected, _ = solve(train, family, X, y, step=step, norm=p)
    found, _ = solve(train_on_active_sets, family, X, y, step=step, norm=p)
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    assert found.n_iter < 3 * expected.n_iter


def test_where_most_examples_count_weights_are_learned_on_larger_samples(
    rng, small_sets, monkeypatch
):
    """Sets of those that violate the conditions are all hard, and other weights suit them."""

    def never(*anything):
        raise AssertionError("examples were chosen by their violations")

    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] + rng.normal(size=2000) > 0, 1.0, -1.0)
    problem, engine = machine(RBF(gamma=[0.01, 0.1, 1.0, 10.0]), X, y)
    plan = Plan("dense", step="Newton", pace=ACCURATE, working_set=200, samples=True)
    expected = train(problem, engine, begin(problem, engine), plan, Run.start(1e-4))
    monkeypatch.setattr(shrinking, "next_set", never)
    found = train_on_active_sets(problem, engine, begin(problem, engine), plan, Run.start(1e-4))
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)


def test_larger_samples_contain_smaller_ones():
    y = np.where(np.arange(6000) % 3 == 0, 1.0, -1.0)
    problem = Problem.of(losses.get("hinge", "classifier"), norms.as_norm(1.0), y, np.ones(6000))
    alpha = np.zeros(6000)
    small, larger, largest = (sample(problem, alpha, size) for size in (62, 250, 1000))
    assert set(small) < set(larger) < set(largest)


def test_duplicates_with_opposite_labels(small_sets):
    X, y = make_splice(600, 0.3)
    X, y = X[np.tile(np.arange(600), 2)], np.concatenate([y, -y])
    found, _ = solve(train_on_active_sets, WeightedDegree(5), X, y)
    assert found.gap <= 1e-4


def test_when_every_example_counts(small_sets, rng):
    X = rng.normal(size=(800, 3))
    y = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    found, _ = solve(train_on_active_sets, Linear(), X, y)
    assert found.gap <= 1e-4


@pytest.mark.parametrize("most", [5, 50, None])
def test_the_way_to_all_examples_is_part_of_the_result(most, small_sets, rng):
    """Sets that grow to half of the examples give way to all, with the turns that are left."""
    problem, engine = machine(Linear(), rng.normal(size=(800, 3)), np.sign(rng.random(800) - 0.5))
    told = []
    history, plan = Run.start(1e-6, most, watch=told.append), Plan("dense", working_set=50)
    found = train_on_active_sets(problem, engine, begin(problem, engine), plan, history)
    assert told == found.history
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)
    assert found.converged == (most is None)
    assert most is None or found.n_iter == most


def test_a_bounded_number_of_turns(small_sets):
    X, y = make_splice(1500, 0.1)
    problem, engine = machine(WeightedDegree(8), X, y)
    history, plan = Run.start(1e-9, 3), Plan("dense", working_set=20)
    found = train_on_active_sets(problem, engine, begin(problem, engine), plan, history)
    assert not found.converged
    assert found.n_iter <= 3


def test_first_sets_hold_both_classes_and_all_support(small_sets):
    y = np.where(np.arange(5000) % 1000 == 999, 1.0, -1.0)
    problem = Problem.of(losses.get("hinge", "classifier"), norms.as_norm(1.0), y, np.ones(5000))
    alpha = np.zeros(5000)
    alpha[[1234, 1999]] = -0.5, 0.5
    chosen = first_set(problem, alpha)
    assert {1234, 1999} <= set(chosen)
    assert (y[chosen] > 0).any()
    assert (y[chosen] < 0).any()
    assert len(chosen) < 500
