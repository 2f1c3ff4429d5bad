"""Working sets: the certificate recomputed in plain NumPy, from any start, in sets of any size."""

from dataclasses import replace

import naive_mkl
import numpy as np
import pytest
from kernel_cases import dense, training_set
from loss_cases import every_loss
from mkl_cases import begin, hinge_case, working_sets
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import MKLClassifier, MKLRegressor, losses, norms
from kernelweave.engines import StackedEngine
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.run import Run
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.problem.problem import Problem

N = 90


def data(rng, n=N):
    X = rng.normal(size=(n, 5))
    signal = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, signal


def make_problem(loss, signal, norm, rng):
    y = signal if loss.kind == "regressor" else np.where(signal > 0.1, 1.0, -1.0)
    C = rng.uniform(0.5, 3.0, size=len(y))
    return Problem.of(loss, norm, y, C, tau=0.3 * C.sum() if loss.kind == "one-class" else 0.0)


def solve(problem, engine, *, start=None, theta=None, step=None, size=1000, **limits):
    theta = problem.norm.start(engine.n_kernels) if theta is None else theta
    engine.move_to(problem.risk.feasible_alpha() if start is None else start)
    sets = working_sets(engine, size)
    solver = sets if step is None else Interleaved(sets, step)
    return solver.solve(problem, engine, theta, Run.start(**limits))


def random_start(problem, rng):
    """A random point of the box, moved along a line until it adds up to tau."""
    lo, hi = np.maximum(problem.term.lo, -3.0), np.minimum(problem.term.hi, 3.0)
    alpha = lo + rng.uniform(0.01, 0.99, size=len(lo)) * (hi - lo)
    end = hi if alpha.sum() < problem.tau else lo
    return alpha + (problem.tau - alpha.sum()) / (end.sum() - alpha.sum()) * (end - alpha)


@every_loss
@pytest.mark.parametrize("p", [4 / 3, 2.0, np.inf])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_certificate_is_that_of_plain_numpy(loss, p, tol, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(p), rng)
    step = None if p == np.inf else Analytic()
    result = solve(problem, dense([RBF([0.1, 0.5]), Linear()], X), step=step, tol=tol)
    K = np.stack([rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=0.5), linear_kernel(X)])
    primal, dual, gap = naive_mkl.certificate(K, problem, result)
    assert result.primal == pytest.approx(primal, rel=1e-9)
    assert result.dual == pytest.approx(dual, rel=1e-9)
    assert result.gap == pytest.approx(gap, abs=1e-9)
    assert result.converged
    assert gap <= tol + 1e-9
    assert problem.norm.value(result.weights) <= 1 + 1e-12
    assert np.all((problem.term.lo <= result.alpha) & (result.alpha <= problem.term.hi))
    assert result.alpha.sum() == pytest.approx(problem.tau, abs=1e-9 * np.abs(result.alpha).sum())


@every_loss
def test_history_has_an_entry_for_every_working_set(loss, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(2), rng)
    seen = []
    engine = dense([RBF([0.1, 0.5])], X)
    result = solve(problem, engine, step=Analytic(), tol=1e-5, size=20, watch=seen.append)
    assert seen == result.history
    assert len(seen) == result.n_iter + 1
    assert all(progress.gap > 1e-5 for progress in seen[:-1])
    assert seen[-1].gap == result.gap <= 1e-5
    assert np.all(np.diff([progress.seconds for progress in seen]) >= 0)
    np.testing.assert_array_equal(seen[-1].weights, result.weights)


@every_loss
def test_any_start_reaches_the_same_optimum(loss, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(2), rng)
    engine, step = dense([RBF([0.1, 0.5])], X), Analytic()
    best = solve(problem, engine, step=step, tol=1e-8)
    for _ in range(3):
        start, theta = random_start(problem, rng), rng.exponential(size=2)
        found = solve(
            problem, engine, start=start, theta=theta / np.linalg.norm(theta), step=step, tol=1e-8
        )
        assert found.primal == pytest.approx(best.primal, rel=2e-8)
    warm = solve(problem, engine, start=best.alpha, theta=best.weights, step=step, tol=1e-8)
    assert warm.n_iter <= 1


