"""The problem inside a working set: optimal by its one-sided slopes and by a general solver."""

from dataclasses import fields, replace

import loss_cases
import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave import losses
from kernelweave.common.core import _core
from kernelweave.losses import DualTerm
from kernelweave.optimization.inner import working_sets
from kernelweave.optimization.inner.interior_points import interior_points
from kernelweave.optimization.inner.margin_newton import margin_newton
from kernelweave.optimization.inner.pauses import Pauses
from kernelweave.optimization.inner.subproblem import Subproblem, balanced
from kernelweave.optimization.inner.working_sets import (
    WorkingSetTuning,
    solve_subproblem,
)

# SciPy up to 1.15 warns of its own steps.
pytestmark = pytest.mark.filterwarnings("ignore:Values in x were outside bounds")

LOSSES = [*loss_cases.LOSSES, losses.EpsilonInsensitive(epsilon=0.0)]
TOLERANCE = 1e-9
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)
every_seed = pytest.mark.parametrize("seed", range(8))


def random_term(loss, q, rng):
    y = rng.normal(size=q) if loss.kind == "regressor" else np.where(np.arange(q) % 2, -1.0, 1.0)
    C = rng.choice([0.0, 0.1, 1.0, 10.0], p=[0.1, 0.3, 0.3, 0.3], size=q)
    return loss.dual_term(y, C).take(np.arange(q))


def random_kernel(q, rng):
    """Positive semidefinite: of any rank down to zero, with equal rows or without."""
    factor = rng.normal(size=(q, rng.integers(0, q + 1)))
    factor[rng.integers(0, q, size=q // 3)] = factor[0]
    return factor @ factor.T


def random_start(term, rng):
    """A point of the box, whose sum the problem keeps; some alphas start at a bound or a kink."""
    lo, hi = np.maximum(term.lo, -2.0), np.minimum(term.hi, 2.0)
    share = rng.uniform(0.05, 0.95, size=len(lo))
    if not term.ent.any():
        share = rng.choice([0.0, 0.5, 1.0], size=len(lo)) if rng.random() < 0.5 else share
    return lo + share * (hi - lo)


def solve(kernel, term, start, outputs, tolerance=TOLERANCE, max_steps=20_000):
    alpha, outputs = start.copy(), outputs.copy()
    parts = [getattr(term, field.name) for field in fields(term)]
    steps, violation = _core.solve_pairs(kernel, *parts, tolerance, max_steps, alpha, outputs)
    return alpha, outputs, steps, violation


def objective(kernel, term, start, outputs, alpha):
    move = alpha - start
    return 0.5 * move @ kernel @ move + outputs @ move + term.conjugate(alpha).sum()


def solve_slowly(kernel, term, start, outputs):
    """The best value that a general solver finds, on alpha = up - down with up, down >= 0."""
    q, smooth = len(start), replace(term, eps=np.zeros_like(start))
    inset = np.zeros(q)  # an entropy is steep at its bounds
    np.multiply(1e-9, term.hi - term.lo, out=inset, where=term.ent > 0)
    lo, hi = term.lo + inset, term.hi - inset

    def value(z):
        alpha = np.clip(z[:q] - z[q:], lo, hi)
        down, up = smooth.slopes(alpha)
        slope = np.where(np.isfinite(up), up, np.where(np.isfinite(down), down, 0.0))
        slope = slope + outputs + kernel @ (alpha - start)
        total = objective(kernel, smooth, start, outputs, alpha) + term.eps @ (z[:q] + z[q:])
        return total, np.concatenate([slope + term.eps, -slope + term.eps])

    z = minimize(
        value,
        np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)]),
        jac=True,
        bounds=np.maximum(np.block([[lo, -hi], [hi, -lo]]).T, 0.0),
        constraints={"type": "eq", "fun": lambda z: z[:q].sum() - z[q:].sum() - start.sum()},
        options={"maxiter": 500, "ftol": 1e-13},
    ).x
    return objective(kernel, term, start, outputs, np.clip(z[:q] - z[q:], lo, hi))


def assert_solved(kernel, term, start, outputs):
    alpha, after, _, violation = solve(kernel, term, start, outputs)
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    assert alpha.sum() == pytest.approx(start.sum(), abs=1e-11 * (1 + np.abs(alpha).sum()))
    scale = 1 + np.abs(alpha).max() * np.abs(kernel).max(initial=0.0)
    np.testing.assert_allclose(after, outputs + kernel @ (alpha - start), atol=1e-10 * scale)
    # Near a bound the slope of an entropy may jump from one number to the next.
    down, up = term.slopes(alpha)
    assert violation == pytest.approx((down + after).max() - (up + after).min(), abs=1e-10 * scale)
    down, up = (
        term.slopes(np.nextafter(alpha, term.lo))[0],
        term.slopes(np.nextafter(alpha, term.hi))[1],
    )
    assert (down + after).max() - (up + after).min() <= TOLERANCE + 1e-10 * scale
    return alpha


