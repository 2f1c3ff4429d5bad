"""Risks of several classes: value, gradient, Hessian, conjugate and bias from slow definitions."""

import numpy as np
import pytest
from scipy.optimize import linprog

from kernelweave.losses import Hinge, Logistic
from kernelweave.losses.crammer_singer import CrammerSingerRisk
from kernelweave.losses.multinomial import MultinomialRisk

N, K = 40, 4
RISKS = {"multinomial": (MultinomialRisk, Logistic()), "hinge": (CrammerSingerRisk, Hinge())}
every_risk = pytest.mark.parametrize("name", RISKS)
every_tau = pytest.mark.parametrize("tau", [0.0, None])


def make_risk(name, rng, tau=0.0, absent=False):
    kind, loss = RISKS[name]
    codes = rng.integers(0, K - absent, size=N)
    costs = rng.uniform(0.5, 2.0, size=N)
    costs[:3] = 0.0
    return kind.of(loss, codes, costs, K, tau)


def slow_value(risk, F, bias):
    f, total = F.reshape(K, N) + np.reshape(bias, (-1, 1)), 0.0
    for i, c in enumerate(risk.codes):
        if isinstance(risk, MultinomialRisk):
            loss = np.log(np.exp(f[:, i]).sum()) - f[c, i]
        else:
            loss = max((k != c) + f[k, i] for k in range(K)) - f[c, i]
        total += risk.costs[i] * loss
    return total


@every_risk
@every_tau
def test_value_is_that_of_the_definition(name, tau, rng):
    risk = make_risk(name, rng, tau)
    F, bias = rng.normal(size=K * N), rng.normal(size=K)
    assert risk.value(F, bias) == pytest.approx(slow_value(risk, F, bias))


@every_tau
@pytest.mark.parametrize("absent", [False, True])
def test_dual_points_attain_the_conjugate(tau, absent, rng):
    risk = make_risk("multinomial", rng, tau, absent)
    F = rng.normal(size=K * N)
    found = risk.response(F)
    assert risk.is_feasible(found.alpha)
    assert risk.conjugate(found.alpha) == pytest.approx(-found.alpha @ F - found.value)


@every_tau
def test_hessian_is_the_derivative_of_the_dual_point(tau, rng):
    risk = make_risk("multinomial", rng, tau)
    F, move, step = rng.normal(size=K * N), rng.normal(size=K * N), 1e-5
    ahead, behind = (risk.response(F + sign * step * move).alpha for sign in (1, -1))
    product = risk.response(F).hessian(move)
    np.testing.assert_allclose(product, (behind - ahead) / (2 * step), atol=1e-7)


@every_risk
def test_conjugates_bound_the_risk_from_below(name, rng):
    """Fenchel: R(F) + R*(-alpha) >= -alpha . F for every feasible alpha."""
    risk = make_risk(name, rng, None)
    for _ in range(20):
        F, p = rng.normal(size=K * N), rng.dirichlet(np.ones(K), size=N).T
        alpha = (risk.costs * (risk.own - p)).ravel()
        assert risk.value(F) + risk.conjugate(alpha) >= -alpha @ F - 1e-9


@every_risk
def test_infeasible_dual_points_are_refused(name, rng):
    risk = make_risk(name, rng)
    alpha = np.zeros(K * N)
    alpha[np.flatnonzero(risk.y > 0)[-1]] = 0.1
    assert not risk.is_feasible(alpha)
    assert risk.conjugate(10.0 * risk.y * risk.C + 1.0) == np.inf


@every_risk
@pytest.mark.parametrize("absent", [False, True])
def test_no_bias_is_better_than_the_best_one(name, absent, rng):
    risk = make_risk(name, rng, absent=absent)
    F = rng.normal(size=K * N)
    best = risk.best_bias(F)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(20):
            other = best + scale * rng.normal(size=K)
            assert risk.value(F, best) <= risk.value(F, other) + 1e-6 * risk.value(F, best)


def test_the_bias_of_the_hinge_solves_the_linear_program(rng):
    risk = make_risk("hinge", rng)
    F = rng.normal(size=K * N)
    f, rows, right = F.reshape(K, N), [], []
    for i, c in enumerate(risk.codes):
        for k in range(K):  # xi_i >= [k != c] + f_k + b_k - f_c - b_c
            row = np.zeros(K + N)
            row[k] += 1.0
            row[c] -= 1.0
            row[K + i] = -1.0
            rows.append(row)
            right.append(f[c, i] - f[k, i] - (k != c))
    cost = np.concatenate([np.zeros(K), risk.costs])
    found = linprog(cost, A_ub=rows, b_ub=right, bounds=[(None, None)] * K + [(0, None)] * N)
    assert risk.value(F, risk.best_bias(F)) == pytest.approx(found.fun, rel=0.01)


@every_risk
@every_tau
@pytest.mark.parametrize("absent", [False, True])
def test_constant_model_is_the_best_one(name, tau, absent, rng):
    risk = make_risk(name, rng, tau, absent)
    value, bias = risk.constant_model
    assert value == pytest.approx(slow_value(risk, np.zeros(K * N), bias))
    if tau is None:
        assert not np.any(bias)
        return
    for _ in range(200):
        other = rng.normal(scale=2.0, size=K)
        assert value <= slow_value(risk, np.zeros(K * N), other) + 1e-9


def test_multinomial_risk_of_two_classes_equals_logistic_risk(rng):
    """With outputs -f / 2 and f / 2, the multinomial loss is the logistic loss of f."""
    codes, f = rng.integers(0, 2, size=N), rng.normal(size=N)
    risk = MultinomialRisk.of(Logistic(), codes, np.ones(N), 2)
    expected = Logistic().value(f, 2.0 * codes - 1.0).sum()
    assert risk.value(np.concatenate([-f / 2, f / 2])) == pytest.approx(expected)
