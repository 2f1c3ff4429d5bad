"""Sifting reaches the optimum among all kernels, for every loss."""

import os
from dataclasses import replace

import naive_mkl
import numpy as np
import pytest
from kernel_cases import dense, training_set
from loss_cases import every_loss
from mkl_cases import begin, uses
from naive_normalize import normalised
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    kernels,
    losses,
    norms,
    verify,
)
from kernelweave.engines.streamed import StreamedEngine
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.methods import sifting
from kernelweave.optimization.methods.optimality import optimality
from kernelweave.optimization.methods.sifting import (
    FEW,
    SiftedKernels,
    Sifting,
    first_guess,
)
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.run import Run
from kernelweave.optimization.sparsity import DropSmallWeights
from kernelweave.optimization.steps.cutting_plane import CuttingPlane
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.level import Level
from kernelweave.optimization.steps.newton import Newton
from kernelweave.optimization.wrapper import Wrapper
from kernelweave.problem.problem import Problem

M = 30
N = 90
KERNELS = [
    kernels.per_feature(kernels.RBF(gamma=[0.1, 0.5, 2.0, 8.0])),
    kernels.RBF(gamma=np.geomspace(0.01, 1.0, 13)),
    kernels.Linear(columns=[0]),
]
WIDTHS, COLUMN_WIDTHS = np.geomspace(0.01, 1.0, 13), (0.1, 0.5, 2.0, 8.0)
NORMS = [norms.Lp(1), norms.Lp(1, weights=tuple(np.linspace(0.5, 2.0, M)))]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=["equal", "weighted"])


@pytest.fixture
def few_examples(monkeypatch):
    """The first sample of kernels comes from about 30 examples."""
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
    sifting = Sifting(solve_some, highest, early_tol=0.0)
    result = sifting.solve(problem, engine, weights, Run.start(1e-3), alone)
    assert result.converged
    assert seen == list(range(1, len(seen) + 1))
    assert len(result.history) == len(seen) > 2
    gaps = [progress.gap for progress in result.history]
    assert gaps[-1] <= 1e-3 < gaps[0]


def test_looks_and_iterations_are_bounded(case, few_examples):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine, alone = streamed(X), np.array([M - 1])
    given = problem, engine, begin(problem, engine), Run.start(1e-6)
    once = Sifting(SKM().solve, lambda kernels, height: kernels, max_passes=1, early_tol=0.0)
    some = once.solve(*given, alone)
    assert len(some.history) == 1
    assert not some.converged
    result = solve(problem, streamed(X), tol=1e-6, max_iter=2)
    assert result.n_iter == 2
    assert not result.converged


def test_requested_optimality_holds_among_all_kernels(case, few_examples):
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


SETS = WorkingSets(1000)
SCHEDULES = {
    "newton": Wrapper(SETS, Newton(InnerHessian(1200))),
    "cutting plane": Interleaved(SETS, CuttingPlane()),
    "level": Interleaved(SETS, Level()),
}
SOLVERS = {name: DropSmallWeights(solver, SETS, 3) for name, solver in SCHEDULES.items()}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


def kernel_matrices(X):
    """The matrices of KERNELS in plain NumPy, normalised by "unit", shape (M, n, n)."""
    columns = [rbf_kernel(X[:, [c]], gamma=gamma) for c in range(4) for gamma in COLUMN_WIDTHS]
    widths = [rbf_kernel(X, gamma=gamma) for gamma in WIDTHS]
    return np.stack([normalised(K, "unit") for K in (*columns, *widths, linear_kernel(X[:, :1]))])


@every_solver
@every_norm
@every_loss
def test_sifted_optimum_is_that_of_all_kernels(loss, norm, solver, case, few_examples):
    """And its certificate among all kernels is that of plain NumPy."""
    problem, X = case(loss, norm)
    engine = dense(KERNELS, X, "unit")
    expected = SCHEDULES["newton"].solve(problem, engine, begin(problem, engine), Run.start(1e-5))
    stream = streamed(X)
    sifted = SiftedKernels(solver)
    result = sifted.solve(problem, stream, begin(problem, stream), Run.start(1e-4))
    assert result.converged
    assert expected.converged
    assert result.primal == pytest.approx(expected.primal, rel=1.1e-4)
    primal, dual, gap = naive_mkl.certificate(kernel_matrices(X), problem, result)
    assert result.primal == pytest.approx(primal, rel=1e-9)
    assert result.dual == pytest.approx(dual, rel=1e-9)
    assert gap <= 1e-4 + 1e-9
    np.testing.assert_array_equal(stream.alpha, result.alpha)


