"""The ranking risk against sums over all pairs; `test_joint_risk` has the general laws."""

import numpy as np
import pytest
from censored_cases import CASES, make_times
from checker import _pairs, _ranking

from kernelweave.losses import Ranking
from kernelweave.losses.comparable_pairs import ComparablePairs, MatrixOfPairs, TreeOfPairs
from kernelweave.losses.ranking import RankingRisk

N = 26
every_case = pytest.mark.parametrize("case", CASES)


def make_risk(case, rng, n=N):
    time, event, C = make_times(case, rng, n)
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
