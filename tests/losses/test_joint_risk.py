"""Laws of risks that are not sums over examples: Cox's with both kinds of ties, and ranking."""

import numpy as np
import pytest
from censored_cases import CASES, make_times
from scipy.optimize import minimize

from kernelweave import norms
from kernelweave.losses import Cox, Ranking
from kernelweave.losses.cox import CoxRisk
from kernelweave.losses.ranking import RankingRisk
from kernelweave.problem.problem import Problem

N = 24


def cox(ties):
    return lambda time, event, C: CoxRisk(Cox(ties), time, C, event=event, ties=ties)


def ranking(time, event, C):
    return RankingRisk(Ranking(), time, C, event=event)


RISKS = {"breslow": cox("breslow"), "efron": cox("efron"), "ranking": ranking}
every_risk = pytest.mark.parametrize("risk_of", RISKS.values(), ids=RISKS)
every_case = pytest.mark.parametrize("case", CASES)


def random_dual_point(risk, rng):
    """A mixture of the dual points of two random models, whose outputs are unknown."""
    first, second = (risk.response(rng.normal(size=len(risk.y))).alpha for _ in range(2))
    share = rng.random()
    return share * first + (1 - share) * second


@every_risk
@every_case
def test_value_does_not_depend_on_a_constant(risk_of, case, rng):
    risk, F = risk_of(*make_times(case, rng, N)), rng.normal(size=N)
    for shift in (7.0, 1e4):
        assert risk.value(F + shift) == pytest.approx(risk.value(F), abs=1e-9)
        np.testing.assert_allclose(
            risk.response(F + shift).alpha, risk.response(F).alpha, atol=1e-9
        )


@every_risk
@every_case
def test_dual_point_is_minus_the_gradient(risk_of, case, rng):
    risk, F = risk_of(*make_times(case, rng, N)), rng.normal(size=N)
    response, step = risk.response(F), 1e-5
    slopes = [risk.value(F + e) - risk.value(F - e) for e in step * np.eye(N)]
    np.testing.assert_allclose(-response.alpha, np.array(slopes) / (2 * step), atol=1e-7)
    assert response.value == risk.value(F)
    assert risk.is_feasible(response.alpha)
    assert abs(response.alpha.sum()) <= 1e-12


@every_risk
@every_case
def test_hessian_is_the_derivative_of_the_gradient(risk_of, case, rng):
    risk = risk_of(*make_times(case, rng, N))
    F, v, other = rng.normal(size=(3, N))
    step = 1e-5
    change = risk.response(F - step * v).alpha - risk.response(F + step * v).alpha
    hessian = risk.response(F).hessian
    np.testing.assert_allclose(hessian(v), change / (2 * step), atol=1e-6)
    assert v @ hessian(v) >= 0
    assert other @ hessian(v) == pytest.approx(v @ hessian(other), abs=1e-12)


@every_risk
@every_case
def test_conjugate_of_the_gradient_follows_from_fenchel_young(risk_of, case, rng):
    """The conjugate is the same from exact outputs, from approximate ones, and without any."""
    risk = risk_of(*make_times(case, rng, N))
    for scale in (0.1, 1.0, 5.0):
        F = scale * rng.normal(size=N)
        alpha, size = risk.response(F).alpha, 1 + abs(risk.value(F))
        for near in (F, F + 0.1 * rng.normal(size=N), None):
            expected = pytest.approx(-alpha @ F - risk.value(F), abs=1e-8 * size)
            assert risk.conjugate(alpha, near) == expected


@every_risk
@every_case
def test_conjugate_is_the_supremum(risk_of, case, rng):
    risk = risk_of(*make_times(case, rng, 12))
    for _ in range(3):
        alpha = random_dual_point(risk, rng)
        found = minimize(
            lambda F, alpha=alpha: alpha @ F + risk.value(F),
            np.zeros(12),
            jac=lambda F, alpha=alpha: alpha - risk.response(F).alpha,
            method="BFGS",
            options={"gtol": 1e-9},
        )
        assert risk.conjugate(alpha) == pytest.approx(-found.fun, abs=1e-5)


@every_risk
@every_case
def test_risk_and_conjugate_obey_the_fenchel_young_inequality(risk_of, case, rng):
    risk = risk_of(*make_times(case, rng, N))
    for _ in range(20):
        alpha, F = random_dual_point(risk, rng), 3 * rng.normal(size=N)
        assert risk.value(F) + risk.conjugate(alpha) >= -alpha @ F - 1e-9


@every_risk
def test_conjugate_is_infinite_unless_alpha_sums_to_zero(risk_of, rng):
    risk = risk_of(*make_times("plain", rng, N))
    alpha = risk.feasible_alpha()
    assert np.isfinite(risk.conjugate(alpha))
    alpha[0] += 0.1
    for point in (alpha, np.full(N, np.nan)):
        assert risk.conjugate(point) == np.inf


@every_risk
def test_parts_keep_their_events_and_costs(risk_of, rng):
    risk, F = risk_of(*make_times("costs", rng, N)), rng.normal(size=N)
    order = rng.permutation(N)
    assert risk.taken(order, risk.C[order]).value(F[order]) == pytest.approx(risk.value(F))
    some = order[:15]
    part = risk.restricted(some, 0.0, cost_factor=2.0)
    np.testing.assert_array_equal(part.event, risk.event[some])
    np.testing.assert_array_equal(part.C, 2 * risk.C[some])


@every_risk
def test_examples_without_cost_do_not_count(risk_of, rng):
    time, event, C = make_times("zero costs", rng, N)
    risk, F, kept = risk_of(time, event, C), rng.normal(size=N), C > 0
    part = risk_of(time[kept], event[kept], C[kept])
    assert risk.value(F) == pytest.approx(part.value(F[kept]), rel=1e-12)
    alpha = risk.response(F).alpha
    np.testing.assert_allclose(alpha[kept], part.response(F[kept]).alpha, atol=1e-12)
    assert not alpha[~kept].any()


@every_risk
@pytest.mark.parametrize("p", [1, 2])
def test_weak_duality_holds_for_random_models(risk_of, p, rng):
    risk = risk_of(*make_times("ties", rng, N))
    X = rng.normal(size=(2, N, 5))
    K = np.einsum("mid,mjd->mij", X, X)
    problem, primals, duals = Problem(risk, norms.Lp(p)), [], []
    for _ in range(30):
        beta, theta = 0.1 * rng.normal(size=N), rng.random(2)
        theta /= np.linalg.norm(theta, p)
        g = K @ beta
        primals.append(problem.primal(theta @ g, g @ beta, theta, 0.0))
        alpha = random_dual_point(risk, rng)
        duals.append(problem.dual(alpha, np.einsum("mij,i,j->m", K, alpha, alpha)))
    assert max(duals) <= min(primals)
    assert np.isfinite(duals).all()


@pytest.mark.parametrize("loss", [Cox(), Ranking()])
def test_losses_name_their_risk_and_refuse_sums_over_examples(loss):
    with pytest.raises(TypeError, match=rf"{type(loss).__name__}Risk\.value"):
        loss.value(np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match=rf"{type(loss).__name__}Risk\.conjugate"):
        loss.dual_term(np.zeros(2), np.zeros(2))
