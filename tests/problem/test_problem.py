"""The certificate: never negative, and zero exactly at the optimum, for every loss and norm."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import every_loss
from scipy.optimize import minimize
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelweave import losses, norms
from kernelweave.problem.problem import Problem

N, M = 12, 3
E = np.array([[1.0, 0.6, -0.1], [0.6, 1.0, 0.2], [-0.1, 0.2, 2.0]])
NORMS = [
    norms.Lp(1),
    norms.Lp(1.5),
    norms.Lp(2, weights=(1.0, 3.0, 0.5)),
    norms.Lp(np.inf),
    norms.Elliptic(E),
    norms.Block(1.5),
    norms.Block(3),
    norms.Block(np.inf),
]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: repr(norm)[:14])


def kernel_matrices(rng):
    """M positive definite matrices of different scale and effective rank, shape (M, N, N)."""
    factors = [rng.normal(size=(N, rank)) * scale for rank, scale in ((2, 1), (4, 0.5), (N, 0.3))]
    return np.stack([factor @ factor.T + 0.05 * np.eye(N) for factor in factors])


def random_problem(loss, norm, rng):
    y = rng.normal(size=N) if loss.kind == "regressor" else np.where(np.arange(N) % 2, -1.0, 1.0)
    C = rng.uniform(0.5, 2.0, size=N)
    C[3] = 0.0
    return Problem.of(loss, norm, y, C, tau=0.4 * C.sum() if loss.kind == "one-class" else 0.0)


def feasible_alpha(problem, rng):
    """A random point of the box, moved along a line until it adds up to tau."""
    lo, hi = np.maximum(problem.term.lo, -3.0), np.minimum(problem.term.hi, 3.0)
    alpha = lo + rng.random(N) * (hi - lo)
    end = hi if alpha.sum() < problem.tau else lo
    return alpha + (problem.tau - alpha.sum()) / (end.sum() - alpha.sum()) * (end - alpha)


def certify(problem, K, alpha, theta):
    g = K @ alpha
    return problem.certificate(alpha, theta @ g, g @ alpha, theta)


def solve_slowly(problem, K, rng):
    """Solve the dual with a general solver, on alpha = up - down with up, down >= 0."""
    term, norm = problem.term, problem.norm
    smooth, free = replace(term, eps=np.zeros(N)), term.hi > term.lo
    inset = np.where(term.ent > 0, 1e-9, 0.0) * free  # an entropy is steep at its bounds
    lo, hi = term.lo + inset, term.hi - inset

    def objective(z):
        alpha = np.clip(z[:N] - z[N:], lo, hi)
        g = K @ alpha
        down, up = smooth.slopes(alpha)
        slope = np.where(np.isfinite(up), up, np.where(free, down, 0.0)) + norm.best(g @ alpha) @ g
        value = smooth.conjugate(alpha).sum() + term.eps @ (z[:N] + z[N:])
        return (
            value + 0.5 * norm.dual(g @ alpha),
            np.concatenate([slope + term.eps, -slope + term.eps]),
        )

    start = feasible_alpha(problem, rng)
    z = minimize(
        objective,
        np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)]),
        jac=True,
        bounds=np.maximum(np.block([[lo, -hi], [hi, -lo]]).T, 0.0),
        constraints={"type": "eq", "fun": lambda z: z[:N].sum() - z[N:].sum() - problem.tau},
        options={"maxiter": 1000, "ftol": 1e-15},
    ).x
    return np.clip(z[:N] - z[N:], lo, hi)


@every_loss
@every_norm
@given(seed=st.integers(0, 2**32 - 1))
def test_gap_is_never_negative(loss, norm, seed):
    rng = np.random.default_rng(seed)
    problem, K = random_problem(loss, norm, rng), kernel_matrices(rng)
    alpha, theta = feasible_alpha(problem, rng), rng.exponential(size=M)
    theta *= rng.choice([0.5, 1.0]) / norm.value(theta)
    certificate = certify(problem, K, alpha, theta)
    assert np.isfinite(certificate.dual)
    assert certificate.gap >= -1e-12
    assert certify(problem, K, alpha, 2 * theta).gap >= -1e-12  # infeasible weights gain nothing


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # by rounding: SciPy 1.15
@every_loss
@every_norm
def test_gap_is_zero_at_the_optimum(loss, norm, rng):
    problem, K = random_problem(loss, norm, rng), kernel_matrices(rng)
    sparse = norm == norms.Lp(1)  # its dual has kinks, which the slow solver does not like
    near, tol = (norms.Lp(1.005), 1e-2) if sparse else (norm, 1e-6)
    alpha = solve_slowly(replace(problem, norm=near), K, rng)
    theta = near.best(np.einsum("i,mij,j->m", alpha, K, alpha))
    certificate = certify(problem, K, alpha, theta / norm.value(theta))
    assert -1e-12 <= certificate.gap <= tol


@every_loss
def test_gap_upper_bounds_suboptimality(loss, rng):
    problem, K = random_problem(loss, norms.Lp(2), rng), kernel_matrices(rng)
    found = []
    for _ in range(30):
        theta = rng.exponential(size=M)
        alpha = feasible_alpha(problem, rng)
        found.append(certify(problem, K, alpha, theta / problem.norm.value(theta)))
    assert max(c.dual for c in found) <= min(c.primal for c in found)


@every_loss
@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_gap_is_divided_by_the_smaller_of_objective_and_improvement(loss, factor, rng):
    problem, K = random_problem(loss, norms.Lp(2), rng), kernel_matrices(rng)
    risk = replace(problem.risk, C=factor * problem.C, tau=factor * problem.tau)
    problem = replace(problem, risk=risk)
    found = certify(problem, K, feasible_alpha(problem, rng), problem.norm.start(M))
    quotients = [(found.primal - found.dual) / scale for scale in (abs(found.primal), found.scale)]
    assert found.gap == max(quotients)
    assert found.scale in (abs(found.primal), found.constant - found.dual)


@every_loss
def test_constant_model_has_the_best_bias(loss, rng):
    problem = random_problem(loss, norms.Lp(2), rng)
    none = np.zeros(N), np.zeros(M), problem.norm.start(M)
    biases = np.linspace(-5, 5, 2001)
    lowest = min(problem.primal(*none, bias) for bias in biases)
    assert problem.constant <= lowest + 1e-12
    assert problem.constant == pytest.approx(lowest, rel=1e-4)
    assert (problem.constant == 0) == (loss.kind == "one-class")


def test_constant_of_several_outputs_is_the_sum_over_outputs(rng):
    problems = [random_problem(losses.Logistic(), norms.Lp(2), rng) for _ in range(3)]
    other = replace(problems[1].risk, y=np.roll(problems[1].y, 1), C=problems[2].C)
    problems[1] = replace(problems[1], risk=other)
    shared = Problem.sharing(problems)
    assert shared.constant == pytest.approx(sum(one.constant for one in problems), rel=1e-12)


def small_improvement(gain):
    """A hinge problem, and an alpha that allows an improvement by a part of the constant."""
    y = np.where(np.arange(N) % 2, -1.0, 1.0)
    problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(N))
    s = np.array([2 * gain * problem.constant, 0.0, 0.0])
    return problem, problem.term.lo + problem.term.hi, s


@every_loss
@pytest.mark.parametrize("factor", [1e-12, 1.0], ids=["constant", "model"])
def test_certificates_of_several_outputs_are_those_of_each_output(loss, factor, rng):
    """Under fixed weights each output is a separate problem; an infeasible alpha has no bound."""
    first = random_problem(loss, norms.Lp(np.inf), rng)
    alone = [first, replace(first, risk=replace(first.risk, y=first.y[::-1]))]
    problem = Problem.sharing(alone).with_weights(np.ones(M))
    K = factor * kernel_matrices(rng)
    for shift in (0.0, 0.3):
        alpha = problem.risk.feasible_alpha() * (1.0 if loss.kind == "one-class" else 0.7)
        alpha[0] += shift
        F = (alpha.reshape(2, -1) @ K.sum(axis=0)).ravel()
        found = problem.certificates(alpha, F)
        for one, part, certificate in zip(alone, problem.output_slices, found, strict=True):
            s = np.array([alpha[part] @ k @ alpha[part] for k in K])
            fixed = one.with_weights(np.ones(M))
            expected = fixed.certificate(alpha[part], F[part], s, np.ones(M))
            for name, value in vars(expected).items():
                assert getattr(certificate, name) == pytest.approx(value, rel=1e-12, abs=1e-14)


def test_constant_model_is_certified_if_no_improvement_is_possible(rng):
    problem, alpha, s = small_improvement(1e-11)
    found = problem.certificate(alpha, rng.normal(size=N), s, problem.norm.start(M))
    assert problem.constant_is_optimal(found.dual)
    assert (found.primal, found.gap, found.bias) == (problem.constant, 0.0, 0.0)
    assert problem.gap(problem.constant, found.dual) == 0.0
    assert problem.gap(1.001 * problem.constant, found.dual) == np.inf
    assert not problem.constant_is_optimal(problem.dual(*small_improvement(1e-9)[1:]))


def test_constant_model_is_never_optimal_for_one_class(rng):
    problem = random_problem(losses.OneClass(), norms.Lp(2), rng)
    assert not problem.constant_is_optimal(0.0)
    assert problem.gap(-1.0, -2.0) == 1.0


@pytest.mark.parametrize("loss", [losses.Squared(), losses.EpsilonInsensitive(epsilon=0.0)])
@pytest.mark.parametrize("level", [0.0, 0.1, 1e8 / 3])
def test_constant_targets_have_no_gap_in_spite_of_rounding(loss, level):
    problem = Problem.of(loss, norms.Lp(2), np.full(N, level), np.full(N, 0.1))
    zero = np.zeros(N)
    assert problem.certificate(zero, zero, np.zeros(M), problem.norm.start(M)).gap <= 1e-5


@every_norm
def test_alternating_steps_solve_the_squared_loss(norm, rng):
    """With theta fixed alpha solves a linear system; `analytic` steps then close the gap."""
    problem, K = random_problem(losses.Squared(), norm, rng), kernel_matrices(rng)
    used = problem.C > 0
    n = used.sum()
    theta = norm.start(M)
    for _ in range(300):
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = np.tensordot(theta, K[:, used][:, :, used], 1)
        system[:n, :n] += np.diag(problem.term.curv[used])
        system[:n, n] = system[n, :n] = 1.0
        alpha = np.zeros(N)
        alpha[used] = np.linalg.solve(system, np.append(problem.y[used], 0.0))[:n]
        certificate = certify(problem, K, alpha, theta)
        theta = norm.analytic(theta, np.einsum("i,mij,j->m", alpha, K, alpha))
    assert certificate.gap <= (2e-3 if norm == norms.Lp(1) else 1e-8)


def standardised(table, n):
    X = table["X"][:n].astype(float)
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)


@pytest.mark.parametrize(
    ("name", "loss", "machine", "tau"),
    [
        ("wdbc", losses.Hinge(), SVC(C=2.0, tol=1e-7), 0.0),
        ("boston_housing", losses.EpsilonInsensitive(0.5), SVR(C=2.0, epsilon=0.5, tol=1e-7), 0.0),
        ("wdbc", losses.OneClass(), OneClassSVM(nu=0.3, tol=1e-9), 0.3 * 250),
    ],
    ids=["SVC", "SVR", "OneClassSVM"],
)
def test_libsvm_solves_the_problem_of_the_sum_kernel(name, loss, machine, tau, load_real):
    table, n = load_real(name), 250
    X, y = standardised(table, n), table["y"][:n].astype(float)
    K = np.stack([rbf_kernel(X, gamma=0.01), rbf_kernel(X, gamma=0.1), linear_kernel(X) / 30])
    machine.set_params(kernel="precomputed").fit(K.sum(axis=0), y)
    alpha = np.zeros(n)
    alpha[machine.support_] = machine.dual_coef_[0]
    C = np.full(n, machine.get_params().get("C", 1.0))
    certificate = certify(Problem.of(loss, norms.Lp(np.inf), y, C, tau), K, alpha, np.ones(M))
    assert 0 <= certificate.gap <= 1e-5
    assert certificate.bias == pytest.approx(machine.intercept_[0], abs=1e-3)


def test_infeasible_alphas_have_dual_value_minus_infinity(rng):
    problem = random_problem(losses.Hinge(), norms.Lp(2), rng)
    alpha = feasible_alpha(problem, rng)
    assert problem.dual(alpha + 1e-3, np.ones(M)) == -np.inf
    alpha[0], alpha[1] = 100.0, alpha[1] - 100.0 + alpha[0]
    assert problem.dual(alpha, np.ones(M)) == -np.inf


@every_norm
def test_given_weights_replace_the_norm_only(norm, rng):
    problem, theta = random_problem(losses.Hinge(), norm, rng), rng.random(M)
    inner = problem.with_weights(theta)
    assert inner.risk is problem.risk
    assert isinstance(inner.norm, norms.Fixed)
    np.testing.assert_array_equal(inner.norm.theta, theta)
