"""Multiplicative weights: the paper's formulas, certified models, and readable refusals."""

import numpy as np
import pytest
from kernel_cases import dense, training_set
from mkl_cases import begin
from scipy.linalg import expm
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, kernels, losses, norms, verify
from kernelweave.common.core import _core
from kernelweave.engines.streamed import StreamedEngine
from kernelweave.kernels import prepare
from kernelweave.optimization.methods.game import Game
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem

KERNELS = [kernels.RBF(gamma=[0.1, 0.5, 2.0]), kernels.Polynomial([1, 2])]
M = 5


def make(rng, C=1.0, n=60, weights=None, how="unit"):
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1.0, -1.0)
    engine = dense(KERNELS, X, how)
    return Problem.of(losses.SquaredHinge(), norms.Lp(1, weights), y, np.full(n, C)), engine


def solve(problem, engine, solver, **limits):
    weights = begin(problem, engine)
    return solver.solver(engine.costs).solve(problem, engine, weights, Run.start(**limits))


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5, 1.0, 3.0)])
def test_certified_near_the_optimum(weights, rng):
    problem, engine = make(rng, weights=weights)
    result = solve(problem, engine, MWU(eps=0.05), tol=0.02)
    assert result.converged
    assert 0 < result.gap <= 0.02
    expected = np.einsum("mij,j->mi", engine.blocks(np.arange(engine.n)), result.alpha)
    np.testing.assert_allclose(engine.outputs(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(engine.alpha, result.alpha)
    best = solve(problem, engine, SKM(), tol=1e-4)
    assert best.primal == pytest.approx(result.primal, rel=0.03)
    assert problem.norm.value(result.weights) == pytest.approx(1.0)


def test_smaller_eps_gives_smaller_gaps(rng):
    gaps = []
    for eps in (0.5, 0.2, 0.1):
        problem, engine = make(np.random.default_rng(1))
        gaps.append(solve(problem, engine, MWU(eps=eps), tol=1e-6).gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05


def test_default_eps_follows_the_tolerance(rng):
    assert MWU().accuracy(1.0) == MWU().accuracy() == 0.1
    assert MWU().accuracy(0.02) == pytest.approx(0.04)
    assert MWU().accuracy(0.01) == pytest.approx(0.02)
    assert MWU().accuracy(1e-3) == 0.1
    assert MWU(eps=0.3).accuracy(1e-6) == 0.3


def test_default_reaches_a_gap_of_a_hundredth(rng):
    problem, engine = make(rng)
    assert not solve(problem, engine, MWU(eps=0.1), tol=0.01).converged
    result = solve(problem, engine, MWU(), tol=0.01)
    assert result.converged
    assert result.gap <= 0.01


def test_large_C_is_the_hard_margin(rng):
    X = rng.normal(size=(40, 2))
    y = np.sign(X[:, 0])
    X[:, 0] += y
    engine = dense(kernels.Linear(), X)
    problem = Problem.of(losses.SquaredHinge(), norms.Lp(1), y, np.full(40, 1e8))
    result = solve(problem, engine, MWU(eps=0.05), tol=0.02)
    margin = y * (result.weights @ engine.outputs() + result.bias)
    assert result.converged
    assert margin.min() > 1 - 1e-3


def test_weights_are_the_exponential_of_the_paper(rng):
    problem, engine = make(rng, n=12)
    game = Game(problem, engine)
    for _ in range(6):
        game.play(0.7)
    G = engine.blocks(np.arange(12)) + np.diag(problem.term.curv)
    corners = []
    for m in range(M):
        root = np.linalg.cholesky(G[m] + 1e-12 * np.eye(12)).T
        u = root @ engine.alpha
        matrix = np.block([[np.zeros((12, 12)), u[:, None]], [u[None], np.zeros((1, 1))]])
        corner = expm(-0.7 * matrix)[:12, 12]  # p12 times the direction of u
        corners.append(-(corner @ u) / (u @ u))
    np.testing.assert_allclose(game.mu, np.array(corners) / np.sum(corners), rtol=1e-6)


def test_large_exponents_do_not_overflow(rng):
    problem, engine = make(rng)
    game = Game(problem, engine)
    game.play(1.0)

    def weights(rate):
        game.update_weights(rate)
        return game.mu

    assert np.isfinite(weights(1e6)).all()
    assert weights(1e6).max() > 0.99
    np.testing.assert_allclose(
        weights(19.0 / game.longest), weights(20.5 / game.longest), atol=0.05
    )
    np.testing.assert_allclose(weights(0.0), weights(1e-9), rtol=1e-6)


@pytest.mark.parametrize("scaling", ["unit", "trace"])
def test_printed_scalings_are_certified_too(scaling, rng):
    problem, engine = make(rng)
    result = solve(problem, engine, MWU(eps=0.3, scaling=scaling), tol=0.3)
    assert np.isfinite(result.gap)
    assert result.gap > 0
    assert result.weights.sum() == pytest.approx(1.0)


def test_a_too_small_width_is_refused(rng):
    problem, engine = make(rng, how="center")
    with pytest.raises(ValueError, match="negative values"):
        solve(problem, engine, MWU(eps=0.3, scaling="unit", rho=1.01), tol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": 0.0}, "eps must be None or a number above 0 and below 1"),
        ({"eps": -0.1}, "eps must be None or a number above 0 and below 1"),
        ({"eps": float("nan")}, "eps must be None or a number above 0 and below 1"),
        ({"eps": 1.0}, "eps must be None or a number above 0 and below 1"),
        ({"scaling": "none"}, "scaling must be one of"),
        ({"rho": float("inf")}, "rho must be None or a finite number above 1"),
        ({"rho": 1.0}, "rho must be None or a finite number above 1"),
        ({"stage": "sum"}, "stage must be None or one of"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        MWU(**arguments)


def test_one_class_is_refused(rng):
    _, engine = make(rng)
    problem = Problem.of(losses.SquaredHinge(), norms.Lp(1), np.ones(60), np.ones(60))
    with pytest.raises(ValueError, match="both classes"):
        solve(problem, engine, MWU(), tol=0.1)


@pytest.mark.parametrize("solver", ["mwu", MWU(eps=0.2)])
def test_through_the_estimator(solver, rng):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > 0
    family = kernels.RBF(gamma=[0.1, 1.0])
    settings = {"norm": 1, "normalize": "unit", "solver": solver, "tol": 0.1}
    model = MKLClassifier(family, loss="squared_hinge", **settings).fit(X, y)
    assert model.duality_gap_ <= 0.1
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="with loss='logistic'"):
        MKLClassifier(family, loss="logistic", **settings).fit(X, y)


def separated(rng, n=80):
    """Two classes that RBF kernels separate."""
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3, 1, -1)


FAMILY = kernels.RBF(gamma=[0.05, 0.3, 2.0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 20.0, np.inf])
def test_hinge_and_hard_margin_are_solved(C, intercept, rng):
    X, y = separated(rng)
    same = {"norm": 1, "C": C, "fit_intercept": intercept, "normalize": "unit"}
    model = MKLClassifier(FAMILY, solver=MWU(eps=0.05), tol=0.05, **same).fit(X, y)
    assert model.duality_gap_ <= 0.05
    exact = MKLClassifier(FAMILY, tol=1e-6, **same).fit(X, y)
    assert model.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)
    assert exact.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)
    bound = C if np.isfinite(C) else np.inf
    assert np.all(np.abs(model.dual_coef_) <= bound)
    assert verify(model, X, y).agree
    if not np.isfinite(C):
        assert np.all(y * model.decision_function(X) >= 1 - 1e-9)


def test_default_continues_until_a_hard_margin_is_certified(rng):
    X, y = separated(np.random.default_rng(0), n=300)
    same = {"norm": 1, "C": np.inf, "fit_intercept": False, "normalize": "unit", "tol": 0.05}
    with pytest.warns(ConvergenceWarning, match="eps=0.1 allows"):
        MKLClassifier(FAMILY, solver=MWU(eps=0.1), **same).fit(X, y)
    model = MKLClassifier(FAMILY, solver="mwu", **same).fit(X, y)
    assert model.duality_gap_ <= 0.05
    assert verify(model, X, y).agree


def test_continued_games_begin_with_the_mean_of_their_rounds(rng):
    problem, engine = make(rng)
    game = Game(problem, engine)
    for _ in range(30):
        game.play(1.0)
    engine.move_to(*engine.snapshot().scaled(0.1))
    s, ridge_part = game.s.copy(), game.ridge_part
    again = Game(problem, engine, played=30)
    assert again.rounds == 30
    np.testing.assert_allclose(again.s, s)
    assert again.ridge_part == pytest.approx(ridge_part)
    again.update_weights(1.0)
    np.testing.assert_allclose(again.mu, game.mu)


def test_rounds_of_the_hinge_respect_the_bounds(rng):
    problem, engine = make(rng)
    C = np.linspace(0.5, 2.0, engine.n)
    problem = Problem.of(losses.Hinge(), problem.norm, problem.y, C)
    total = 0.7 * Game(problem, engine).largest_total
    game = Game(problem, engine, total=total)
    for _ in range(20):
        game.play(1.0)
        a = problem.y * engine.alpha / game.rounds
        assert np.all(a <= C / total * (1 + 1e-12))
        assert a[problem.y > 0].sum() == pytest.approx(0.5)
        assert a[problem.y < 0].sum() == pytest.approx(0.5)


def test_a_vertex_minimises_the_margins_within_the_bounds(rng):
    """The linear program of a round, against a solver of linear programs."""
    problem, engine = make(rng, n=30)
    problem = Problem.of(losses.Hinge(), problem.norm, problem.y, rng.random(30) + 0.1)
    total = 0.6 * Game(problem, engine).largest_total
    game, margins = Game(problem, engine, total=total), rng.normal(size=30)
    a = np.zeros(30)
    for side in game.sides:
        chosen, amounts = game._filled(side, margins)
        a[chosen] = amounts
    sums = np.stack([problem.y > 0, problem.y < 0]).astype(float)
    limits = [(0.0, cap) for cap in problem.C / total]
    best = linprog(margins, A_eq=sums, b_eq=[0.5, 0.5], bounds=limits)
    assert margins @ a == pytest.approx(best.fun)


def test_inseparable_classes_are_refused(rng):
    X = np.repeat(rng.normal(size=(20, 2)), 2, axis=0)
    y = np.tile([1, -1], 20)
    with pytest.raises(ValueError, match="found no model without errors in"):
        MKLClassifier(FAMILY, norm=1, C=np.inf, solver=MWU(eps=0.3)).fit(X, y)


@pytest.mark.parametrize("stage", ["alignment", "centered-alignment"])
@pytest.mark.parametrize(("norm", "loss"), [(1, "hinge"), (2, "squared_hinge")])
def test_second_stage_after_alignment(stage, norm, loss, rng):
    X, y = separated(rng)
    same = {"norm": norm, "C": 1.0, "loss": loss, "normalize": "unit"}
    solver = MWU(eps=0.05, stage=stage)
    model = MKLClassifier(FAMILY, solver=solver, tol=0.05, **same).fit(X, y)
    exact = MKLClassifier(FAMILY, solver=stage, tol=1e-6, **same).fit(X, y)
    assert model.duality_gap_ <= 0.05
    np.testing.assert_allclose(model.weights_, exact.weights_)
    assert exact.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)
    assert model.primal_objective_ <= 1.06 * exact.primal_objective_
    assert model.certifies_ == "model with fixed weights"
    assert verify(model, X, y).agree


