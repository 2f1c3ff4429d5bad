"""Models without an intercept: the dual without its equality, against independent solutions."""

import naive_mkl
import numpy as np
import pytest
from mkl_cases import begin, planned, splice_case, working_sets
from sklearn.svm import LinearSVC

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    load,
    losses,
    norms,
    verify,
)
from kernelweave.kernels import RBF, Linear, Precomputed, per_feature
from kernelweave.losses.risk import Risk
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradients
from kernelweave.optimization.inner.interior_points import interior_points
from kernelweave.optimization.inner.margin_newton import margin_newton
from kernelweave.optimization.inner.newton_cg import NewtonCG
from kernelweave.optimization.inner.subproblem import Subproblem
from kernelweave.optimization.inner.violations import Violations
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.run import Run
from kernelweave.problem.hard_margin import HardMarginProblem
from kernelweave.problem.problem import Problem


def squared_sum_prox(v, groups, step):
    """Return argmin ||w - v||^2 / 2 + step / 2 (sum_g ||w_g||)^2: norms shrink by step * sum."""
    sizes = np.array([np.linalg.norm(v[g]) for g in groups])
    falling = np.sort(sizes)[::-1]
    sums = np.cumsum(falling) / (1 + step * np.arange(1, len(sizes) + 1))
    shrink = step * sums.max()
    w = v.copy()
    for group, size in zip(groups, sizes, strict=True):
        w[group] *= max(0.0, 1 - shrink / size) if size > 0 else 0.0
    return w


def group_lasso(X, y, groups, C, iterations=20_000):
    """Return argmin C ||y - X w||^2 + (sum_g ||w_g||)^2 / 2, by accelerated proximal gradients."""
    step = 1 / (2 * C * np.linalg.norm(X, 2) ** 2)
    w = z = np.zeros(X.shape[1])
    t = 1.0
    for _ in range(iterations):
        new = squared_sum_prox(z + step * 2 * C * X.T @ (y - X @ z), groups, step)
        later = (1 + np.sqrt(1 + 4 * t * t)) / 2
        z, w, t = new + (t - 1) / later * (new - w), new, later
    return w


def data(rng, n=60, d=8):
    X = rng.normal(size=(n, d)) + 0.5
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) + 0.7


def test_group_lasso_by_proximal_gradients(rng):
    X, y = data(rng)
    groups = [[0, 1], [2, 3, 4], [5], [6, 7]]
    kernels, C = [Linear(columns=group) for group in groups], 0.2
    settings = {"norm": 1, "C": C, "loss": "squared", "normalize": None, "tol": 1e-7}
    model = MKLRegressor(kernels, fit_intercept=False, **settings).fit(X, y)
    w = group_lasso(X, y, groups, C)
    sizes = [np.linalg.norm(w[group]) for group in groups]
    value = C * np.sum((y - X @ w) ** 2) + 0.5 * np.sum(sizes) ** 2
    assert model.primal_objective_ == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(model.predict(X), X @ w, atol=1e-3)
    np.testing.assert_allclose(model.weights_, np.array(sizes) / np.sum(sizes), atol=1e-3)
    assert model.intercept_[0] == 0.0
    assert model.primal_objective_ > MKLRegressor(kernels, **settings).fit(X, y).primal_objective_


def test_ridge_regression_in_closed_form(rng):
    X, y = data(rng)
    C = 3.0
    settings = {"norm": np.inf, "C": C, "loss": "squared", "normalize": None, "tol": 1e-9}
    model = MKLRegressor(RBF(0.1), fit_intercept=False, **settings).fit(X, y)
    K = RBF(0.1)(X)
    alpha = np.linalg.solve(K + np.eye(len(y)) / (2 * C), y)
    np.testing.assert_allclose(model.predict(X), K @ alpha, atol=1e-4)
    assert model.constant_objective_ == pytest.approx(C * y @ y)


@pytest.mark.parametrize(("loss", "C"), [("hinge", 0.1), ("squared_hinge", 2.0)])
def test_linear_svm_of_liblinear(loss, C, rng):
    X, y = data(rng)
    labels = np.where(y > 0.5, 1, -1)
    other = LinearSVC(loss=loss, C=C, fit_intercept=False, dual=True, tol=1e-9, max_iter=10**6)
    w = other.fit(X, labels).coef_[0]
    settings = {"norm": np.inf, "C": C, "loss": loss, "normalize": None, "tol": 1e-8}
    model = MKLClassifier(Linear(), fit_intercept=False, **settings).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), X @ w, atol=1e-3)


