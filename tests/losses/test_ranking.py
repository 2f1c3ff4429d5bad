"""The ranking risk: value, gradient, Hessian and conjugate against sums over all pairs."""

import numpy as np
import pytest
from checker import _pairs, _ranking
from scipy.optimize import minimize

from kernelweave import norms
from kernelweave.losses import Ranking
from kernelweave.losses.comparable_pairs import ComparablePairs, MatrixOfPairs, TreeOfPairs
from kernelweave.losses.ranking import RankingRisk
from kernelweave.problem.problem import Problem

N = 26
CASES = ("plain", "ties", "zero costs", "costs", "one time", "one event", "all events")
every_case = pytest.mark.parametrize("case", CASES)


def make_risk(case, rng, n=N):
    """A random risk: times, events and costs by the name of a case."""
    time, event, C = rng.exponential(size=n), rng.random(n) < 0.6, np.full(n, 0.7)
    event[0], time[0] = True, 1e-3
    if case in ("ties", "zero costs", "costs"):
        time = rng.integers(1, 9, size=n).astype(float)
    if case == "zero costs":
        C[rng.permutation(n - 1)[:4] + 1] = 0.0
    elif case == "costs":
        C = rng.uniform(0.1, 3.0, size=n)
    elif case == "one time":
        time[:] = 2.0
    elif case == "one event":
        event[1:] = False
    elif case == "all events":
        event[:] = True
    return RankingRisk(Ranking(), time, C, event=event)


def slow(risk, F):
    """Value, dual point, Hessian and conjugate by a list of all pairs."""
    return _ranking(F, _pairs(risk.y, risk.event, risk.C))


@every_case
@pytest.mark.parametrize("n", [2, 3, 7, N, 65])
def test_sums_over_pairs_equal_those_of_a_list(case, n, rng):
    risk = make_risk(case, rng, n) if n > 5 else make_risk("plain", rng, n)
    first, second, _ = _pairs(risk.y, risk.event, risk.C)
    assert risk.pairs.number() == len(first)
    F, values = rng.normal(size=n), rng.normal(size=n)
    kept = F[first] - 1 < F[second]
    over_later = np.bincount(first[kept], values[second[kept]], n)
    over_earlier = np.bincount(second[kept], values[first[kept]], n)
    for active in (MatrixOfPairs(risk.pairs, F), TreeOfPairs(risk.pairs, F)):
        np.testing.assert_allclose(active.over_later(values), over_later, atol=1e-12)
        np.testing.assert_allclose(active.over_earlier(values), over_earlier, atol=1e-12)


def test_many_examples_have_a_tree(rng):
    n = 1200
    risk = RankingRisk(Ranking(), rng.exponential(size=n), np.ones(n), event=rng.random(n) < 0.5)
    F = rng.normal(size=n)
    assert isinstance(risk.pairs.active(F), TreeOfPairs)
    matrix = MatrixOfPairs(risk.pairs, F)
    np.testing.assert_allclose(risk.pairs.active(F).over_later(F), matrix.over_later(F), atol=1e-9)


def test_no_comparable_pair_is_a_risk_of_zero():
    event, time = np.array([True, True]), np.ones(2)
    assert ComparablePairs.of(time, event, np.ones(2, dtype=bool)).number() == 0
    risk = RankingRisk(Ranking(), time, np.ones(2), event=event)
    assert risk.value(np.array([3.0, -3.0])) == 0
    assert risk.conjugate(np.zeros(2)) == 0


@every_case
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_value_gradient_and_hessian_are_those_of_all_pairs(case, shift, rng):
    risk = make_risk(case, rng)
    for scale in (0.1, 1.0, 5.0):
        F = scale * rng.normal(size=N)
        value, alpha, hessian, _ = slow(risk, F)
        response = risk.response(F + shift)
        atol = 1e-9 * (1 + value)
        assert risk.value(F + shift) == pytest.approx(value, abs=atol)
        assert response.value == pytest.approx(value, abs=atol)
        np.testing.assert_allclose(response.alpha, alpha, atol=atol)
        found = np.array([response.hessian(unit) for unit in np.eye(N)])
        np.testing.assert_allclose(found, hessian, atol=1e-9)