@every_loss
@every_seed
@pytest.mark.parametrize("q", [2, 8])
def test_solution_is_optimal(loss, seed, q):
    rng = np.random.default_rng(seed)
    term, kernel = random_term(loss, q, rng), random_kernel(q, rng)
    start, outputs = random_start(term, rng), rng.normal(size=q)
    if np.isinf(term.hi).any() and not kernel.any():
        term = replace(term, curv=np.maximum(term.curv, 0.1))  # else there is no minimum
    alpha = assert_solved(kernel, term, start, outputs)
    best = solve_slowly(kernel, term, start, outputs)
    found = objective(kernel, term, start, outputs, alpha)
    assert found <= best + 1e-6 * (1 + abs(best))


@every_loss
def test_a_large_working_set_is_solved(loss, rng):
    q = 150
    term, kernel = random_term(loss, q, rng), random_kernel(q, rng) / q + 0.01 * np.eye(q)
    assert_solved(kernel, term, random_start(term, rng), rng.normal(size=q))


@every_loss
def test_every_step_lowers_the_objective(loss, rng):
    q = 12
    term, kernel = random_term(loss, q, rng), random_kernel(q, rng) + 0.01 * np.eye(q)
    start, outputs = random_start(term, rng), rng.normal(size=q)
    values = []
    for count in range(25):
        alpha, _, steps, _ = solve(kernel, term, start, outputs, max_steps=count)
        assert steps <= count
        values.append(objective(kernel, term, start, outputs, alpha))
    assert np.all(np.diff(values) <= 1e-12 * (1 + np.abs(values[0])))


@every_loss
def test_the_mirrored_problem_has_the_mirrored_solution(loss, rng):
    if loss.kind == "one-class":
        pytest.skip("one class has no other side")
    q, y = 8, np.where(np.arange(8) % 2, -1.0, 1.0)
    kernel, outputs, index = 0.1 * np.eye(q), 4 * rng.normal(size=q), np.arange(q)
    found = []
    for side in (1, -1):
        term = loss.dual_term(side * y, np.full(q, 2.0)).take(index)
        found.append(side * solve(kernel, term, side * y, side * outputs, tolerance=1e-12)[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-12)


@every_loss
def test_equal_examples_have_one_optimal_value(loss, rng):
    """With a constant kernel only the sums of the alphas of equal examples matter."""
    q = 6
    term, kernel = random_term(loss, q, rng), np.ones((q, q))
    start, outputs = random_start(term, rng), np.zeros(q)
    alpha = assert_solved(kernel, term, start, outputs)
    best = solve_slowly(kernel, term, start, outputs)
    assert objective(kernel, term, start, outputs, alpha) <= best + 1e-6 * (1 + abs(best))


@every_loss
def test_examples_without_cost_stay_at_zero(loss, rng):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    term = loss.dual_term(y, np.array([0.0, 1.0, 1.0, 0.0])).take(np.arange(4))
    start = random_start(term, rng)
    alpha, _, _, _ = solve(np.eye(4), term, start, np.zeros(4))
    np.testing.assert_array_equal(alpha[[0, 3]], 0.0)
    nobody = loss.dual_term(y, np.zeros(4)).take(np.arange(4))
    alpha, _, steps, violation = solve(np.eye(4), nobody, np.zeros(4), rng.normal(size=4))
    np.testing.assert_array_equal(alpha, 0.0)
    assert (steps, violation) == (0, -np.inf)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.name in ("hinge", "one_class")])
def test_alphas_end_at_their_bounds_exactly(loss, rng):
    q, C = 40, 0.3
    y = np.where(np.arange(q) % 2, -1.0, 1.0)
    term = loss.dual_term(y, np.full(q, C)).take(np.arange(q))
    kernel = random_kernel(q, rng) / q + 0.1 * np.eye(q)
    alpha = assert_solved(kernel, term, 0.4 * term.hi + 0.4 * term.lo, 3 * rng.normal(size=q))
    assert np.count_nonzero((alpha == term.lo) | (alpha == term.hi)) > q // 2


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e6])
@every_loss
def test_any_scale_of_the_costs(loss, size, rng):
    q = 8
    y = rng.normal(size=q) if loss.kind == "regressor" else np.where(np.arange(q) % 2, -1.0, 1.0)
    term = loss.dual_term(y, np.full(q, size)).take(np.arange(q))
    kernel, outputs = random_kernel(q, rng) + 0.1 * np.eye(q), rng.normal(size=q)
    start = random_start(term, rng) * (size if np.isinf(term.hi).any() else 1.0)
    alpha, after, _, violation = solve(kernel, term, start, outputs, tolerance=1e-7)
    assert violation <= 1e-7
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    assert np.all(np.isfinite(after))


def test_nan_outputs_end_the_loop():
    """NaN in the outputs must end the loop, not spin."""
    zero = np.zeros(3)
    term = DualTerm(zero, zero, zero, zero, zero, np.ones(3))
    _, _, steps, violation = solve(np.eye(3), term, np.array([0.5, 0.2, 0.1]), np.full(3, np.nan))
    assert steps == 0
    assert not violation > 0