def test_hard_margin_is_the_limit_of_soft_ones(rng):
    X, y = data(rng, 40, 3)
    labels = np.where(y > 0.5, 1, -1)
    settings = {"norm": 1, "fit_intercept": False, "normalize": "unit", "tol": 1e-5}
    hard = MKLClassifier(RBF([0.5, 2.0]), C=np.inf, **settings).fit(X, labels)
    soft = MKLClassifier(RBF([0.5, 2.0]), C=1e6, **settings).fit(X, labels)
    assert hard.primal_objective_ == pytest.approx(soft.primal_objective_, rel=1e-4)
    assert (labels * hard.decision_function(X)).min() >= 1 - 1e-9
    assert verify(hard, X, labels).agree


def test_hard_margin_of_one_class_is_not_constant():
    y = np.ones(3)
    problem = HardMarginProblem.separating(losses.Hinge(), norms.Lp(1), y, y > 0, None)
    assert problem.constant == np.inf
    assert not problem.constant_is_optimal(0.0)


def without_intercept(loss, C=1.0, **case):
    problem, engine, _ = splice_case(loss, C, **case)
    problem = Problem.of(problem.loss, problem.norm, problem.y, problem.C, None)
    return problem, engine, begin(problem, engine)


@pytest.mark.parametrize(
    ("loss", "first"),
    [
        ("hinge", ConjugateGradients()),
        ("squared_hinge", ConjugateGradients(record=True)),
        ("squared", ConjugateGradients()),
        ("epsilon_insensitive", ConjugateGradients()),
        ("logistic", NewtonCG("matrix")),
        ("smooth_hinge", NewtonCG("engine")),
    ],
)
def test_inner_solvers_agree_with_working_sets(loss, first):
    problem, engine, weights = without_intercept(loss)
    expected = working_sets(engine, 50).solve(problem, engine, weights, Run.start(1e-5))
    problem, engine, weights = without_intercept(loss)
    given = problem.with_weights(weights)
    solver = Fallback(first, working_sets(engine), 100)
    found = solver.solve(given, engine, weights, Run.start(1e-4))
    assert found.converged
    assert found.primal == pytest.approx(expected.primal, rel=3e-4)
    assert found.bias == 0.0


@pytest.mark.parametrize("loss", ["hinge", "squared", "epsilon_insensitive", "logistic"])
def test_subproblems_without_smo(loss, rng):
    """Interior points and Newton on the primal satisfy down <= 0 <= up."""
    kind = "regressor" if loss in ("squared", "epsilon_insensitive") else "classifier"
    y = rng.normal(size=30) if kind == "regressor" else rng.choice([-1.0, 1.0], 30)
    root = rng.normal(size=(30, 40)) / 6
    risk = Risk(losses.get(loss, kind), y, np.full(30, 2.0), None)
    kernel, start = root @ root.T, risk.feasible_alpha()
    F = kernel @ start
    problem = Subproblem(kernel, risk.term, start, F, fixed_sum=False)
    method = margin_newton if loss == "logistic" else interior_points
    each = (Violations(risk.term, a, kernel @ a, fixed_sum=False) for a in method(problem))
    found = min(each, key=lambda violations: violations.size)  # working sets keep the best iterate
    assert found.size <= 1e-9
    assert found.middle == 0.0
    assert found.correction <= found.size


def test_violations_count_from_zero():
    term = losses.Squared().dual_term(np.array([1.0, -3.0]), np.ones(2))
    found = Violations(term, np.zeros(2), np.zeros(2), fixed_sum=False)
    assert (found.size, found.middle, found.correction) == (4.0, 0.0, 3.0)
    shifted = Violations(term, np.zeros(2), np.full(2, 5.0), fixed_sum=False)
    assert (shifted.size, shifted.correction) == (8.0, 8.0)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_feasible_alpha_has_finite_slopes(loss):
    risk = Risk(losses.get(loss, "classifier"), np.array([1.0, 1.0, -1.0]), np.ones(3), None)
    alpha = risk.feasible_alpha()
    assert risk.is_feasible(alpha)
    assert np.isfinite(risk.conjugate(alpha))
    assert risk.best_bias(np.full(3, 7.0)) == 0.0
    assert risk.infeasibility_gain(np.ones(3), 2.0) == 0.0


def test_targets_are_not_centred_without_an_intercept():
    with pytest.raises(ValueError, match="centre must be 0 without an intercept"):
        Risk(losses.Squared(), np.ones(2), np.ones(2), None, centre=1.0)


