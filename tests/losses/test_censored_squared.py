"""Regression on censored times: losses, conjugate and bias against their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernelweave.losses import CensoredSquared
from kernelweave.losses.censored_squared import CensoredRisk

N = 30


def make_risk(rng, events=0.5, **how):
    C = rng.uniform(0.0, 2.0, size=N)
    C[:3] = 0.0
    return CensoredRisk(
        CensoredSquared(), rng.normal(size=N), C, event=rng.random(N) < events, **how
    )


def test_losses_count_outputs_above_censored_targets_only(rng):
    risk, f = make_risk(rng), rng.normal(size=N)
    expected = [
        (value - y) ** 2 if event or value > y else 0.0
        for value, y, event in zip(f, risk.y, risk.event, strict=True)
    ]
    np.testing.assert_allclose(risk.losses(f), expected)
    assert risk.value(f, 0.3) == pytest.approx(risk.C @ risk.losses(f + 0.3))


def test_conjugates_are_suprema(rng):
    risk = make_risk(rng)
    alpha = np.where(risk.event, 1.0, -1.0) * rng.random(N) * (risk.C > 0)
    found = risk.term.conjugate(alpha)
    for i in range(N):
        one = CensoredRisk(CensoredSquared(), risk.y[[i]], risk.C[[i]], event=risk.event[[i]])
        if risk.C[i] == 0:
            assert found[i] == 0
            continue
        best = minimize_scalar(lambda f, one=one, i=i: alpha[i] * f + one.value(np.array([f]), 0.0))
        assert found[i] == pytest.approx(-best.fun, abs=1e-6)
    wrong = np.where(risk.event, 0.0, 0.1)
    assert np.all(np.isinf(risk.term.conjugate(wrong)[~risk.event]))


@pytest.mark.parametrize("events", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
def test_bias_minimises_the_risk(events, scale, rng):
    risk, F = make_risk(rng, events), scale * rng.normal(size=N)
    if not (risk.event & (risk.C > 0)).any():
        risk.event[5] = True
    bias = risk.best_bias(F)
    best = minimize_scalar(lambda b: risk.value(F, b), bracket=(bias - 1, bias + 1))
    assert risk.value(F, bias) <= best.fun + 1e-9 * (1 + best.fun)


def test_bias_without_events_costs_nothing(rng):
    risk = make_risk(rng, events=0.0)
    assert risk.value(np.zeros(N), risk.best_bias(np.zeros(N))) == 0


def test_parts_keep_their_events(rng):
    risk, idx = make_risk(rng), rng.permutation(N)[:12]
    part = risk.restricted(idx, 0.0)
    np.testing.assert_array_equal(part.event, risk.event[idx])
    np.testing.assert_array_equal(part.term.hi, risk.term.hi[idx])
    np.testing.assert_array_equal(part.further_targets[0], risk.event[idx])


def test_the_loss_names_its_risk():
    for call in (CensoredSquared().value, CensoredSquared().dual_term):
        with pytest.raises(TypeError, match="CensoredRisk"):
            call(np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match="CensoredRisk"):
        CensoredSquared().best_bias(np.zeros(2), np.zeros(2), np.ones(2))