@pytest.fixture
def some_first(few_examples, monkeypatch):
    """A third of the kernels are sifted before all of them."""
    monkeypatch.setattr(sifting, "MANY", 10)
    monkeypatch.setattr(sifting, "SHARE", 3)


@every_norm
@every_loss
def test_optimum_is_the_same_if_some_kernels_are_sifted_first(loss, norm, case, some_first):
    problem, X = case(loss, norm)
    engine = dense(KERNELS, X, "unit")
    expected = SCHEDULES["newton"].solve(problem, engine, begin(problem, engine), Run.start(1e-5))
    stream = streamed(X)
    sifted = SiftedKernels(SOLVERS["newton"])
    result = sifted.solve(problem, stream, begin(problem, stream), Run.start(1e-4))
    assert result.converged
    assert result.primal == pytest.approx(expected.primal, rel=1.1e-4)
    assert naive_mkl.certificate(kernel_matrices(X), problem, result)[2] <= 1e-4 + 1e-9


def test_sample_of_some_kernels_has_the_largest_norms_and_a_feasible_alpha(case, some_first):
    problem, X = case(losses.SquaredHinge(), NORMS[1])
    engine, run = streamed(X), Run.start(1e-3)
    weights = begin(problem, engine)
    one = sifting.Sifting(SOLVERS["newton"].solve)
    weights, chosen = one.among_some(problem, engine, weights, run, np.array([4, 7]))
    some = np.union1d(sifting.spread(np.arange(M), M // 3), [4, 7])
    assert np.isin(chosen, some).all()
    assert np.isin(np.flatnonzero(weights), chosen).all()
    height = engine.quadratic() / problem.norm.costs(M)
    assert some[height[some].argmax()] in chosen
    assert engine.alpha.sum() == pytest.approx(problem.tau, abs=1e-9)
    assert run.budget.used > 0
    assert not run.log.entries


def test_sifting_some_kernels_first_keeps_the_budget(case, some_first):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    for most in (1, 3):
        engine = streamed(X)
        weights, run = begin(problem, engine), Run.start(1e-9, most)
        result = SiftedKernels(SOLVERS["newton"]).solve(problem, engine, weights, run)
        assert not result.converged
        assert result.n_iter <= most


@every_solver
def test_sifting_continues_from_sparse_weights(solver, case, few_examples):
    """As a fit does that was stopped: the kernels with a weight are the first sample."""
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine = streamed(X)
    first = SiftedKernels(solver).solve(problem, engine, begin(problem, engine), Run.start(0.05))
    assert not first.weights.all()
    again = SiftedKernels(solver).solve(problem, engine, first.weights, Run.start(1e-4))
    assert again.converged
    engine = streamed(X)
    alone = SiftedKernels(solver).solve(problem, engine, begin(problem, engine), Run.start(1e-4))
    assert again.primal == pytest.approx(alone.primal, rel=2e-4)
    unchanged = SiftedKernels(solver).solve(problem, engine, alone.weights, Run.start(1e-4))
    assert unchanged.converged
    assert unchanged.n_iter <= 1


@pytest.mark.parametrize("most", [1, 3])
def test_sifting_ends_with_its_budget(most, case, few_examples):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine = streamed(X)
    weights, run = begin(problem, engine), Run.start(1e-9, most)
    result = SiftedKernels(SOLVERS["newton"]).solve(problem, engine, weights, run)
    assert not result.converged
    assert result.n_iter <= most
    assert naive_mkl.certificate(kernel_matrices(X), problem, result)[2] == pytest.approx(
        result.gap, rel=1e-9
    )


def test_engines_that_keep_all_outputs_are_refused(case):
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine = dense(KERNELS, X, "unit")
    with pytest.raises(TypeError, match="DenseEngine cannot choose among its kernels"):
        SiftedKernels(SETS).solve(problem, engine, begin(problem, engine), Run.start())


MANY = kernels.per_feature(kernels.RBF(gamma=list(np.geomspace(0.01, 10.0, 80))))  # 320 kernels


@pytest.fixture
def table(rng):
    X = rng.normal(size=(N, 4))
    return X, X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=N)


@pytest.mark.parametrize("solver", ["auto", "newton", "cutting-plane", "level"])
@pytest.mark.parametrize("estimator", [MKLClassifier, MKLRegressor, MKLOneClass])
def test_sifted_fits_are_verified_and_optimal(estimator, solver, table):
    X, target = table
    y = target > 0 if estimator is MKLClassifier else target
    model = estimator(MANY, norm=1, solver=solver, tol=1e-4).fit(X, y)
    assert uses(model.plan_, SiftedKernels)
    assert model.duality_gap_ <= 1e-4
    assert verify(model, X, y).agree
    other = estimator(MANY, norm=1, solver="skm", tol=1e-4).fit(X, y)
    assert not uses(other.plan_, SiftedKernels)
    assert model.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-4)