@every_case
def test_conjugate_of_a_dual_point_is_that_of_the_pairs(case, rng):
    """The conjugate is the same from exact outputs, from approximate ones, and without any."""
    risk = make_risk(case, rng)
    for scale in (0.1, 1.0, 3.0):
        F = scale * rng.normal(size=N)
        alpha = risk.response(F).alpha
        expected = slow(risk, F)[3]
        assert risk.conjugate(alpha, F) == pytest.approx(expected, abs=1e-9)
        for near in (F + 0.1 * rng.normal(size=N), None):
            assert risk.conjugate(alpha, near) == pytest.approx(expected, abs=1e-7)


@every_case
def test_conjugate_is_the_supremum(case, rng):
    risk = make_risk(case, rng, n=12)
    first, second = (risk.response(rng.normal(size=12)).alpha for _ in range(2))
    alpha = 0.3 * first + 0.7 * second  # not that of known outputs
    found = minimize(
        lambda F: alpha @ F + slow(risk, F)[0],
        np.zeros(12),
        jac=lambda F: alpha - slow(risk, F)[1],
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert risk.conjugate(alpha) == pytest.approx(-found.fun, abs=1e-6)


def test_conjugate_of_pairs_that_hardly_violate_their_margins():
    """Values of R have no digits left there: a line search that compares them never ends."""
    for seed in (2, 3, 5, 8, 46, 134):
        rng = np.random.default_rng(seed)
        time = rng.permutation(10).astype(float)
        risk = RankingRisk(Ranking(), time, np.full(10, 0.036), event=np.ones(10, dtype=bool))
        F = -time + 1e-4 * rng.normal(size=10)
        alpha = risk.response(F).alpha
        for near in (F + 1e-4 * rng.normal(size=10), None):
            assert risk.conjugate(alpha, near) == pytest.approx(-alpha @ F - risk.value(F))


def test_conjugate_is_infinite_outside_its_domain(rng):
    risk = make_risk("plain", rng)
    alpha = risk.feasible_alpha()
    assert np.isfinite(risk.conjugate(alpha))
    off_sum = alpha.copy()
    off_sum[0] += 0.1
    last = int(np.argmax(risk.y))
    upward = alpha.copy()  # the last time is no earlier one
    upward[last], upward[0] = 1.0, upward[0] - (1.0 - upward[last])
    for point in (off_sum, upward, np.full(N, np.nan)):
        assert risk.conjugate(point) == np.inf


def test_parts_keep_their_events_and_costs(rng):
    risk, F = make_risk("costs", rng), rng.normal(size=N)
    order = rng.permutation(N)
    assert risk.taken(order, risk.C[order]).value(F[order]) == pytest.approx(risk.value(F))
    part = risk.restricted(order[:15], 0.0, cost_factor=2.0)
    np.testing.assert_array_equal(part.event, risk.event[order[:15]])
    np.testing.assert_array_equal(part.C, 2 * risk.C[order[:15]])


def test_weak_duality_holds_for_random_models(rng):
    risk = make_risk("ties", rng)
    X = rng.normal(size=(2, N, 5))
    K = np.einsum("mid,mjd->mij", X, X)
    problem = Problem(risk, norms.Lp(2))
    primals, duals = [], []
    for _ in range(20):
        beta, theta = 0.1 * rng.normal(size=N), rng.random(2)
        theta /= np.linalg.norm(theta)
        g = K @ beta
        primals.append(problem.primal(theta @ g, g @ beta, theta, 0.0))
        alpha = risk.response(rng.normal(size=N)).alpha
        duals.append(problem.dual(alpha, np.einsum("mij,i,j->m", K, alpha, alpha)))
    assert max(duals) <= min(primals)
    assert np.isfinite(duals).all()


def test_the_loss_names_its_risk():
    with pytest.raises(TypeError, match=r"RankingRisk\.value"):
        Ranking().value(np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match=r"RankingRisk\.conjugate"):
        Ranking().dual_term(np.zeros(2), np.zeros(2))
