"""The conic reference: the certified optimum for every loss and norm, and that of working sets."""

import sys

import numpy as np
import pytest
from kernel_cases import dense
from loss_cases import LOSSES, every_loss
from mkl_cases import planned
from sklearn.datasets import load_iris

from kernelweave import MKLClassifier, kernels, losses, norms
from kernelweave.optimization.methods import qcqp
from kernelweave.optimization.methods.polish import Point, polish
from kernelweave.optimization.named_methods import METHODS
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve as solve_by_plan
from kernelweave.problem.problem import Problem

pytest.importorskip("clarabel")

KERNELS = [kernels.RBF(gamma=[0.1, 0.5, 2.0]), kernels.Linear(columns=[0]), kernels.Polynomial(2)]
M = 5
NORMS = [
    norms.Lp(1),
    norms.Lp(1, weights=(1.0, 2.0, 0.5, 1.0, 3.0)),
    norms.Lp(1.3),
    norms.Lp(2, weights=(1.0, 2.0, 0.5, 1.0, 3.0)),
    norms.Lp(np.inf),
    norms.Elliptic(np.eye(M) + 0.2),
    norms.Block(1),
    norms.Block(1.5),
    norms.Block(3),
]
SMOOTH = [norm for norm in NORMS if METHODS["analytic"].serves(norm)]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: repr(norm)[:18])


def make(loss, norm, rng, n=40):
    X = rng.normal(size=(n, 4))
    target = X[:, 0] + 0.3 * rng.normal(size=n)
    y = target if loss.kind == "regressor" else np.sign(target)
    tau = 0.3 * n if loss.kind == "one-class" else 0.0
    engine = dense(KERNELS, X, "variance")
    return Problem.of(loss, norm, y, rng.uniform(0.5, 2.0, size=n), tau), engine


def solve(name, problem, engine, tol):
    return solve_by_plan(problem, engine, planned(name, problem, engine), Run.start(tol))


@every_norm
@every_loss
def test_certified_optimum(loss, norm, rng):
    problem, engine = make(loss, norm, rng)
    result = solve("qcqp", problem, engine, 1e-8)
    assert result.converged
    assert -1e-9 < result.gap <= 1e-8
    assert norm.value(result.weights) <= 1 + 1e-9


@pytest.mark.parametrize("norm", SMOOTH, ids=lambda norm: repr(norm)[:18])
@every_loss
def test_same_optimum_as_working_sets(loss, norm, rng):
    problem, engine = make(loss, norm, rng)
    reference = solve("qcqp", problem, engine, 1e-8)
    result = solve("analytic", problem, engine, 1e-6)
    assert result.dual == pytest.approx(reference.dual, rel=1e-6)
    np.testing.assert_allclose(result.weights, reference.weights, atol=2e-2)


@pytest.mark.parametrize("p", [1, 1.01, 1.1, 2, 4, 16, np.inf])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_iris_at_any_exponent(p, C):
    """Power cones that Clarabel must not rescale, and classes that a hard margin separates."""
    X, y = load_iris(return_X_y=True)
    third = slice(None, None, 3)
    family = kernels.per_feature(kernels.RBF(1.0))
    settings = {"norm": p, "C": C, "normalize": None, "solver": "qcqp", "tol": 1e-5}
    model = MKLClassifier(family, **settings).fit(X[third], y[third])
    assert np.all(model.duality_gap_ <= 1e-5)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("loss", "p", "C"),
    [
        (losses.OneClass(), 1.01, 1.0),  # Clarabel stands still, and shorter steps do not
        (losses.Hinge(), 1.01, 1.0),
        (losses.Hinge(), 1 + 1e-4, 1e4),  # the dual norm is flat to within rounding
        (losses.Hinge(), 1 + 1e-6, 1e4),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_many_kernels_near_the_sparse_norm(loss, p, C, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    family = [kernels.RBF(gamma=np.geomspace(0.002, 2.0, 99)), kernels.Polynomial(2)]
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=40))
    tau = 12.0 if loss.kind == "one-class" else 0.0
    problem = Problem.of(loss, norms.Lp(p), y, np.full(40, C), tau)
    result = solve("qcqp", problem, dense(family, X, "variance"), 1e-4)
    assert result.converged


