"""Cox's partial likelihood against its definition; `test_joint_risk` has the general laws."""

import numpy as np
import pytest
from censored_cases import CASES, make_times

from kernelweave.losses import Cox
from kernelweave.losses.cox import CoxRisk

N = 24
every_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
every_case = pytest.mark.parametrize("case", CASES)


def make_risk(case, ties, rng):
    time, event, C = make_times(case, rng, N)
    return CoxRisk(Cox(ties), time, C, event=event, ties=ties)


def slow_value(risk, F):
    """Return the negative partial log-likelihood from its definition, O(n^2)."""
    time, event, C = risk.y, risk.event, risk.C
    w, total = C / C.max(), 0.0
    for moment in np.unique(time[event & (C > 0)]):
        happened = np.flatnonzero((time == moment) & event & (C > 0))
        at_risk, d = (time >= moment) & (C > 0), len(happened)
        hazards = w * np.exp(F)
        for order in range(d):
            removed = order / d if risk.ties == "efron" else 0.0
            rest = hazards[at_risk].sum() - removed * hazards[happened].sum()
            total += C[happened].mean() * np.log(rest)
        total -= C[happened] @ F[happened]
    return total


@every_ties
@every_case
def test_value_follows_the_definition(case, ties, rng):
    risk = make_risk(case, ties, rng)
    for _ in range(5):
        F = 2 * rng.normal(size=N)
        assert risk.value(F) == pytest.approx(slow_value(risk, F), abs=1e-10)
        assert risk.value(F + 7.0) == pytest.approx(risk.value(F), abs=1e-10)


@every_ties
def test_conjugate_is_exact_for_hazards_of_very_different_size(ties, rng):
    """A risk set shrinks by forty orders of magnitude; an absolute tolerance would fail."""
    F = 20 * rng.normal(size=300)
    time = np.round(np.log(rng.exponential(np.exp(-F))), 0) + 100.0
    event = rng.random(300) < 0.7
    risk = CoxRisk(Cox(ties), time, np.ones(300), event=event, ties=ties)
    alpha = risk.response(F).alpha
    assert risk.conjugate(alpha) == pytest.approx(-alpha @ F - risk.value(F), rel=1e-10)


@every_ties
def test_conjugate_is_infinite_outside_its_domain(ties, rng):
    risk = make_risk("early", ties, rng)
    alpha = risk.feasible_alpha()
    assert np.isfinite(risk.conjugate(alpha))
    off_sum = alpha.copy()
    off_sum[0] -= 0.1
    negative = alpha.copy()  # an expected number of events below 0
    negative[0] = risk.C[0] + 0.1
    negative[-1] -= negative.sum()
    outside = alpha.copy()  # in no risk set: the risk does not depend on its output
    outside[1] -= 0.1
    outside[0] += 0.1
    too_late = alpha.copy()  # more expected events at the first time than that time can have
    first = np.argmin(np.where(risk.event, risk.y, np.inf))
    too_late[first] -= 100.0
    too_late[np.argmax(risk.y)] += 100.0
    for point in (off_sum, negative, outside, too_late, np.full(N, np.nan)):
        assert risk.conjugate(point) == np.inf


@every_ties
def test_weights_count_as_repeated_censored_examples(ties, rng):
    """A weight of 2 on a censored example is the same as two of it."""
    n = 15
    time, event = rng.integers(1, 6, size=n).astype(float), rng.random(n) < 0.5
    time[0], event[0] = 4.0, False
    F, C = rng.normal(size=n), np.ones(n)
    twice = np.append(np.arange(n), 0)
    several = CoxRisk(Cox(ties), time[twice], np.ones(n + 1), event=event[twice], ties=ties)
    C[0] = 2.0
    one = CoxRisk(Cox(ties), time, C, event=event, ties=ties)
    events = event.sum()
    # Weights are relative to the largest: log(1/2) for each event.
    assert one.value(F) == pytest.approx(several.value(F[twice]) - events * np.log(2), abs=1e-10)
    parts = several.response(F[twice]).alpha
    merged = parts[:n].copy()
    merged[0] += parts[n]
    np.testing.assert_allclose(one.response(F).alpha, merged, atol=1e-12)


def test_ties_agree_without_ties(rng):
    time, event, F = rng.exponential(size=N), rng.random(N) < 0.6, rng.normal(size=N)
    values = [
        CoxRisk(Cox(ties), time, np.ones(N), event=event, ties=ties).value(F)
        for ties in ("breslow", "efron")
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-14)


@every_ties
def test_outputs_beyond_the_range_of_exponentials_have_exact_values(ties):
    """The first event has all hazard, the second one none: log e^0 - (-1000)."""
    time, event = np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, False, False])
    risk = CoxRisk(Cox(ties), time, np.ones(4), event=event, ties=ties)
    F = np.array([3000.0, -1000.0, 0.0, -2000.0])
    assert risk.value(F) == pytest.approx(1000.0)
    response = risk.response(F)
    np.testing.assert_allclose(response.alpha, [0.0, 1.0, -1.0, 0.0], atol=1e-12)
    assert np.isfinite(response.hessian(np.arange(4.0))).all()
    assert risk.conjugate(response.alpha) == np.inf  # at the edge of its domain


def test_ties_are_named():
    with pytest.raises(ValueError, match="ties must be one of"):
        Cox("exact")
