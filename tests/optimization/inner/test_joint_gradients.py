"""Conjugate gradients with the best weights for each alpha: the optimum of other methods."""

import numpy as np
import pytest
from kernel_cases import training_set
from mkl_cases import uses

from kernelweave import MKLClassifier, MKLRegressor, losses, norms, verify
from kernelweave.engines import LinearEngine, linear
from kernelweave.kernels import GappedKmer
from kernelweave.optimization.certifier import certified
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradientTuning
from kernelweave.optimization.inner.joint_gradients import BestWeightsDescent, JointDescent
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem

FAMILY = GappedKmer([4, 5, 5, 6], [3, 3, 4, 4], store="table")


def data(rng, n=1100):
    X = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(n)]
    for i in range(0, n, 2):
        at = rng.integers(0, 34)
        X[i] = X[i][:at] + "GATTAC" + X[i][at + 6 :]
    return X, np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def case(rng, norm, loss="hinge", kind="classifier", C=1.0):
    X, y = data(rng)
    problem = Problem.of(losses.get(loss, kind), norm, y, np.full(len(y), C))
    return problem, LinearEngine.of(training_set(FAMILY, X, "unit"))


@pytest.mark.parametrize("p", [1.3, 2.0, 4.0])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (MKLClassifier, "hinge"),
        (MKLClassifier, "squared_hinge"),
        (MKLRegressor, "squared"),
        (MKLRegressor, "epsilon_insensitive"),
    ],
)
def test_the_same_optimum_as_other_methods(estimator, loss, C, p, rng):
    X, y = data(rng)
    ways = {"norm": p, "C": C, "loss": loss, "normalize": "unit", "tol": 1e-4}
    found = estimator(FAMILY, **ways).fit(X, y)
    other = estimator(FAMILY, **ways, solver="newton").fit(X, y)
    assert uses(found.plan_, JointDescent)
    assert not uses(other.plan_, JointDescent)
    assert found.duality_gap_ <= 1e-4
    assert verify(found, X, y).agree
    assert found.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-4)
    np.testing.assert_allclose(found.weights_, other.weights_, atol=0.02)


@pytest.mark.parametrize("normalize", ["unit", "variance"])
@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (MKLClassifier, "hinge"),
        (MKLClassifier, "squared_hinge"),
        (MKLRegressor, "epsilon_insensitive"),
    ],
)
def test_the_same_optimum_with_predictions_of_short_words(
    estimator, loss, p, normalize, rng, monkeypatch
):
    X, y = data(rng)
    family = GappedKmer([6, 6, 7, 10, 10], [3, 4, 5, 6, 7], store="table")
    ways = {"norm": p, "loss": loss, "normalize": normalize, "tol": 1e-4}
    found = estimator(family, **ways).fit(X, y)
    assert uses(found.plan_, JointDescent) == (p == 2)
    assert found.duality_gap_ <= 1e-4
    assert verify(found, X, y).agree
    monkeypatch.setattr(linear, "quick_kernels", lambda costs: np.flatnonzero([]))
    other = estimator(family, **ways).fit(X, y)
    assert found.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-4)
    np.testing.assert_allclose(found.weights_, other.weights_, atol=0.03)


def test_which_kernels_are_quick(rng):
    assert linear.quick_kernels(np.array([1.0, 2.0, 2.0, 30.0, 30.0])).tolist() == [1, 2]
    assert linear.quick_kernels(np.array([1.0, 12.0, 30.0])).tolist() == [0]
    assert linear.quick_kernels(np.array([30.0, 30.0])).tolist() == []
    X, _ = data(rng)
    engine = LinearEngine.of(training_set(GappedKmer([6, 7, 10], [4, 5, 6]), X, "unit"))
    assert engine.quick.n_kernels == 1
    assert engine.quick.n == engine.n
    assert engine.costs.products.separate
    assert engine.recorded.predicts
    assert engine.recorded.model(np.array([1.0, 0.5, 0.0])) is None  # its own product is as quick
    assert engine.recorded.model(np.array([1.0, 0.0, 0.1])) is not None
    part = engine.subset(np.arange(10))
    assert part.quick.n == 10
    assert LinearEngine.of(training_set(FAMILY, X, "unit")).quick is None  # tables are small