def streamed(X, family=KERNELS):
    return StreamedEngine(training_set(family, X, "unit", n_jobs=2))


def test_core_refuses_coefficients_of_another_length(rng):
    compiled, examples = prepare(KERNELS, "unit", rng.normal(size=(20, 4)))
    with pytest.raises(ValueError, match="coef must be"):
        _core.quadratic(compiled.program, examples.side, np.ones(19))


@pytest.mark.parametrize("weights", [None, tuple(np.linspace(0.5, 2.0, 40))])
def test_sifting_is_certified_among_all_kernels(weights, rng, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.methods.mwu.FIRST", 4)
    monkeypatch.setattr("kernelweave.optimization.methods.sifting.ENTER", 4)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1.0, -1.0)
    family = kernels.RBF(gamma=np.geomspace(1e-3, 10, 40))
    problem = Problem.of(losses.SquaredHinge(), norms.Lp(1, weights), y, np.ones(60))
    result = solve(problem, streamed(X, family), MWU(eps=0.05), tol=0.05)
    assert result.converged
    assert result.weights.shape == (40,)
    engine = dense(family, X, "unit")
    engine.move_to(result.alpha)
    s, F = engine.quadratic(), engine.combined(result.weights)
    again = problem.certificate(result.alpha, F, s, result.weights)
    assert again.gap == pytest.approx(result.gap, rel=1e-9)


def test_sifting_is_chosen_by_cost():
    """A few kernels are cached however many examples there are, many kernels are sifted."""
    mwu = MWU(eps=0.1)
    assert not mwu.streams(3, 50_000)
    assert not mwu.streams(1200, 208)
    assert mwu.streams(12_000, 208)
    assert mwu.streams(10**6, 208)
    assert not MWU(eps=0.9).streams(30_000, 400)  # few rounds: a pass over all pairs costs more
    sizes = [mwu.streams(M, 208) for M in range(1000, 60_000, 1000)]
    assert sizes == sorted(sizes)


def test_very_many_kernels_are_streamed_by_the_estimator(rng, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.methods.mwu.LARGE", 1000)
    X = rng.normal(size=(60, 3))
    settings = {"norm": 1, "normalize": "unit", "solver": MWU(eps=0.1), "tol": 0.1}
    family = kernels.RBF(gamma=np.geomspace(0.01, 10, 30))
    model = MKLClassifier(family, loss="squared_hinge", **settings).fit(X, X[:, 0] > 0)
    assert model.duality_gap_ <= 0.1
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.score(X, X[:, 0] > 0) > 0.9
