"""Newton's method with conjugate gradients: the optimum of working sets, for smooth losses."""

import naive_mkl
import numpy as np
import pytest
from kernelweave.optimization.loop import train
from mkl_cases import check_optimum, planned, splice_machine
from scipy.optimize import minimize

from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.kernels import GappedKmer, Spectrum, WeightedDegree
from kernelweave.optimization.inner import newton_cg as module
from kernelweave.optimization.inner.newton_cg import Point, newton_cg, newton_step
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run

WORKING_SETS = Plan("dense", working_set=50)
NEWTON_CG = Plan("dense", working_set=50, newton_cg=True)


def make(loss="logistic", C=1.0, **how):
    return splice_machine(loss, C, **how)


@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_same_optimum_as_working_sets(loss, C):
    check_optimum(newton_cg, loss, C, 1e-5)


@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
def test_the_optimum_of_a_general_minimiser(loss):
    problem, engine, weights = make(loss, n=120)
    K = engine.block(np.arange(120), weights)
    L = np.linalg.cholesky(K + 1e-10 * np.eye(120))

    def primal(w_and_bias):
        w, bias = w_and_bias[:-1], w_and_bias[-1]
        return 0.5 * w @ w + problem.C @ problem.loss.value(L @ w + bias, problem.y)

    expected = minimize(primal, np.zeros(121), method="BFGS", options={"gtol": 1e-6}).fun
    found = newton_cg(problem, engine, weights, Run.start(1e-7))
    assert found.primal == pytest.approx(expected, rel=1e-6)


def test_the_gap_by_hand():
    problem, engine, weights = make()
    found = newton_cg(problem, engine, weights, Run.start(1e-6))
    K = engine.block(np.arange(engine.n), np.ones(1))[None]
    assert naive_mkl.certificate(K, problem, found)[2] <= 1.01e-6


def test_a_step_solves_newtons_equations():
    """And half of r' K r is how far the primal value of beta is above the dual value of alpha."""
    problem, engine, weights = make(n=200)
    K = engine.block(np.arange(200), weights)
    nothing = np.zeros(200)
    point = Point.of(problem, nothing, nothing)
    assert point.alpha.sum() == pytest.approx(0.0, abs=1e-12)
    product = K @ (point.alpha - point.beta)
    dual = problem.dual(point.alpha, np.array([point.alpha @ K @ point.alpha]) / weights)
    apart = 0.5 * (point.alpha - point.beta) @ product
    assert point.value - dual == pytest.approx(apart)

    delta, of_delta = newton_step(point, engine, weights, product, 1e-16)
    np.testing.assert_allclose(of_delta, K @ delta, atol=1e-10)
    D = np.diag(point.curvature) - np.outer(point.curvature, point.curvature) / sum(point.curvature)
    exact = np.linalg.solve(np.eye(200) + D @ K, point.alpha - point.beta)
    np.testing.assert_allclose(K @ delta, K @ exact, atol=1e-7)


def test_examples_without_weight_stay_at_zero():
    problem, engine, weights = make()
    found = newton_cg(problem, engine, weights, Run.start(1e-4))
    np.testing.assert_array_equal(found.alpha[problem.C == 0], 0.0)
    assert np.all(problem.y * found.alpha >= 0)
    assert np.all(np.abs(found.alpha) <= problem.C)


def test_from_a_good_alpha():
    problem, engine, weights = make()
    first = newton_cg(problem, engine, weights, Run.start(1e-3))
    again = newton_cg(problem, engine, weights, Run.start(1e-3))
    assert again.n_iter == 0
    assert again.gap <= first.gap


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_bounded_number_of_steps(most):
    found = newton_cg(*make(C=100.0), Run.start(1e-9, most))
    assert not found.converged
    assert found.n_iter == most == len(found.history) - 1


def test_working_sets_take_over_after_many_steps(monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 2)
    assert newton_cg(*make(C=100.0), Run.start(1e-5)) is None
    told = []
    found = train(*make(C=100.0), NEWTON_CG, Run.start(1e-4, watch=told.append))
    assert found.gap <= 1e-4
    assert told == found.history


@pytest.mark.parametrize(
    "kernel", [WeightedDegree(6), Spectrum(4), GappedKmer(6, 4)], ids=lambda one: type(one).__name__
)
def test_they_are_planned_for_sequences(kernel):
    X, y = make_splice(1100, 0.3, seed=1)
    model = MKLClassifier(kernel, loss="logistic").fit(X, y)
    assert "; Newton's method with conjugate gradients, then working" in repr(model.plan_)
    assert model.duality_gap_ <= 1e-3
    assert model.n_iter_ <= 10
    proba = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(np.log(proba / (1 - proba)), model.decision_function(X))


@pytest.mark.parametrize("norm", [1, 2, 4])
def test_weights_are_learned_with_them(norm):
    X, y = make_splice(1500, 0.3, seed=1)
    kernels = [WeightedDegree(6), Spectrum(4), GappedKmer(6, 4)]
    model = MKLClassifier(kernels, loss="logistic", norm=norm).fit(X, y)
    assert model.plan_.newton_cg
    assert model.duality_gap_ <= 1e-3
    slow = MKLClassifier(kernels, loss="logistic", norm=norm, working_set=500).fit(X, y)
    assert not slow.plan_.newton_cg
    assert model.primal_objective_ == pytest.approx(slow.primal_objective_, rel=2e-3)


@pytest.mark.parametrize("other", [{"loss": "hinge"}, {"n": 900}], ids=str)
def test_they_are_planned_only_where_they_suit(other):
    suited, others = make(n=1100)[:2], make(**{"n": 1100, **other})[:2]
    assert planned("auto", *suited).newton_cg
    assert not planned("auto", *suited, working_set=50).newton_cg
    assert not planned("auto", *others).newton_cg


@pytest.mark.parametrize("split", [None, "degree"])
def test_little_room_for_tries_changes_nothing(split):
    """The plan is the same, and so is the model, digit for digit."""
    X, y = make_splice(1500, positive_rate=0.2)
    models = [
        MKLClassifier(WeightedDegree(4, split=split), loss="logistic", cache_mb=room).fit(X, y)
        for room in (1024, 0.2)
    ]
    assert all(model.plan_.newton_cg for model in models)
    np.testing.assert_array_equal(*(model.dual_coef_ for model in models))
    np.testing.assert_array_equal(*(model.weights_ for model in models))