def test_hessian_of_the_risk_is_a_difference_quotient(rng):
    y, F, change = rng.choice([-1.0, 1.0], 9), rng.normal(size=9), rng.normal(size=9)
    risk = Risk(losses.Logistic(), y, np.full(9, 1.5), None)
    t = 1e-6
    ahead, behind = risk.response(F + t * change), risk.response(F - t * change)
    quotient = (behind.alpha - ahead.alpha) / (2 * t)
    np.testing.assert_allclose(risk.response(F).hessian(change), quotient, atol=1e-7)


@pytest.mark.parametrize("share", [True, False])
def test_several_outputs_and_files(share, rng, tmp_path):
    X, y = data(rng)
    codes = np.digitize(y, [0, 1])
    settings = {"norm": 2, "C": 1.0, "fit_intercept": False, "share_weights": share}
    model = MKLClassifier(RBF([0.1, 1.0]), **settings).fit(X, codes)
    assert not model.intercept_.any()
    assert verify(model, X, codes).agree
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw")
    assert again.fit_intercept is False
    assert verify(again, X, codes).agree
    targets = np.column_stack([y, -y + 1])
    several = MKLRegressor(RBF([0.1, 1.0]), **settings).fit(X, targets)
    assert verify(several, X, targets).agree
    labels = (targets > 0.5).astype(int)
    assert verify(MKLClassifier(RBF([0.1, 1.0]), **settings).fit(X, labels), X, labels).agree


def test_searches_pass_on_fit_intercept(rng):
    X, y = data(rng)
    grid = {"norms": [1, 2], "Cs": [0.1, 1.0], "cv": 2, "fit_intercept": False}
    search = MKLClassifierCV(RBF([0.1, 1.0]), **grid).fit(X, y > 0.5)
    assert search.intercept_[0] == 0.0
    assert verify(search, X, y > 0.5).agree
    regressor = MKLRegressorCV(RBF([0.1, 1.0]), **grid).fit(X, y)
    assert regressor.intercept_[0] == 0.0
    assert verify(regressor, X, y).agree


def test_a_constant_kernel_is_a_penalised_intercept(rng):
    X, y = data(rng)
    ones = np.ones((len(y), len(y)))
    settings = {"norm": np.inf, "C": 1.0, "loss": "squared", "normalize": None, "tol": 1e-8}
    matrices = np.stack([X @ X.T, ones])
    kernels = [Precomputed(matrices[0]), Precomputed(matrices[1])]
    model = MKLRegressor(kernels, fit_intercept=False, **settings).fit(np.arange(len(y)), y)
    alpha = np.linalg.solve(matrices.sum(axis=0) + np.eye(len(y)) / 2, y)
    expected = matrices.sum(axis=0) @ alpha
    np.testing.assert_allclose(model.predict(np.arange(len(y))), expected, atol=1e-3)


def test_checkpoints_accept_any_sum(rng, tmp_path):
    X, y = data(rng)
    settings = {"norm": 1, "fit_intercept": False, "checkpoint": tmp_path / "state", "tol": 1e-6}
    with pytest.warns(Warning, match="max_iter"):
        MKLClassifier(RBF([0.1, 1.0]), max_iter=1, **settings).fit(X, y > 0.5)
    model = MKLClassifier(RBF([0.1, 1.0]), **settings).fit(X, y > 0.5)
    assert model.duality_gap_ <= 1e-6


def test_skm_solutions_satisfy_their_optimality(rng):
    X, y = data(rng)
    solver = SKM(eps1=1e-3, eps2=1e-3, sparsify=True)
    settings = {"norm": 1, "solver": solver, "fit_intercept": False, "normalize": "unit"}
    model = MKLClassifier(RBF([0.05, 0.1, 1.0]), **settings).fit(X, y > 0.5)
    assert (model.optimality_ <= 1e-3).all()


@pytest.mark.parametrize("solver", ["auto", "newton", "level"])
def test_recomputed_with_many_examples(solver):
    """Working sets smaller than the data, engines with recorded products, drop of small weights."""
    problem, engine, _ = without_intercept("hinge", n=400)
    problem = Problem.of(problem.loss, norms.Lp(1), problem.y, problem.C, None)
    plan = planned(solver, problem, engine, working_set=50)
    result = plan.solver.solve(problem, engine, begin(problem, engine), Run.start(1e-4))
    K = engine.blocks(np.arange(engine.n))
    assert naive_mkl.certificate(K, problem, result)[2] == pytest.approx(result.gap, abs=1e-9)
    assert result.gap <= 1e-4


def test_fit_intercept_is_yes_or_no(rng):
    X, y = data(rng)
    with pytest.raises(ValueError, match="fit_intercept must be True or False, got 'no'"):
        MKLClassifier(per_feature(Linear()), fit_intercept="no").fit(X, y > 0.5)
