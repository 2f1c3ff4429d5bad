"""Newton's method with conjugate gradients: the optimum of working sets, for smooth losses."""

import naive_mkl
import numpy as np
import pytest
from mkl_cases import Unreached, check_optimum, planned, splice_case, uses
from scipy.optimize import minimize

from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.kernels import GappedKmer, Spectrum, WeightedDegree
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner.newton_cg import (
    CGStop,
    NewtonCG,
    NewtonCGTuning,
    Point,
    newton_step,
)
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.run import Run


def make(loss="logistic", C=1.0, **how):
    return splice_case(loss, C, **how)


def newton_cg(problem, engine, weights, run, products="engine"):
    """Solve without a fallback."""
    return NewtonCG(products).solve(problem, engine, weights, run)


@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_same_optimum_as_working_sets(loss, C):
    check_optimum(Fallback(NewtonCG(), Unreached(), 50), loss, C, 1e-5)


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


def test_gap_is_that_of_plain_numpy():
    problem, engine, weights = make()
    found = newton_cg(problem, engine, weights, Run.start(1e-6))
    K = engine.block(np.arange(engine.n), np.ones(1))[None]
    assert naive_mkl.certificate(K, problem, found)[2] <= 1.01e-6


def test_step_solves_the_newton_equations():
    """1/2 r' K r is the primal value of beta minus the dual value of alpha."""
    problem, engine, weights = make(n=200)
    K = engine.block(np.arange(200), weights)
    nothing = np.zeros(200)
    point = Point.of(problem, nothing, nothing)
    assert point.alpha.sum() == pytest.approx(0.0, abs=1e-12)
    product = K @ (point.alpha - point.beta)
    dual = problem.dual(point.alpha, np.array([point.alpha @ K @ point.alpha]) / weights)
    apart = 0.5 * (point.alpha - point.beta) @ product
    assert point.value - dual == pytest.approx(apart)

    delta, of_delta = newton_step(point, product, K.__matmul__, CGStop(1e-16, 200))
    np.testing.assert_allclose(of_delta, K @ delta, atol=1e-10)
    D = np.array([point.response.hessian(unit) for unit in np.eye(200)])
    exact = np.linalg.solve(np.eye(200) + D @ K, point.alpha - point.beta)
    np.testing.assert_allclose(K @ delta, K @ exact, atol=1e-7)


def test_examples_without_cost_stay_at_zero():
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


@pytest.mark.parametrize("products", ["engine", "matrix"])
def test_products_lead_to_the_same_optimum(products):
    found = newton_cg(*make(), Run.start(1e-7), products)
    expected = newton_cg(*make(), Run.start(1e-7))
    assert found.converged
    assert found.primal == pytest.approx(expected.primal, rel=1e-6)


def test_working_sets_take_over_after_many_steps():
    two = NewtonCGTuning(newton_steps=2)
    with pytest.raises(AssertionError, match="gave way"):
        Fallback(NewtonCG(tuning=two), Unreached(), 50).solve(*make(C=100.0), Run.start(1e-5))
    watched = []
    solver = Fallback(NewtonCG(tuning=two), WorkingSets(50), 50)
    found = solver.solve(*make(C=100.0), Run.start(1e-4, watch=watched.append))
    assert found.gap <= 1e-4
    assert watched == found.history


def test_problems_of_few_examples_are_left_to_working_sets():
    problem, engine, weights = make(n=50)
    solver = Fallback(NewtonCG(), WorkingSets(50), 50)
    found = solver.solve(problem, engine, weights, Run.start(1e-4))
    expected = WorkingSets(50).solve(*make(n=50), Run.start(1e-4))
    np.testing.assert_array_equal(found.alpha, expected.alpha)
    with pytest.raises(AssertionError, match="gave way"):
        Fallback(NewtonCG(), Unreached(), 50).solve(*make(n=50), Run.start(1e-4))


@pytest.mark.parametrize(
    "kernel", [WeightedDegree(6), Spectrum(4), GappedKmer(6, 4)], ids=lambda one: type(one).__name__
)
def test_newton_cg_is_planned_for_sequences(kernel):
    X, y = make_splice(1100, 0.3, random_state=1)
    model = MKLClassifier(kernel, loss="logistic").fit(X, y)
    assert uses(model.plan_, NewtonCG)
    assert isinstance(model.plan_.solver, Fallback)
    assert isinstance(model.plan_.solver.then, WorkingSets)
    assert model.duality_gap_ <= 1e-3
    assert model.n_iter_ <= 10
    proba = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(np.log(proba / (1 - proba)), model.decision_function(X))


@pytest.mark.parametrize("norm", [1, 2, 4])
def test_weights_learned_with_newton_cg_are_optimal(norm):
    X, y = make_splice(1500, 0.3, random_state=1)
    kernels = [WeightedDegree(6), Spectrum(4), GappedKmer(6, 4)]
    model = MKLClassifier(kernels, loss="logistic", norm=norm).fit(X, y)
    assert uses(model.plan_, NewtonCG)
    assert model.duality_gap_ <= 1e-3
    slow = MKLClassifier(kernels, loss="logistic", norm=norm, working_set=500).fit(X, y)
    assert not uses(slow.plan_, NewtonCG)
    assert model.primal_objective_ == pytest.approx(slow.primal_objective_, rel=2e-3)


@pytest.mark.parametrize("other", [{"loss": "hinge"}, {"n": 900}], ids=str)
def test_newton_cg_is_planned_only_for_many_examples_and_smooth_losses(other):
    suited, others = make(n=1100)[:2], make(**{"n": 1100, **other})[:2]
    assert uses(planned("auto", *suited), NewtonCG)
    assert isinstance(planned("auto", *suited, working_set=50).solver, WorkingSets)
    assert not uses(planned("auto", *others), NewtonCG)


@pytest.mark.parametrize("split", [None, "degree"])
def test_small_caches_change_nothing(split):
    """The plan and the model are the same, bit for bit."""
    X, y = make_splice(1500, positive_rate=0.2)
    models = [
        MKLClassifier(WeightedDegree(4, split=split), loss="logistic", cache_mb=room).fit(X, y)
        for room in (1024, 0.2)
    ]
    assert all(uses(model.plan_, NewtonCG) for model in models)
    np.testing.assert_array_equal(*(model.dual_coef_ for model in models))
    np.testing.assert_array_equal(*(model.weights_ for model in models))