def test_products_of_kernels_without_weight_are_left_out(rng):
    X, y = data(rng, 60)
    family = GappedKmer([6, 6, 6, 10, 10], [3, 4, 5, 6, 7], store="table")
    engine = LinearEngine.of(training_set(family, X, None))
    every = engine.matvec(y, np.ones(5), each=True)
    np.testing.assert_allclose(every, family(X) @ y, rtol=1e-9)
    some = engine.matvec(y, np.array([0.0, 0.5, 2.0, 0.0, 1.0]), each=True)
    np.testing.assert_allclose(some, every[[1, 2, 4]], rtol=1e-12)


def test_weighted_norms(rng):
    norm = norms.Lp(2.0, weights=[1.0, 2.0, 0.5, 1.0])
    problem, engine = case(rng, norm)
    weights = norm.start(engine.n_kernels)
    found = JointDescent().solve(problem, engine, weights, Run.start(1e-5))
    assert found.gap <= 1e-5
    np.testing.assert_allclose(found.weights, norm.best(engine.quadratic()), rtol=1e-12)


def test_moves_have_the_best_length_and_outputs_follow(rng):
    """Each dual value is the largest along its move; outputs are those of products anew."""
    problem, engine = case(rng, norms.Lp(1.5), C=5.0)
    descent = BestWeightsDescent(problem, engine, problem.norm.start(engine.n_kernels))
    assert engine.costs.products.cheap

    def value(alpha):
        engine.move_to(alpha)
        return problem.dual(alpha, engine.quadratic())

    for _ in range(6):
        before = engine.snapshot()
        assert descent.descend()
        alpha, outputs, s = engine.alpha.copy(), engine.outputs(), engine.quadratic()
        move = alpha - before.alpha
        highest = value(alpha)
        np.testing.assert_allclose(engine.outputs(), outputs, atol=1e-9)
        np.testing.assert_allclose(engine.quadratic(), s, rtol=1e-9)
        assert highest >= max(value(before.alpha + t * move) for t in (0.0, 0.5, 0.9)) - 1e-9
        engine.move_to(alpha, outputs)


@pytest.mark.parametrize(
    ("ways", "joint"),
    [
        ({}, True),
        ({"norm": 1}, False),
        ({"norm": 1.2}, False),
        ({"norm": np.inf}, False),
        ({"solver": "newton"}, False),
        ({"interleaved": False}, False),
        ({"normalize": "variance"}, False),
        ({"loss": "logistic"}, False),
        ({"working_set": 100}, False),
    ],
    ids=str,
)
def test_joint_descent_is_planned_for_separate_products_only(ways, joint, rng):
    X, y = data(rng)
    model = MKLClassifier(FAMILY, **{"normalize": "unit", "tol": 0.1, **ways}).fit(X, y)
    assert uses(model.plan_, JointDescent) == joint


def test_schedule_takes_over_at_the_weights_of_the_descent(rng):
    problem, engine = case(rng, norms.Lp(2.0), C=100.0)
    taken = []

    class Schedule:
        def solve(self, problem, engine, weights, run):
            taken.append(weights)
            certificate = certified(problem, engine, weights)
            return run.result(certificate, engine.alpha, weights)

    run, impatient = Run.start(1e-9), ConjugateGradientTuning(patience=3, moves_per_free=0.0)
    joint = Fallback(JointDescent(tuning=impatient), Schedule(), 50)
    joint.solve(problem, engine, problem.norm.start(4), run)
    (weights,) = taken
    np.testing.assert_allclose(weights, problem.norm.best(engine.quadratic()), rtol=1e-9)


def test_schedule_takes_over_if_joint_descent_is_slow(rng, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.inner.descent.slow", lambda *_: True)
    X, y = data(rng)
    model = MKLClassifier(FAMILY, normalize="unit").fit(X, y)
    assert uses(model.plan_, JointDescent)
    assert model.duality_gap_ <= 1e-3
