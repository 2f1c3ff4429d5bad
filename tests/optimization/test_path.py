"""Starts along a path: the factor of alpha, against all factors of a fine grid."""

from dataclasses import replace

import numpy as np
import pytest
from loss_cases import every_loss
from mkl_cases import make_case

from kernelweave import norms
from kernelweave.optimization.path import LEAST, MOST, at_cost, best_factor


def a_term(loss, rng, n=30):
    y = rng.choice([-1.0, 1.0], n) if loss.kind == "classifier" else rng.normal(size=n)
    return loss.dual_term(y, rng.uniform(0.5, 2.0, n))


def an_alpha(term, rng):
    """Alphas at some part of the way to the bound that they may have, some of them 0."""
    sign = np.where(term.hi > -term.lo, 1.0, -1.0)
    bound = np.where(sign > 0, np.minimum(term.hi, 1.0), np.maximum(term.lo, -1.0))
    alpha = bound * rng.uniform(0.05, 0.6, len(bound))
    return alpha if term.ent.any() else np.where(rng.random(len(bound)) < 0.3, 0.0, alpha)


@every_loss
@pytest.mark.parametrize("energy", [1e-3, 1.0, 30.0, 1e4])
def test_the_factor_makes_the_dual_value_largest(loss, energy, rng):
    term = a_term(loss, rng)
    alpha = an_alpha(term, rng)

    def value(factor):
        moved = np.clip(factor * alpha, term.lo, term.hi)
        return -term.conjugate(moved).sum() - 0.5 * factor**2 * energy

    factor = best_factor(term, alpha, energy)
    support = alpha != 0
    bounds = np.where(alpha > 0, term.hi, term.lo)[support]
    most = min((bounds / alpha[support]).min(), MOST)
    assert LEAST * most * (1 - 1e-9) <= factor <= most
    grid = most * np.geomspace(LEAST, 1.0, 4001)
    best = max(value(one) for one in grid)
    assert value(factor) >= best - 1e-9 * max(1.0, abs(best))


def test_factor_of_alpha_zero_is_1(rng):
    case = make_case_of_hinge(rng)
    assert best_factor(case.problem.term, np.zeros(40), 0.0) == 1.0


def make_case_of_hinge(rng):
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    return make_case({"X": X, "y": y}, "hinge", norms.Lp(1), n=40, C=1e3)


def test_at_a_higher_cost_a_solution_without_alphas_at_bounds_stays_one(rng):
    """Weights are learned only roughly: the best factor for the best weights would be another."""
    case = make_case_of_hinge(rng)
    result = case.solve("auto", tol=1e-3)
    assert result.converged
    assert np.abs(result.alpha).max() < 0.5 * case.problem.C.max()
    higher = replace(case.problem, risk=replace(case.problem.risk, C=100 * case.problem.C))
    weights = at_cost(higher, case.engine, result.weights)
    np.testing.assert_allclose(weights, result.weights, atol=1e-5)
    np.testing.assert_allclose(case.engine.alpha, result.alpha, rtol=1e-3, atol=1e-9)