def test_arrays_of_different_length_are_refused():
    zero = np.zeros(3)
    term = DualTerm(zero, zero, zero, zero, zero, np.ones(3))
    with pytest.raises(ValueError, match="the arrays differ in length"):
        solve(np.eye(2), term, zero, zero)


def ill_conditioned(loss, rng, q=120, C=1e3):
    """A problem of columns whose sizes differ by orders of magnitude, at a large C."""
    X = rng.normal(size=(q, 4)) * 10.0 ** np.arange(-1, 3)
    # No alpha of one class may exceed its share, and together they make the number of examples.
    cost = 1.0 if loss.kind == "one-class" else C
    y = rng.normal(size=q) if loss.kind == "regressor" else np.sign(rng.normal(size=q))
    term = loss.dual_term(y, np.full(q, cost)).take(np.arange(q))
    lo, hi = np.maximum(term.lo, -C), np.minimum(term.hi, C)
    return Subproblem(X @ X.T, term, lo + 0.5 * (hi - lo), rng.normal(size=q))


@every_loss
@pytest.mark.parametrize("seed", range(4))
def test_ill_conditioned_subproblems_are_solved_by_another_method(loss, seed):
    problem = ill_conditioned(loss, np.random.default_rng(seed))
    tolerance, q = 1e-4 * problem.violation, len(problem.alpha)
    tuning = WorkingSetTuning()
    few = tuning.smo_per_example * q + tuning.least_smo
    *_, alone = solve(problem.kernel, problem.term, problem.alpha, problem.F, tolerance, few)
    assert alone > tolerance
    alpha = solve_subproblem(problem, tolerance)
    term = problem.term
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    total = problem.alpha.sum()
    assert alpha.sum() == pytest.approx(total, abs=1e-12 * (1 + np.abs(alpha).sum()))
    assert problem.after(alpha).violation <= tolerance


def test_a_method_that_does_not_help_pauses_for_longer_and_longer(monkeypatch):
    """A method that never improves alpha is called for 5 of 30 working sets."""
    problem, calls = (
        ill_conditioned(losses.get("hinge", "classifier"), np.random.default_rng(0)),
        [],
    )
    tolerance, pauses = 1e-4 * problem.violation, Pauses()
    monkeypatch.setattr(
        working_sets, "interior_points", lambda given: calls.append(given) or iter(())
    )
    for _ in range(30):
        alone = solve_subproblem(problem, tolerance, pauses=pauses)
    assert len(calls) == 5
    monkeypatch.undo()
    solved = solve_subproblem(problem, tolerance, pauses=Pauses())
    assert problem.after(solved).violation <= tolerance < problem.after(alone).violation


@every_loss
@every_seed
def test_methods_without_smo_agree_with_a_general_solver(loss, seed):
    q, rng = 8, np.random.default_rng(seed)
    y = rng.normal(size=q) if loss.kind == "regressor" else np.where(np.arange(q) % 2, -1.0, 1.0)
    term = loss.dual_term(y, rng.choice([0.1, 1.0, 10.0], size=q)).take(np.arange(q))
    kernel, outputs = random_kernel(q, rng) + 0.1 * np.eye(q), rng.normal(size=q)
    start = Subproblem(kernel, term, random_start(term, rng), outputs)
    method = margin_newton if term.ent.any() else interior_points
    found = min(map(start.after, method(start)), key=lambda point: point.violation)
    best = solve_slowly(kernel, term, start.alpha, outputs)
    value = objective(kernel, term, start.alpha, outputs, found.alpha)
    assert value <= best + 1e-6 * (1 + abs(best))


def test_the_squared_loss_takes_one_step_of_interior_points(rng):
    problem = ill_conditioned(losses.Squared(), rng)
    path = interior_points(problem)
    next(path)
    assert problem.after(next(path)).violation <= 1e-5 * problem.violation


def test_balanced_alphas_keep_their_bounds_and_their_sum(rng):
    for _ in range(200):
        lo, hi = -rng.uniform(size=6), rng.uniform(size=6)
        if rng.random() < 0.3:
            hi[rng.integers(6)] = np.inf
        alpha = np.clip(rng.normal(size=6), lo, hi)
        total = rng.uniform(lo.sum(), min(hi.sum(), 10.0))
        alpha = balanced(alpha, lo, hi, total, rng.random(6) < 0.5)
        assert np.all((lo <= alpha) & (alpha <= hi))
        assert alpha.sum() == pytest.approx(total, abs=1e-14 * 6)


def test_balancing_moves_free_alphas_only_if_possible():
    lo, hi = np.zeros(4), np.ones(4)
    free = np.array([False, False, True, True])
    alpha = balanced(np.array([0.3, 0.7, 0.5, 0.25]), lo, hi, 2.0, free)
    np.testing.assert_array_equal(alpha[:2], [0.3, 0.7])
    np.testing.assert_allclose(alpha[2:], [0.6, 0.4])
