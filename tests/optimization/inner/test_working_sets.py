"""Working sets: the certificate recomputed in plain NumPy, from any start, in sets of any size."""

from dataclasses import replace

import naive_mkl
import numpy as np
import pytest
from kernel_cases import dense, training_set
from kernelweave.optimization.loop import train
from loss_cases import every_loss
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import losses, norms
from kernelweave.engines import StackedEngine
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.optimization.inner import working_sets
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.plan import Plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import feasible_alpha
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


def solve(problem, engine, *, start=None, theta=None, step=None, working_set=1000, **how):
    theta = problem.norm.start(engine.n_kernels) if theta is None else theta
    engine.move_to(feasible_alpha(problem) if start is None else start)
    plan = Plan("dense", step=step, working_set=working_set)
    return train(problem, engine, theta, plan, Run.start(**how))


def random_start(problem, rng):
    """A random point of the box, moved along a line until it adds up to tau."""
    lo, hi = np.maximum(problem.term.lo, -3.0), np.minimum(problem.term.hi, 3.0)
    alpha = lo + rng.uniform(0.01, 0.99, size=len(lo)) * (hi - lo)
    end = hi if alpha.sum() < problem.tau else lo
    return alpha + (problem.tau - alpha.sum()) / (end.sum() - alpha.sum()) * (end - alpha)


@every_loss
@pytest.mark.parametrize("p", [4 / 3, 2.0, np.inf])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_the_certificate_is_that_of_plain_numpy(loss, p, tol, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(p), rng)
    step = None if p == np.inf else "analytic"
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
def test_the_history_tells_the_way(loss, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(2), rng)
    seen = []
    engine = dense([RBF([0.1, 0.5])], X)
    result = solve(problem, engine, step="analytic", tol=1e-5, working_set=20, watch=seen.append)
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
    engine, step = dense([RBF([0.1, 0.5])], X), "analytic"
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
    found = solve(problem, engine, tol=1e-4, working_set=size)
    assert found.converged
    assert found.primal == pytest.approx(best.primal, rel=1.1e-4)


@every_loss
def test_setting_examples_aside_changes_no_optimum(loss, rng):
    """Small working sets on many examples: the loop then works on those that are in question."""
    X, signal = data(rng, n=600)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    engine = dense(RBF(0.2), X)
    found = solve(problem, engine, tol=1e-6, working_set=30)
    K = rbf_kernel(X, gamma=0.2)[None]
    primal, _, gap = naive_mkl.certificate(K, problem, found)
    assert gap <= 1e-6 + 1e-9
    np.testing.assert_allclose(engine.outputs(), np.einsum("mij,j->mi", K, found.alpha), atol=1e-9)
    assert solve(problem, engine, tol=1e-6).primal == pytest.approx(primal, rel=2e-6)


@every_loss
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_values_at_hand_may_be_read_for_few_examples(part, loss, rng, monkeypatch):
    """Examples at a bound that agree with it are left out, but certificates ask all of them."""
    monkeypatch.setattr(working_sets, "IN_QUESTION", part)
    X, signal = data(rng, n=200)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    engine = StackedEngine.of(training_set(RBF([0.1, 0.5]), X))
    found = solve(problem, engine, theta=np.ones(2), tol=1e-6)
    K = np.stack([rbf_kernel(X, gamma=gamma) for gamma in (0.1, 0.5)])
    assert naive_mkl.certificate(K, problem, found)[2] <= 1e-6 + 1e-9


def test_where_values_are_at_hand_examples_that_agree_are_left_out(rng, monkeypatch):
    X, signal = data(rng, n=200)
    problem, theta = make_problem(losses.Hinge(), signal, norms.Lp(np.inf), rng), np.ones(2)
    engine = StackedEngine.of(training_set(RBF([0.1, 0.5]), X))
    engine.move_to(0.9 * solve(problem, engine, theta=theta).alpha)
    sets, read, block = WorkingSets(problem, engine, 1000, Run.start()), [], engine.block
    sets.certify(theta)
    violations = sets.violations()

    def noted(idx, *weights, **how):
        read.append(idx)
        return block(idx, *weights, **how)

    monkeypatch.setattr(engine, "block", noted)
    sets.advance(theta, shrink=True, wanted=0.1)
    agree = violations.settled(working_sets.IN_QUESTION * violations.size)
    assert 0 < np.count_nonzero(agree) < 200
    np.testing.assert_array_equal(read[0], np.flatnonzero(~agree))


@every_loss
def test_a_fixed_combination_is_one_machine_on_the_weighted_sum(loss, rng):
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


def test_a_bounded_number_of_turns_is_reported_as_such(rng):
    X, signal = data(rng)
    problem = make_problem(losses.Hinge(), signal, norms.Lp(np.inf), rng)
    result = solve(problem, dense(RBF(0.2), X), tol=1e-9, working_set=10, max_iter=2)
    assert (result.n_iter, result.converged) == (2, False)
    assert result.gap > 1e-9


@every_loss
def test_a_tolerance_below_rounding_ends(loss, rng):
    X, signal = data(rng, n=40)
    problem = make_problem(loss, signal, norms.Lp(np.inf), rng)
    result = solve(problem, dense(RBF(0.2), X), tol=1e-300)
    assert abs(result.gap) <= 1e-9


@every_loss
def test_the_start_is_left_alone(loss, rng):
    X, signal = data(rng)
    problem = make_problem(loss, signal, norms.Lp(2), rng)
    start, theta = random_start(problem, rng), problem.norm.start(2)
    before = start.copy(), theta.copy()
    engine = dense(RBF([0.1, 0.5]), X)
    solve(problem, engine, start=start, theta=theta, step="analytic", tol=1e-2)
    np.testing.assert_array_equal(start, before[0])
    np.testing.assert_array_equal(theta, before[1])
