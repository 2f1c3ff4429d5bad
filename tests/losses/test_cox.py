"""Cox's partial likelihood: value, gradient, Hessian and conjugate against slow definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave import norms
from kernelweave.losses import Cox
from kernelweave.losses.cox import CoxRisk
from kernelweave.problem.problem import Problem

N = 24
CASES = ("plain", "ties", "zero costs", "costs", "one time", "one event", "all events", "early")
every_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
every_case = pytest.mark.parametrize("case", CASES)


def make_risk(case, ties, rng, n=N):
    """A random risk: times, events and costs by the name of a case."""
    time, event, C = rng.exponential(size=n), rng.random(n) < 0.6, np.full(n, 0.7)
    event[0] = True
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
    elif case == "early":  # some are censored before the first event
        time[1:4], event[1:4] = 1e-3, False
        time[0] = max(time[0], 0.1)
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


def slow_conjugate(risk, alpha):
    """Return the largest -alpha . F - R(F) that a quasi-Newton method finds."""
    found = minimize(
        lambda F: alpha @ F + slow_value(risk, F),
        np.zeros(len(alpha)),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    return -found.fun


def random_dual_point(risk, rng):
    """A mixture of the dual points of two random models: not itself that of a known model."""
    first, second = (risk.response(rng.normal(size=len(risk.y))).alpha for _ in range(2))
    share = rng.random()
    return share * first + (1 - share) * second


@every_ties
@every_case
def test_value_follows_the_definition(case, ties, rng):
    risk = make_risk(case, ties, rng)
    for _ in range(5):
        F = 2 * rng.normal(size=N)
        assert risk.value(F) == pytest.approx(slow_value(risk, F), abs=1e-10)
        assert risk.value(F + 7.0) == pytest.approx(risk.value(F), abs=1e-10)


@every_ties
@every_case
def test_dual_point_is_minus_the_gradient(case, ties, rng):
    risk, F = make_risk(case, ties, rng), rng.normal(size=N)
    response, step = risk.response(F), 1e-5
    slopes = [slow_value(risk, F + e) - slow_value(risk, F - e) for e in step * np.eye(N)]
    np.testing.assert_allclose(-response.alpha, np.array(slopes) / (2 * step), atol=1e-7)
    assert response.value == risk.value(F)
    assert risk.is_feasible(response.alpha)
    assert abs(response.alpha.sum()) <= 1e-12


@every_ties
@every_case
def test_hessian_is_the_derivative_of_the_gradient(case, ties, rng):
    risk, F, v, step = make_risk(case, ties, rng), *rng.normal(size=(2, N)), 1e-5
    change = risk.response(F - step * v).alpha - risk.response(F + step * v).alpha
    hessian = risk.response(F).hessian
    np.testing.assert_allclose(hessian(v), change / (2 * step), atol=1e-6)
    assert v @ hessian(v) >= 0
    other = rng.normal(size=N)
    assert other @ hessian(v) == pytest.approx(v @ hessian(other), abs=1e-12)


@every_ties
@every_case
def test_conjugate_of_the_gradient_follows_from_fenchel_young(case, ties, rng):
    risk = make_risk(case, ties, rng)
    for scale in (0.1, 1.0, 5.0):
        F = scale * rng.normal(size=N)
        alpha, size = risk.response(F).alpha, 1 + abs(risk.value(F))
        assert risk.conjugate(alpha) == pytest.approx(-alpha @ F - risk.value(F), abs=1e-9 * size)


@every_ties
@every_case
def test_conjugate_is_the_supremum(case, ties, rng):
    risk = make_risk(case, ties, rng, n=12)
    for _ in range(3):
        alpha = random_dual_point(risk, rng)
        assert risk.conjugate(alpha) == pytest.approx(slow_conjugate(risk, alpha), abs=1e-5)


@every_ties
@every_case
def test_risk_and_conjugate_obey_the_fenchel_young_inequality(case, ties, rng):
    risk = make_risk(case, ties, rng)
    for _ in range(50):
        alpha, F = random_dual_point(risk, rng), 3 * rng.normal(size=N)
        assert risk.value(F) + risk.conjugate(alpha) >= -alpha @ F - 1e-9


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


@every_ties
def test_examples_without_cost_do_not_count(ties, rng):
    risk, F = make_risk("zero costs", ties, rng), rng.normal(size=N)
    kept = risk.C > 0
    part = CoxRisk(Cox(ties), risk.y[kept], risk.C[kept], event=risk.event[kept], ties=ties)
    assert risk.value(F) == pytest.approx(part.value(F[kept]), rel=1e-14)
    np.testing.assert_allclose(risk.response(F).alpha[kept], part.response(F[kept]).alpha)
    assert not risk.response(F).alpha[~kept].any()


@every_ties
def test_parts_keep_their_events(ties, rng):
    risk, F = make_risk("costs", ties, rng), rng.normal(size=N)
    order = rng.permutation(N)
    taken = risk.taken(order, risk.C[order])
    assert taken.value(F[order]) == pytest.approx(risk.value(F), rel=1e-12)
    some = order[:15]
    part = risk.restricted(some, 0.0, cost_factor=2.0)
    np.testing.assert_array_equal(part.event, risk.event[some])
    np.testing.assert_array_equal(part.C, 2 * risk.C[some])


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


@every_ties
def test_weak_duality_holds_for_random_models(ties, rng):
    risk = make_risk("ties", ties, rng)
    X = rng.normal(size=(2, N, 5))
    K = np.einsum("mid,mjd->mij", X, X)
    for norm in (norms.Lp(1), norms.Lp(2)):
        problem = Problem(risk, norm)
        values = []
        for _ in range(30):
            beta, theta = 0.1 * rng.normal(size=N), rng.random(2)
            theta /= np.linalg.norm(theta, norm.p)
            g = K @ beta
            primal = problem.primal(theta @ g, g @ beta, theta, 0.0)
            alpha = random_dual_point(risk, rng)
            values.append((primal, problem.dual(alpha, np.einsum("mij,i,j->m", K, alpha, alpha))))
        primals, duals = np.array(values).T
        assert duals.max() <= primals.min()
        assert np.isfinite(duals).all()


def test_the_loss_names_its_risk_and_refuses_sums_over_examples():
    with pytest.raises(ValueError, match="ties must be one of"):
        Cox("exact")
    with pytest.raises(TypeError, match=r"CoxRisk\.value"):
        Cox().value(np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match=r"CoxRisk\.conjugate"):
        Cox().dual_term(np.zeros(2), np.zeros(2))
