"""Growing active sets: the same optimum as training on all examples, with any first sample."""

import numpy as np
import pytest
from kernel_cases import dense
from mkl_cases import begin, working_sets

from kernelweave import losses, norms
from kernelweave.datasets import make_splice
from kernelweave.kernels import RBF, Linear, WeightedDegree
from kernelweave.optimization.active_sets import ActiveSets, ActiveSetTuning, first_set
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.optimization.steps.cutting_plane import CuttingPlane
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.newton import Newton
from kernelweave.optimization.wrapper import Wrapper
from kernelweave.problem.problem import Problem

SMALL = ActiveSetTuning(many_examples=100)  # a thousand examples are many
NEWTON = Newton(InnerHessian(1200))


def make(kernel, X, y, norm=1.0, loss="hinge"):
    problem = Problem.of(losses.get(loss, "classifier"), norms.as_norm(norm), y, np.ones(len(y)))
    return problem, dense(kernel, X, "variance")


def growing(solver, engine, size):
    """A solver on active sets that grow from about a hundred examples."""
    return ActiveSets(solver, solver, working_sets(engine, size), SMALL)


def solve(kernel, X, y, *, grow, step=None, **given):
    problem, engine = make(kernel, X, y, **given)
    sets = working_sets(engine, 200)
    solver = sets if step is None else Interleaved(sets, step)
    solver = growing(solver, engine, 200) if grow else solver
    return solver.solve(problem, engine, begin(problem, engine), Run.start(1e-4)), engine


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_fixed_weights_reach_the_optimum_on_all_examples(loss):
    X, y = make_splice(1500, 0.1)
    expected, _ = solve(WeightedDegree(8), X, y, loss=loss, grow=False)
    found, engine = solve(WeightedDegree(8), X, y, loss=loss, grow=True)
    assert found.converged
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    outputs = engine.outputs().copy()
    np.testing.assert_array_equal(engine.alpha, found.alpha)
    engine.move_to(found.alpha)
    np.testing.assert_allclose(outputs, engine.outputs(), rtol=1e-9, atol=1e-9)


def test_learned_weights_reach_the_optimum_on_all_examples():
    X, y = make_splice(1500, 0.1)
    family = WeightedDegree(6, split="degree")
    expected, _ = solve(family, X, y, step=Analytic(), norm=2.0, grow=False)
    found, _ = solve(family, X, y, step=Analytic(), norm=2.0, grow=True)
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    np.testing.assert_allclose(found.weights, expected.weights, atol=0.02)


@pytest.mark.parametrize(("step", "p"), [(NEWTON, 1), (NEWTON, 1.5), (CuttingPlane(), 1)])
def test_memory_of_a_step_does_not_slow_down_the_next_set(step, p, rng):
    """Each larger set has a larger objective; a step that compares them would never move again."""
    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=2000) > 0, 1.0, -1.0)
    family = RBF(gamma=[0.01, 0.1, 0.3, 1.0, 10.0])
    expected, _ = solve(family, X, y, step=step, norm=p, grow=False)
    found, _ = solve(family, X, y, step=step, norm=p, grow=True)
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    assert found.n_iter < 3 * expected.n_iter


def test_overlapping_classes_reach_the_optimum_on_all_examples(rng):
    """Most examples are support vectors, and accurate inner solutions alternate with steps."""
    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] + rng.normal(size=2000) > 0, 1.0, -1.0)
    problem, engine = make(RBF(gamma=[0.01, 0.1, 1.0, 10.0]), X, y)
    wrapper = Wrapper(working_sets(engine, 200), NEWTON)
    expected = wrapper.solve(problem, engine, begin(problem, engine), Run.start(1e-4))
    solver = growing(wrapper, engine, 200)
    found = solver.solve(problem, engine, begin(problem, engine), Run.start(1e-4))
    assert found.gap <= 1e-4
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)


def test_duplicates_with_opposite_labels():
    X, y = make_splice(600, 0.3)
    X, y = X[np.tile(np.arange(600), 2)], np.concatenate([y, -y])
    found, _ = solve(WeightedDegree(5), X, y, grow=True)
    assert found.gap <= 1e-4


def test_problem_in_which_every_example_is_a_support_vector(rng):
    X = rng.normal(size=(800, 3))
    y = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    found, _ = solve(Linear(), X, y, grow=True)
    assert found.gap <= 1e-4


@pytest.mark.parametrize("most", [5, 50, None])
def test_history_contains_the_active_sets(most, rng):
    """Sets that grow to half of the examples give way to all, with the iterations left."""
    problem, engine = make(Linear(), rng.normal(size=(800, 3)), np.sign(rng.random(800) - 0.5))
    watched = []
    run, solver = Run.start(1e-6, most, watch=watched.append), working_sets(engine, 50)
    weights = begin(problem, engine)
    found = growing(solver, engine, 50).solve(problem, engine, weights, run)
    assert watched == found.history
    seconds = [progress.seconds for progress in watched]
    assert seconds == sorted(seconds)
    assert found.converged == (most is None)
    assert most is None or found.n_iter == most


def test_max_iter_bounds_the_iterations_on_all_sets():
    X, y = make_splice(1500, 0.1)
    problem, engine = make(WeightedDegree(8), X, y)
    solver = growing(working_sets(engine, 20), engine, 20)
    found = solver.solve(problem, engine, begin(problem, engine), Run.start(1e-9, 3))
    assert not found.converged
    assert found.n_iter <= 3


def test_first_set_holds_both_classes_and_all_support_vectors():
    y = np.where(np.arange(5000) % 1000 == 999, 1.0, -1.0)
    problem = Problem.of(losses.get("hinge", "classifier"), norms.as_norm(1.0), y, np.ones(5000))
    alpha = np.zeros(5000)
    alpha[[1234, 1999]] = -0.5, 0.5
    chosen = first_set(problem, alpha, SMALL)
    assert {1234, 1999} <= set(chosen)
    assert (y[chosen] > 0).any()
    assert (y[chosen] < 0).any()
    assert len(chosen) < 500