@every_loss
@pytest.mark.parametrize("size", [2, 3, 10, N, 10 * N])
def test_working_sets_of_any_size(loss, size, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    engine = dense(RBF(0.2), X)
    best = solve(problem, engine, tol=1e-7)
    found = solve(problem, engine, tol=1e-4, size=size)
    assert found.converged
    assert found.primal == pytest.approx(best.primal, rel=1.1e-4)


@every_loss
def test_small_working_sets_of_many_examples_reach_the_optimum(loss, rng):
    X, signal = data(rng, n=600)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    engine = dense(RBF(0.2), X)
    found = solve(problem, engine, tol=1e-6, size=30)
    K = rbf_kernel(X, gamma=0.2)[None]
    primal, _, gap = naive_mkl.certificate(K, problem, found)
    assert gap <= 1e-6 + 1e-9
    np.testing.assert_allclose(engine.outputs(), np.einsum("mij,j->mi", K, found.alpha), atol=1e-9)
    assert solve(problem, engine, tol=1e-6).primal == pytest.approx(primal, rel=2e-6)


@every_loss
def test_skipping_bounded_examples_changes_no_optimum(loss, rng):
    """With cached values bounded examples are skipped, but certificates are of all of them."""
    X, signal = data(rng, n=200)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    engine, theta = StackedEngine.of(training_set(RBF([0.1, 0.5]), X)), np.ones(2)
    begin(problem, engine)
    sets = working_sets(engine)
    assert sets.cached_values
    found = sets.solve(problem, engine, theta, Run.start(1e-6))
    K = np.stack([rbf_kernel(X, gamma=gamma) for gamma in (0.1, 0.5)])
    assert naive_mkl.certificate(K, problem, found)[2] <= 1e-6 + 1e-9


def test_bounded_examples_are_skipped_if_values_are_cached(rng, monkeypatch):
    X, signal = data(rng, n=200)
    problem, theta = make_problem(losses.Hinge(), signal, norms.Lp(np.inf), rng), np.ones(2)
    engine = StackedEngine.of(training_set(RBF([0.1, 0.5]), X))
    solve(problem, engine, theta=theta, tol=1e-2)
    sets, read, block = working_sets(engine), [], engine.block
    assert sets.cached_values
    method = sets.begin(problem, engine, Run.start())
    method.certify(theta)
    violations = method.violations()

    def noted(idx, *weights, **how):
        read.append(idx)
        return block(idx, *weights, **how)

    monkeypatch.setattr(engine, "block", noted)
    method.advance(theta, all_active=True, wanted=0.1)
    skipped = violations.stay_bounded(violations.size)
    assert 0 < np.count_nonzero(skipped) < 200
    np.testing.assert_array_equal(read[0], np.flatnonzero(~skipped))


@every_loss
def test_fixed_weights_are_one_kernel_on_the_weighted_sum(loss, rng):
    X, signal = data(rng)
    weights = np.array([0.3, 0.0, 1.2])
    problem = make_problem(loss, signal, norms.Fixed(weights), rng)
    several = dense([RBF([0.1, 0.5]), Linear()], X)
    combined = solve(problem, several, theta=weights, tol=1e-9)
    total = 0.3 * rbf_kernel(X, gamma=0.1) + 1.2 * linear_kernel(X)
    one = dense(Precomputed(), total)
    alone = solve(replace(problem, norm=norms.Lp(np.inf)), one, tol=1e-9)
    assert combined.primal == pytest.approx(alone.primal, rel=2e-9)
    np.testing.assert_allclose(
        weights @ several.outputs() + combined.bias, one.outputs()[0] + alone.bias, atol=1e-3
    )


def test_max_iter_is_reported_as_not_converged(rng):
    X, signal = data(rng)
    problem = make_problem(losses.Hinge(), signal, norms.Lp(np.inf), rng)
    result = solve(problem, dense(RBF(0.2), X), tol=1e-9, size=10, max_iter=2)
    assert (result.n_iter, result.converged) == (2, False)
    assert result.gap > 1e-9


@every_loss
def test_a_tolerance_below_rounding_ends(loss, rng):
    X, signal = data(rng, n=40)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    result = solve(problem, dense(RBF(0.2), X), tol=1e-300)
    assert abs(result.gap) <= 1e-9


@every_loss
def test_arrays_of_the_start_are_not_changed(loss, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(2), rng)
    start, theta = random_start(problem, rng), problem.norm.start(2)
    before = start.copy(), theta.copy()
    engine = dense(RBF([0.1, 0.5]), X)
    solve(problem, engine, start=start, theta=theta, step=Analytic(), tol=1e-2)
    np.testing.assert_array_equal(start, before[0])
    np.testing.assert_array_equal(theta, before[1])


KERNELS = RBF([0.01, 0.1, 1.0])
SETS = WorkingSets(1000)


@pytest.fixture
def case(load_real):
    return hinge_case(load_real("wdbc"), norms.Lp(np.inf), KERNELS, n=120)


@pytest.mark.parametrize(
    "model",
    [
        MKLRegressor(loss="squared", C=165, norm=2, normalize=None),
        MKLRegressor(epsilon=0.1, C=780, norm=2),
        MKLClassifier(loss="smooth_hinge", C=430, norm=np.inf),
    ],
    ids=str,
)
def test_small_working_sets_grow_if_the_kernel_is_ill_conditioned(model):
    """With sets of two or three these fits took up to 60,000 iterations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * [1.0, 1e-2, 10.0]
    y = X[:, 1] > 0 if isinstance(model, MKLClassifier) else rng.normal(size=20)
    kernels = [Linear(), Linear(columns=[0, 1])]
    model.set_params(kernels=kernels, tol=1e-5, working_set=2).fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert model.n_iter_ <= 20 * 20 + 20  # 20 passes of sets of 2, 4, 8, 16 examples, then all


def test_examples_left_out_are_examples_without_cost(case):
    even, equal = np.arange(120) % 2 == 0, begin(case.problem, case.engine)
    idx = np.flatnonzero(even)
    some = case.problem.restricted(idx, 0.0)
    part = SETS.solve(some, case.engine.subset(idx), equal, Run.start(1e-8))
    without = replace(case.problem, risk=replace(case.problem.risk, C=even.astype(float)))
    alone = SETS.solve(without, case.engine, equal, Run.start(1e-8))
    assert part.primal == pytest.approx(alone.primal, rel=1e-7)
    np.testing.assert_allclose(part.alpha, alone.alpha[even], atol=1e-3)


def test_restricted_problem_keeps_the_sum_of_its_alphas(case):
    weights = begin(case.problem, case.engine)
    done = SETS.solve(case.problem, case.engine, weights, Run.start(1e-3))
    first = np.arange(60)
    rest = case.problem.restricted(first, case.problem.tau - float(done.alpha[60:].sum()))
    part = SETS.solve(rest, case.engine.subset(first), weights, Run.start(1e-8))
    assert part.n_iter > 0
    assert part.alpha.sum() == pytest.approx(done.alpha[:60].sum(), abs=1e-9)


def test_fixed_weights_are_certified_as_one_kernel(load_real):
    case = hinge_case(load_real("wdbc"), norms.Lp(1), KERNELS, n=120)
    theta, equal = np.array([0.0, 0.9, 0.1]), begin(case.problem, case.engine)
    result = SETS.solve(case.problem.with_weights(theta), case.engine, theta, Run.start(1e-6))
    assert result.converged
    np.testing.assert_array_equal(result.weights, theta)
    begin(case.problem, case.engine)
    with_equal = SETS.solve(case.problem, case.engine, equal, Run.start(1e-3, 50))
    assert with_equal.gap > 1e-3  # p = 1 has better ones
