"""The support kernel machine: its smoothed problem, its optimum, and its sparse weights."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import dense
from loss_cases import every_loss
from mkl_cases import begin
from scipy.optimize import minimize_scalar

from kernelweave import MKLClassifier, kernels, load, losses, norms
from kernelweave.common.core import _core
from kernelweave.optimization.methods.optimality import best_weights, optimality
from kernelweave.optimization.methods.qcqp import QCQP
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.methods.smoothed_problem import (
    SmoothedProblem,
    Smoothing,
    smoothed,
)
from kernelweave.optimization.methods.smoothing_bounds import (
    a_priori_smoothing,
    smoothed_optimality,
)
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem

KERNELS = [
    kernels.RBF(gamma=[0.1, 0.5, 2.0]),
    kernels.Linear(columns=[0]),
    kernels.Polynomial(2),
    kernels.RBF(gamma=1.0, columns=[2, 3]),
]
M = 6
NORMS = [norms.Lp(1), norms.Lp(1, weights=(1.0, 2.0, 0.5, 1.0, 3.0, 0.7)), norms.Block(1)]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: repr(norm)[:24])


def make(loss, norm, rng, n=60):
    X = rng.normal(size=(n, 4))
    target = X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=n)
    y = target if loss.kind == "regressor" else np.sign(target)
    tau = 0.3 * n if loss.kind == "one-class" else 0.0
    engine = dense(KERNELS, X, "variance")
    return Problem.of(loss, norm, y, rng.uniform(0.5, 2.0, size=n), tau), engine


def solve(problem, engine, method=None, **limits):
    solver = (method or SKM()).solver(engine.costs)
    return solver.solve(problem, engine, begin(problem, engine), Run.start(**limits))


def regularizer(mu, kappa, d):
    """R by a search over gamma."""

    def height(gamma):
        return gamma**2 / 2 + np.sum(np.maximum(mu - d * gamma, 0) ** 2) / (2 * kappa**2)

    return minimize_scalar(height, bounds=(0, mu.max() / max(d, 0.1)), options={"xatol": 1e-12}).fun


@pytest.mark.parametrize(("kappa", "d"), [(1.0, 0.0), (0.5, 1.0), (0.1, 1.0), (0.1, 0.9)])
def test_the_pull_is_the_gradient_of_the_smoothed_term(kappa, d, rng):
    mu = rng.uniform(0.1, 2.0, size=8)
    pull, step = smoothed(mu, kappa, d), 1e-4
    for m in range(len(mu)):
        move = step * (np.arange(len(mu)) == m)
        rate = (regularizer(mu + move, kappa, d) - regularizer(mu - move, kappa, d)) / (2 * step)
        assert pull[m] == pytest.approx(rate, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("kappa", [0.5, 0.1, 0.02])
def test_weights_of_the_original_problem_add_up(kappa, rng):
    mu = rng.uniform(0.1, 2.0, size=8)
    eta = smoothed(mu, kappa, 1.0) / mu
    assert np.sum(eta / (1 - kappa**2 * eta)) == pytest.approx(1.0)


@every_loss
def test_pair_steps_solve_the_smoothed_problem(loss, rng):
    problem, engine = make(loss, NORMS[1], rng, n=30)
    smooth = SmoothedProblem(problem, engine, begin(problem, engine), Run.start(), Smoothing(30))
    for kappa, d in ((1.0, 0.0), (0.5, 1.0), (0.2, 1.0)):
        smooth.kappa, smooth.d, smooth.shift = kappa, d, np.zeros(M)
        smooth.refresh()
        smooth._work(np.arange(30), 1e-8)
        assert smooth.violations().size <= 2e-8
        np.testing.assert_allclose(smooth.s, engine.outputs() @ engine.alpha)
        assert engine.alpha.sum() == pytest.approx(problem.tau, abs=1e-10)
        assert np.isfinite(problem.term.conjugate(engine.alpha)).all()


@every_loss
def test_the_gap_of_the_smoothed_problem_is_its_primal_minus_its_dual(loss, rng):
    problem, engine = make(loss, NORMS[1], rng, n=30)
    smooth = SmoothedProblem(problem, engine, begin(problem, engine), Run.start(), Smoothing(30))
    smooth._work(np.arange(30), 0.5)
    smooth.kappa, smooth.d, smooth.shift = 0.5, 1.0, np.zeros(M)
    smooth.refresh()
    weights = smooth.eta / smooth.cost
    bias = problem.certificate(engine.alpha, weights @ engine.outputs(), smooth.s, weights).bias
    lengths = weights * np.sqrt(smooth.s * smooth.cost)  # sqrt(c_m) ||w_m||
    primal = problem.C @ loss.value(weights @ engine.outputs() + bias, problem.y)
    primal += problem.tau * bias + 0.5 * lengths.sum() ** 2 + 0.125 * lengths @ lengths
    dual = -problem.term.conjugate(engine.alpha).sum() - regularizer(smooth.mu, 0.5, 1.0)
    assert smooth.smoothed_gap() == pytest.approx(primal - dual, rel=1e-6, abs=1e-6)
    assert smooth.smoothed_gap() > 0.01


@every_norm
@every_loss
def test_reaches_the_conic_optimum(loss, norm, rng):
    pytest.importorskip("clarabel")
    problem, engine = make(loss, norm, rng)
    result = solve(problem, engine, tol=1e-5)
    assert result.converged
    assert -1e-9 < result.gap <= 1e-5
    reference = solve(problem, engine, QCQP(), tol=1e-6)
    assert result.primal == pytest.approx(reference.primal, rel=2e-5)
    assert norm.value(result.weights) == pytest.approx(1.0)


def many_kernels(loss, X, y, C):
    """Kernels as they are, a hundred of them, of which p = 1 chooses few."""
    family = [kernels.RBF(gamma=list(np.geomspace(0.002, 2.0, 99))), kernels.Polynomial(2)]
    engine = dense(family, X)
    return Problem.of(loss, norms.Lp(1), y, np.full(len(y), C)), engine


def test_a_violent_start_does_not_pass_for_progress(rng):
    """The first alpha on the sum of many kernels violates more than any later problem does."""
    X = rng.normal(size=(40, 4))
    problem, engine = many_kernels(losses.SmoothHinge(), X, np.sign(X[:, 0]), 2.0)
    assert solve(problem, engine, tol=1e-3, max_iter=60).converged


def test_start_worse_than_the_constant_model_is_no_centre(rng):
    """The alphas of the logistic loss start at C / 2, and are no solution to regularise around."""
    x, y = rng.normal(size=(24, 1)), np.arange(24) % 3 > 0
    model = MKLClassifier(
        kernels.Linear(),
        norm=1,
        solver="skm",
        loss="logistic",
        C=850.0,
        normalize=None,
        max_iter=20,
    ).fit(x, y)
    assert model.duality_gap_ <= model.tol


def test_a_loss_that_is_nearly_a_constraint(rng):
    """A small violation is then most of the primal value, and a smaller kappa does not help."""
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + rng.normal(size=80)
    problem, engine = many_kernels(losses.EpsilonInsensitive(), X, y, 1e4)
    assert solve(problem, engine, tol=1e-3, max_iter=40).converged


@every_loss
def test_a_tolerance_below_rounding_ends(loss, rng):
    problem, engine = make(loss, norms.Lp(1), rng, n=30)
    result = solve(problem, engine, tol=1e-300)
    assert result.gap <= 1e-8


def test_kappa_stays_above_rounding(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    smooth = SmoothedProblem(problem, engine, begin(problem, engine), Run.start(), Smoothing(60))
    smooth._work(np.arange(60), 1e-3)
    for _ in range(600):  # as often as no progress asks for it
        smooth._advance(1.0)
    total = smooth.multipliers / smooth.cost @ smooth.mu
    assert total == pytest.approx(smooth.s.max(), rel=1e-6)


def test_small_working_sets_reach_the_same_optimum(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng, n=90)
    whole = solve(problem, engine, tol=1e-4)
    parts = solve(problem, engine, SKM(block_mb=0.05), tol=1e-4)
    assert parts.converged
    assert parts.primal == pytest.approx(whole.primal, rel=1e-4)


@pytest.mark.parametrize("q", [2, 10])
def test_working_sets_of_a_rare_class(q, rng):
    """Nearly all examples of a working set are of one class; a pair of both is always there."""
    X = rng.normal(size=(90, 4))
    X[:2] += 1.0
    y = np.where(np.arange(90) < 2, 1.0, -1.0)
    engine = dense(KERNELS, X, "variance")
    problem = Problem.of(losses.Hinge(), norms.Lp(1), y, np.ones(90))
    room = q**2 * 8 * M / 2**20
    result = solve(problem, engine, SKM(block_mb=room), tol=1e-3)
    assert result.converged


def test_single_class_gives_the_constant_model(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    result = solve(replace(problem, risk=replace(problem.risk, y=np.ones(60))), engine)
    assert result.converged
    assert not result.alpha.any()
    assert result.bias == pytest.approx(1.0)


def test_kernels_set_aside_are_taken_back(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    smooth = SmoothedProblem(problem, engine, begin(problem, engine), Run.start(), Smoothing(60))
    smooth.excluded[:] = True
    smooth.excluded[0] = False  # a wrong guess, that the next look at all kernels corrects
    for _ in range(40):
        smooth.improve(smooth.certify())
    assert smooth.certify().gap <= 1e-4
    assert smooth.readmitted.any()


@pytest.mark.parametrize("name", ["ionosphere", "breast_cancer_wisconsin", "sonar", "pima"])
def test_signs_at_the_optimum_on_real_data(name, load_real):
    data = load_real(name)
    X, y = data["X"].astype(float)[:200], data["y"].astype(float)[:200]
    X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    family = [kernels.RBF(gamma=np.geomspace(0.001, 1, 9)), kernels.Polynomial([1, 2, 3])]
    engine = dense(family, X, "unit")
    problem = Problem.of(losses.Hinge(), norms.Lp(1), y, np.ones(len(y)))
    result = solve(problem, engine, tol=1e-4)
    assert result.converged
    g = engine.outputs()
    eps1, eps2 = optimality(
        problem, result.alpha, result.weights @ g, g @ result.alpha, result.weights
    )
    assert result.optimality == pytest.approx((eps1, eps2))
    assert eps1 <= 1e-3 * result.primal
    margin = y * (result.weights @ engine.outputs() + result.bias)
    a = y * result.alpha
    assert np.all(margin[a == 0] >= 1 - 3 * eps2)
    assert np.all(margin[a == 1] <= 1 + 3 * eps2)
    inside = (a > 0) & (a < 1)
    np.testing.assert_allclose(margin[inside], 1.0, atol=3 * eps2)


def test_skm_reaches_the_requested_optimality(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    result = solve(problem, engine, SKM(eps1=1e-3, eps2=1e-3), tol=0.5)
    g = engine.outputs()
    eps1, eps2 = optimality(
        problem, result.alpha, result.weights @ g, g @ result.alpha, result.weights
    )
    assert result.optimality == pytest.approx((eps1, eps2))
    assert eps1 <= 1e-3
    assert eps2 <= 1e-3
    assert result.gap < 0.01


def test_models_report_their_optimality(rng, tmp_path):
    X = rng.normal(size=(60, 3))
    model = MKLClassifier(kernels.RBF([0.1, 1.0]), norm=1, normalize=None, solver=SKM(eps2=1e-2))
    eps1, eps2 = model.fit(X, X[:, 0] > 0).optimality_
    assert 0 <= eps2 <= 1e-2
    alpha = np.zeros(60)
    alpha[model.support_] = model.dual_coef_[0]
    height = 0.5 * np.einsum("i,mij,j->m", alpha, kernels.RBF([0.1, 1.0])(X), alpha)
    assert eps1 == pytest.approx(np.ptp(height) if model.weights_.all() else 0.0, abs=1e-9)
    model.save(tmp_path / "m.kw")
    np.testing.assert_array_equal(load(tmp_path / "m.kw").optimality_, model.optimality_)
    assert model.fit(X, np.arange(60) % 3).optimality_.shape == (3, 2)
    assert not hasattr(model.set_params(solver="auto").fit(X, X[:, 0] > 0), "optimality_")


def test_sparsify_removes_a_kernel_given_twice(rng):
    X = rng.normal(size=(60, 3))
    y = np.sign(X[:, 0] + 0.1 * rng.normal(size=60))
    twice = [kernels.RBF(gamma=0.2), kernels.Linear(), kernels.RBF(gamma=0.2)]
    engine = dense(twice, X, "variance")
    problem = Problem.of(losses.Hinge(), norms.Lp(1), y, np.ones(60))
    plain = solve(problem, engine, tol=1e-4)
    sparse = solve(problem, engine, SKM(sparsify=True), tol=1e-4)
    assert plain.weights[0] == pytest.approx(plain.weights[2])
    assert min(sparse.weights[0], sparse.weights[2]) == 0
    assert np.count_nonzero(sparse.weights) < np.count_nonzero(plain.weights)
    assert sparse.gap <= 1e-4


def test_best_weights_are_no_worse_than_those_of_the_solver(rng):
    problem, engine = make(losses.Hinge(), NORMS[1], rng)
    result = solve(problem, engine, tol=1e-3)
    s = engine.outputs() @ result.alpha
    used = np.flatnonzero(result.weights)
    costs = problem.norm.costs(M)[used]
    theta = np.zeros(M)
    theta[used] = best_weights(problem, result.alpha, engine.outputs()[used], costs)
    assert problem.norm.value(theta) == pytest.approx(1.0)
    given = optimality(problem, result.alpha, result.weights @ engine.outputs(), s, result.weights)[
        1
    ]
    assert optimality(problem, result.alpha, theta @ engine.outputs(), s, theta)[1] <= given + 1e-9


@pytest.mark.parametrize("name", ["eps1", "eps2", "block_mb"])
def test_refuses_negative_numbers(name):
    with pytest.raises(ValueError, match=f"{name} must be a number above 0"):
        SKM(**{name: -1.0})


@pytest.mark.parametrize("solver", ["skm", SKM(sparsify=True)])
def test_through_the_estimator(solver, rng):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > 0
    model = MKLClassifier(kernels.RBF(gamma=[0.1, 1.0]), norm=1, solver=solver).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="does not support norm=Lp"):
        MKLClassifier(kernels.RBF(gamma=[0.1, 1.0]), norm=2, solver=solver).fit(X, y)


A = (0.5, 2.0, 1.0, 0.7, 1.3)


@pytest.mark.parametrize(
    "solver", [SKM(kappa=0.2), SKM(mu=0.1), SKM(mu=0.9), SKM(a=A), SKM(kappa=0.5, mu=0.25, a=A)]
)
@pytest.mark.parametrize("intercept", [True, False])
def test_smoothing_parameters_do_not_change_the_optimum(solver, intercept, rng):
    X = rng.normal(size=(60, 4))
    y = X[:, 0] * X[:, 1] > 0
    family = kernels.RBF(gamma=[0.01, 0.05, 0.1, 0.5, 2.0])
    settings = {"norm": 1, "tol": 1e-6, "fit_intercept": intercept}
    model = MKLClassifier(family, solver=solver, **settings).fit(X, y)
    best = MKLClassifier(family, solver="auto", **settings).fit(X, y)
    assert model.primal_objective_ == pytest.approx(best.primal_objective_, rel=3e-6)


def test_the_pull_with_one_kappa_per_kernel_is_the_gradient(rng):
    mu, kappa, step = rng.uniform(0.1, 2.0, size=8), rng.uniform(0.2, 1.0, size=8), 1e-4

    def height(mu):
        def value(gamma):
            return gamma**2 / 2 + np.sum((np.maximum(mu - gamma, 0) / kappa) ** 2) / 2

        return minimize_scalar(value, bounds=(0, mu.max()), options={"xatol": 1e-12}).fun

    pull = smoothed(mu, kappa, 1.0)
    for m in range(len(mu)):
        move = step * (np.arange(len(mu)) == m)
        rate = (height(mu + move) - height(mu - move)) / (2 * step)
        assert pull[m] == pytest.approx(rate, rel=1e-3, abs=1e-4)
    eta = pull / mu
    assert np.sum(eta / (1 - kappa**2 * eta)) == pytest.approx(1.0)


@pytest.mark.parametrize("relative", [None, (0.5, 2.0, 1.0)])
@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (1.0, 1.5, 0.8)])
def test_smoothed_solutions_satisfy_theorem_1(relative, scales, rng):
    X, n, C = rng.normal(size=(40, 3)), 40, 0.5
    y, family = np.where(X[:, 0] > 0, 1.0, -1.0), kernels.RBF(gamma=[0.1, 0.5, 2.0])
    d = np.array(scales)
    problem = Problem.of(losses.Hinge(), norms.Lp(1, tuple(d**2)), y, np.full(n, C))
    engine, K = dense(family, X), family(X)
    a = a_priori_smoothing(K, C, eps1=0.5, eps2=0.2, d=d)
    relative = np.array(relative or d)
    kappa = a / relative.max()
    smoothing = Smoothing(n, kappa=kappa, a=tuple(relative))
    smooth = SmoothedProblem(problem, engine, begin(problem, engine), Run.start(), smoothing)
    for _ in range(100):
        smooth._work(np.arange(n), 1e-3)
        if smooth.violations().size <= 1e-2:
            break
    eps = smooth.violations().size
    theta = smooth._weights()
    found = optimality(problem, engine.alpha, engine.combined(theta), smooth.s, theta)
    promised = smoothed_optimality(K, C, kappa * relative, d=d, eps=eps)
    assert found[0] <= promised[0] <= 0.5
    assert found[1] <= promised[1]
    assert promised[1] - eps <= 0.1 + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kappa": 0.0}, "kappa must be a number above 0 and at most 1"),
        ({"kappa": 2.0}, "kappa must be a number above 0 and at most 1"),
        ({"mu": 1.0}, "mu must be a number above 0 and below 1"),
        ({"a": (1.0, -1.0)}, "a must be a sequence of positive finite numbers"),
    ],
)
def test_smoothing_parameters_outside_their_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SKM(**arguments)


def test_another_number_of_a_than_of_kernels_is_refused(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="a must have one entry for each of the 2 kernels"):
        MKLClassifier(kernels.RBF([0.1, 1.0]), norm=1, solver=SKM(a=(1.0,))).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"K": np.ones((2, 3))}, "K must have shape"),
        ({"K": np.zeros((1, 2, 2))}, "not zero"),
        ({"C": 0.0}, "C must be a finite number above 0"),
        ({"eps1": -1.0}, "eps1 must be a finite number above 0"),
        ({"eps2": np.inf}, "eps2 must be a finite number above 0"),
        ({"d": [1.0, 2.0]}, "d must have one entry for each of the 1 kernels"),
    ],
)
def test_bad_arguments_of_corollary_1(arguments, message):
    good = {"K": np.ones((1, 2, 2)), "C": 1.0, "eps1": 0.1, "eps2": 0.1}
    with pytest.raises(ValueError, match=message):
        a_priori_smoothing(**{**good, **arguments})


def test_stops_after_max_iter(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    result = solve(problem, engine, tol=1e-9, max_iter=3)
    assert result.n_iter == 3
    assert not result.converged
    assert len(result.history) == 4


def test_skm_in_the_core_refuses_unequal_lengths():
    one = np.ones(2)
    with pytest.raises(ValueError, match="differ in length"):
        _core.solve_skm(
            np.ones((1, 2, 2)), np.array([0]), np.ones(1), one, one, one, one, one, np.ones(3),
            np.full(1, 0.5), 1.0, np.zeros(1), 1e-3, 10, one.copy(), np.ones((1, 2)), np.ones(1),
        )  # fmt: skip
    with pytest.raises(ValueError, match="no such kernel"):
        _core.solve_skm(
            np.ones((1, 2, 2)), np.array([1]), np.ones(1), one, one, one, one, one, one,
            np.full(1, 0.5), 1.0, np.zeros(1), 1e-3, 10, one.copy(), np.ones((1, 2)), np.ones(1),
        )  # fmt: skip
