"""Some kernels at a time: the optimum among all of them, for every loss."""

import numpy as np
import pytest
from kernel_cases import dense, training_set
from loss_cases import every_loss
from mkl_cases import begin

from kernelweave import MKLClassifier, MKLClassifierCV, kernels, losses, norms
from kernelweave.engines.streamed import StreamedEngine
from kernelweave.optimization.methods.optimality import optimality
from kernelweave.optimization.methods.sifting import FEW, first_guess, sift
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem

M = 30
N = 90
KERNELS = [
    kernels.per_feature(kernels.RBF(gamma=[0.1, 0.5, 2.0, 8.0])),
    kernels.RBF(gamma=np.geomspace(0.01, 1.0, 13)),
    kernels.Linear(columns=[0]),
]
NORMS = [norms.Lp(1), norms.Lp(1, weights=tuple(np.linspace(0.5, 2.0, M)))]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=["equal", "weighted"])


@pytest.fixture
def few_examples(monkeypatch):
    """A guess is made on about 30 examples."""
    monkeypatch.setattr("kernelweave.optimization.methods.sifting.ROOM", M * 30**2)


@pytest.fixture
def case(rng):
    def make(loss, norm):
        X = rng.normal(size=(N, 4))
        target = X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=N)
        y = target if loss.kind == "regressor" else np.sign(target)
        problem = Problem.of(
            loss, norm, y, np.ones(N), 0.3 * N if loss.kind == "one-class" else 0.0
        )
        return problem, X

    return make


def solve(problem, engine, method=None, **limits):
    solver = (method or SKM()).solver(engine.costs)
    return solver.solve(problem, engine, begin(problem, engine), Run.start(**limits))


def streamed(X):
    return StreamedEngine(training_set(KERNELS, X, "unit"))


@every_norm
@every_loss
def test_same_optimum_as_with_all_kernels_at_once(loss, norm, case, few_examples):
    problem, X = case(loss, norm)
    engine = dense(KERNELS, X, "unit")
    expected = solve(problem, engine, tol=1e-5)
    stream = streamed(X)
    result = solve(problem, stream, tol=1e-4)
    assert result.converged
    assert result.primal == pytest.approx(expected.primal, rel=1e-4)
    engine.move_to(result.alpha)
    F, s = engine.combined(result.weights), engine.quadratic()
    again = problem.certificate(result.alpha, F, s, result.weights)
    assert result.gap == pytest.approx(again.gap, abs=1e-9)
    np.testing.assert_allclose(stream.combined(result.weights), F, atol=1e-9)


def test_kernels_join_one_by_one_from_a_bad_start(case):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    seen = []

    def solve_some(problem, engine, weights, history):
        seen.append(engine.n_kernels)
        return SKM().solve(problem, engine, weights, history)

    def highest(kernels, height):
        assert np.all(np.diff(kernels) > 0)
        return kernels[[height.argmax()]]

    engine, alone = streamed(X), np.array([M - 1])
    weights = begin(problem, engine)
    result = sift(solve_some, problem, engine, weights, Run.start(1e-3), alone, highest)
    assert result.converged
    assert seen == list(range(1, len(seen) + 1))
    assert len(result.history) == len(seen) > 2
    gaps = [progress.gap for progress in result.history]
    assert gaps[-1] <= 1e-3 < gaps[0]


def test_looks_and_iterations_are_bounded(case, few_examples):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine, alone = streamed(X), np.array([M - 1])
    given = problem, engine, begin(problem, engine), Run.start(1e-6)
    some = sift(SKM().solve, *given, alone, lambda kernels, height: kernels, max_passes=1)
    assert len(some.history) == 1
    assert not some.converged
    result = solve(problem, streamed(X), tol=1e-6, max_iter=2)
    assert result.n_iter == 2
    assert not result.converged


def test_the_optimality_that_is_asked_for_holds_among_all_kernels(case, few_examples):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    result = solve(problem, streamed(X), SKM(eps1=1e-3, eps2=1e-3), tol=0.3)
    assert result.converged
    engine = dense(KERNELS, X, "unit")
    engine.move_to(result.alpha)
    s = engine.quadratic()
    eps1, eps2 = optimality(
        problem, result.alpha, result.weights @ engine.outputs(), s, result.weights
    )
    assert eps1 <= 1e-3 + 1e-9
    assert eps2 <= 1e-3 + 1e-9


@every_loss
def test_a_guess_is_a_feasible_start(loss, case, few_examples):
    problem, X = case(loss, NORMS[1])
    engine = streamed(X)
    begin(problem, engine)
    weights, chosen = first_guess(SKM().solve, problem, engine, Run.start())
    assert len(chosen) >= FEW
    assert np.all(np.diff(chosen) > 0)
    assert np.isin(np.flatnonzero(weights), chosen).all()
    assert problem.norm.value(weights) == pytest.approx(1.0)
    assert engine.alpha.sum() == pytest.approx(problem.tau, abs=1e-9)
    assert np.isfinite(problem.term.conjugate(engine.alpha)).all()


def test_a_guess_does_not_overwrite_an_alpha(case, few_examples, rng):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine = streamed(X)
    begin(problem, engine)
    engine.change(np.arange(2), 0.5 * problem.y[0] * np.array([1.0, -1.0]))
    before = engine.alpha.copy()
    first_guess(SKM().solve, problem, engine, Run.start())
    np.testing.assert_array_equal(engine.alpha, before)


@pytest.mark.parametrize("solver", ["skm", SKM(sparsify=True)])
def test_through_the_estimator(solver, rng, few_examples, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.methods.skm.ROOM", 1000)
    X = rng.normal(size=(N, 4))
    y = X[:, 0] * X[:, 1] > 0
    model = MKLClassifier(KERNELS, norm=1, solver=solver).fit(X, y)
    reference = MKLClassifier(KERNELS, norm=1).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.primal_objective_ == pytest.approx(reference.primal_objective_, rel=1e-3)
    grid = MKLClassifierCV(KERNELS, norms=[1], Cs=[0.1, 1.0], solver=solver, cv=2).fit(X, y)
    assert grid.duality_gap_ <= 1e-3