@every_norm
def test_newton_makes_an_inexact_solution_exact(norm, rng):
    problem, engine = make(losses.EpsilonInsensitive(epsilon=0.2), norm, rng)
    exact = solve("qcqp", problem, engine, 1e-8)
    inexact = exact.alpha + 1e-6 * rng.normal(size=len(exact.alpha))
    engine.move_to(inexact)
    moved = polish(problem, engine, Point(inexact, exact.weights, exact.bias))
    np.testing.assert_allclose(moved.alpha, exact.alpha, atol=1e-9)
    np.testing.assert_allclose(moved.theta, exact.weights, atol=1e-9)


def test_newton_takes_weights_of_all_magnitudes(rng):
    """Near p = 1 weights go like the thousandth power of s, down to the least of numbers."""
    problem, engine = make(losses.EpsilonInsensitive(epsilon=0.2), norms.Lp(1.001), rng)
    exact = solve("qcqp", problem, engine, 1e-8)
    light = exact.weights < 1e-20
    assert light.any()
    theta = np.where(light, 1e-315, exact.weights)
    moved = polish(problem, engine, Point(exact.alpha, theta, exact.bias))
    np.testing.assert_allclose(moved.alpha, exact.alpha, atol=1e-9)
    np.testing.assert_allclose(moved.theta, exact.weights, atol=1e-9)


def test_newton_refuses_a_sparse_problem_without_active_kernels(rng):
    """At alpha = 0 all squared block norms are 0; ratios of them would be undefined."""
    problem, engine = make(losses.EpsilonInsensitive(epsilon=0.2), norms.Lp(1), rng)
    theta = problem.norm.start(engine.n_kernels)
    with pytest.raises(np.linalg.LinAlgError, match="squared block norm"):
        polish(problem, engine, Point(np.zeros(engine.n), theta, 0.0))


def test_weights_of_costly_kernels_shrink(rng):
    problem, engine = make(losses.Hinge(), norms.Lp(1), rng)
    best = solve("qcqp", problem, engine, 1e-5).weights.argmax()
    costs = tuple(np.where(np.arange(M) == best, 1e3, 1.0))
    dearer, engine = make(losses.Hinge(), norms.Lp(1, weights=costs), np.random.default_rng(0))
    assert solve("qcqp", dearer, engine, 1e-5).weights[best] == 0


def test_through_the_estimator(rng):
    X = rng.normal(size=(40, 3))
    y = X[:, 0] > 0
    model = MKLClassifier(kernels.RBF(gamma=[0.1, 1.0]), norm=1, solver="qcqp").fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.score(X, y) > 0.9


def test_feasible_moves_alpha_into_its_constraints(rng):
    for loss in LOSSES:
        problem, _ = make(loss, norms.Lp(1), rng)
        alpha = problem.risk.feasible_alpha()
        moved = qcqp.feasible(problem, alpha + 1e-6 * rng.normal(size=len(alpha)))
        assert np.all((moved >= problem.term.lo) & (moved <= problem.term.hi))
        assert moved.sum() == pytest.approx(problem.tau, abs=1e-12)


def test_refuses_large_problems_with_an_estimate(rng):
    X = rng.normal(size=(3000, 2))
    model = MKLClassifier(kernels.RBF(gamma=np.geomspace(0.1, 1, 6)), norm=1, solver="qcqp")
    with pytest.raises(ValueError, match=r"6 kernels and 3000 examples would need about 4 GB"):
        model.fit(X, X[:, 0] > 0)


def test_missing_clarabel_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=r"pip install 'kernelweave\[conic\]'"):
        qcqp._clarabel()


def test_does_not_serve_the_endless_block_norm():
    with pytest.raises(ValueError, match="does not support norm=Block"):
        MKLClassifier(norm=norms.Block(np.inf), solver="qcqp").fit([[0.0], [1.0]], [0, 1])