@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge", "squared_hinge"])
def test_sifted_fits_of_other_losses_are_verified(loss, table):
    X, target = table
    model = MKLClassifier(MANY, norm=1, loss=loss).fit(X, target > 0)
    assert uses(model.plan_, SiftedKernels)
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X, target > 0).agree


def test_sifted_hard_margins_are_verified(table):
    X, target = table
    model = MKLClassifier(MANY, norm=1, C=np.inf).fit(X, target > 0)
    assert uses(model.plan_, SiftedKernels)
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X, target > 0).agree


def test_block_norm_1_is_sifted_as_well(table):
    X, target = table
    block, lp = (
        MKLClassifier(MANY, norm=norm, tol=1e-4).fit(X, target > 0)
        for norm in (norms.Block(1), norms.Lp(1))
    )
    assert block.duality_gap_ <= 1e-4
    assert block.primal_objective_ == pytest.approx(lp.primal_objective_, rel=2e-4)


@pytest.mark.parametrize("targets", ["constant", "unrelated"])
def test_sifting_finds_that_the_constant_model_is_optimal(targets, rng):
    X = np.repeat(rng.normal(size=(10, 4)), 2, axis=0)
    y = np.ones(20) if targets == "constant" else np.tile([-1.0, 1.0], 10)
    model = MKLRegressor(MANY, norm=1).fit(X, y)
    assert model.duality_gap_ == 0.0
    assert not model.weights_.any()
    np.testing.assert_allclose(model.predict(X), y.mean(), atol=0.1 + 1e-9)


def test_searches_are_sifted(table):
    X, target = table
    grid = MKLClassifierCV(MANY, norms=[1], Cs=[0.1, 1.0, 10.0], cv=2).fit(X, target > 0)
    assert uses(grid.plan_, SiftedKernels)
    assert grid.duality_gap_ <= 1e-3
    alone = MKLClassifier(MANY, norm=1, C=grid.C_).fit(X, target > 0)
    assert grid.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["auto", "cutting-plane"])
def test_sifted_fits_resume_from_a_checkpoint(solver, table, tmp_path, monkeypatch):
    X, target = table
    started, ended = [], []

    def watched(self, problem, engine, *rest):
        started.append(engine.alpha.copy())
        result = solve_sifting(self, problem, engine, *rest)
        ended.append(engine.alpha.copy())
        return result

    solve_sifting = Sifting.solve
    monkeypatch.setattr(Sifting, "solve", watched)
    model = MKLRegressor(MANY, norm=1, solver=solver, tol=1e-4, checkpoint=tmp_path / "run")
    model.set_params(max_iter=3).fit(X, target)
    assert model.duality_gap_ > 1e-4
    assert os.listdir(tmp_path) == ["run.0"]
    resumed = model.set_params(max_iter=None).fit(X, target)
    assert resumed.duality_gap_ <= 1e-4
    assert os.listdir(tmp_path) == []
    assert verify(model, X, target).agree
    alone = MKLRegressor(MANY, norm=1, solver=solver, tol=1e-4).fit(X, target)
    assert resumed.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-4)
    np.testing.assert_array_equal(started[1], ended[0])


def test_best_model_of_all_passes_is_returned(case):
    """Later samples whose solver fails do not replace a better model."""
    problem, X = case(losses.Hinge(), norms.Lp(1))
    engine, passes = StreamedEngine(training_set(KERNELS, X)), []

    def solve(small, part, weights, run):
        found = SKM()._solved(small, part, weights, run)
        passes.append(found)
        if len(passes) == 1:
            return found
        part.move_to(0.3 * found.alpha)
        return replace(found, alpha=0.3 * found.alpha)

    run, start = Run.start(1e-9), begin(problem, engine)
    thrice = Sifting(solve, lambda m, _: m[:1], max_passes=3, early_tol=0.0)
    result = thrice.solve(problem, engine, start, run, np.arange(0, M, 3))
    gaps = [past.gap for past in run.log.entries]
    assert len(gaps) == 3
    assert result.gap == min(gaps) < gaps[-1]
    np.testing.assert_array_equal(engine.alpha, result.alpha)
    F, s = engine.combined(result.weights), engine.quadratic()
    again = problem.certificate(result.alpha, F, s, result.weights)
    assert again.gap == pytest.approx(result.gap)
