"""The empirical risk: the Fenchel-Young inequality, several outputs, parts, and bad arguments."""

from dataclasses import replace

import numpy as np
import pytest
from loss_cases import every_loss

from kernelweave import losses
from kernelweave.losses.risk import Risk

N = 12


def random_risk(loss, rng):
    y = rng.normal(size=N) if loss.kind == "regressor" else np.where(np.arange(N) % 2, -1.0, 1.0)
    C = rng.uniform(0.5, 2.0, size=N)
    C[3] = 0.0
    return Risk(loss, y, C, tau=0.4 * C.sum() if loss.kind == "one-class" else 0.0)


def feasible_alpha(risk, rng):
    """A random point of the box, moved along a line until it adds up to tau."""
    lo, hi = np.maximum(risk.term.lo, -3.0), np.minimum(risk.term.hi, 3.0)
    alpha = lo + rng.random(N) * (hi - lo)
    end = hi if alpha.sum() < risk.tau else lo
    return alpha + (risk.tau - alpha.sum()) / (end.sum() - alpha.sum()) * (end - alpha)


@every_loss
def test_risk_and_conjugate_obey_the_fenchel_young_inequality(loss, rng):
    risk = random_risk(loss, rng)
    for _ in range(50):
        alpha, F, bias = feasible_alpha(risk, rng), 3 * rng.normal(size=N), rng.normal()
        assert risk.value(F, bias) + risk.conjugate(alpha) >= -alpha @ F - 1e-9


@every_loss
def test_best_bias_minimises_the_risk(loss, rng):
    risk, F = random_risk(loss, rng), rng.normal(size=N)
    lowest = min(risk.value(F, bias) for bias in np.linspace(-8, 8, 3201))
    found = risk.value(F, risk.best_bias(F))
    assert found <= lowest + 1e-12
    assert found == pytest.approx(lowest, rel=1e-3)


@every_loss
def test_alphas_that_miss_their_sum_are_not_feasible(loss, rng):
    """The conjugate, a sum over examples, does not include this constraint."""
    risk = random_risk(loss, rng)
    alpha = feasible_alpha(risk, rng)
    assert risk.is_feasible(alpha)
    assert risk.is_feasible(alpha * (1 + 1e-14))
    moved = alpha.copy()
    moved[np.abs(alpha).argmax()] *= 0.99
    assert not risk.is_feasible(moved)
    assert np.isfinite(risk.conjugate(moved))


def test_conjugate_is_infinite_outside_the_box(rng):
    risk = random_risk(losses.Hinge(), rng)
    alpha = np.zeros(N)
    alpha[:2] = 1.5 * risk.term.hi[0], -1.5 * risk.term.hi[0]
    assert risk.is_feasible(alpha)
    assert risk.conjugate(alpha) == np.inf


@every_loss
def test_feasible_alpha_adds_up_within_its_bounds_for_each_output(loss, rng):
    risk = random_risk(loss, rng)
    shared = Risk.sharing([risk, risk])
    alpha = shared.feasible_alpha()
    assert shared.is_feasible(alpha)
    assert np.isfinite(shared.conjugate(alpha))
    np.testing.assert_array_equal(alpha, np.tile(risk.feasible_alpha(), 2))


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.SmoothHinge(3.0)], ids=repr)
def test_response_is_minus_the_gradient_and_the_hessian_of_a_smooth_risk(loss, rng):
    """Of the risk with the best bias, against differences."""
    risk, F, step = random_risk(loss, rng), rng.normal(size=N), 1e-5

    def value(F):
        return risk.value(F, risk.best_bias(F))

    here = risk.response(F)
    assert here.value == pytest.approx(value(F), rel=1e-12)
    assert risk.is_feasible(here.alpha)
    for unit in np.eye(N):
        slope = (value(F + step * unit) - value(F - step * unit)) / (2 * step)
        assert slope == pytest.approx(-here.alpha @ unit, abs=1e-7)
        change = risk.response(F + step * unit).alpha - risk.response(F - step * unit).alpha
        np.testing.assert_allclose(here.hessian(unit), -change / (2 * step), atol=1e-6)
    np.testing.assert_allclose(here.hessian(np.ones(N)), 0.0, atol=1e-12)  # the bias adapts


@every_loss
def test_response_attains_the_fenchel_young_equality(loss, rng):
    """Only smooth losses have one: their dual terms are entropies."""
    risk, F = random_risk(loss, rng), rng.normal(size=N)
    assert risk.is_smooth == (loss.name in ("logistic", "smooth_hinge"))
    if risk.is_smooth:
        here = risk.response(F)
        assert here.value + risk.conjugate(here.alpha) == pytest.approx(-here.alpha @ F, abs=1e-9)


def test_infeasibility_gain_is_the_violation_times_the_bias(rng):
    risk = random_risk(losses.OneClass(), rng)
    alpha = feasible_alpha(risk, rng)
    assert risk.infeasibility_gain(alpha + 1e-3, 2.0) == pytest.approx(2.0 * 1e-3 * N)


@every_loss
def test_risk_of_several_outputs_is_the_sum_over_outputs(loss, rng):
    risks = [random_risk(loss, rng) for _ in range(3)]
    risks = [replace(risk, C=risks[0].C, tau=risks[0].tau, centre=0.1 * k)
             for k, risk in enumerate(risks)]  # fmt: skip
    shared = Risk.sharing(risks)
    F = rng.normal(size=3 * N)
    biases = shared.best_bias(F)
    assert biases.shape == (3,)
    parts = [F[part] for part in shared.output_slices]
    expected = [risk.best_bias(part) for risk, part in zip(risks, parts, strict=True)]
    np.testing.assert_allclose(biases, expected)
    values = [risk.value(*pair) for risk, *pair in zip(risks, parts, expected, strict=True)]
    assert shared.value(F, biases) == pytest.approx(sum(values))
    alpha = [feasible_alpha(risk, rng) for risk in risks]
    conjugates = [risk.conjugate(one) for risk, one in zip(risks, alpha, strict=True)]
    assert shared.conjugate(np.concatenate(alpha)) == pytest.approx(sum(conjugates))
    for one, risk in zip(shared.per_output, risks, strict=True):
        np.testing.assert_array_equal(one.y, risk.y)
        assert (one.n_outputs, one.centre) == (1, risk.centre)


def test_restricted_risk_keeps_targets_and_scales_costs(rng):
    risk, idx = random_risk(losses.OneClass(), rng), np.array([1, 4, 8])
    small = risk.restricted(idx, 0.5, cost_factor=2.0)
    np.testing.assert_array_equal(small.y, risk.y[idx])
    np.testing.assert_array_equal(small.C, 2.0 * risk.C[idx])
    assert small.tau == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": np.ones(3)}, r"y and C must be vectors of one length, got .*\(12,\) and \(3,\)"),
        ({"C": np.full(N, -1.0)}, "C must be finite and at least 0"),
        ({"C": np.full(N, np.nan)}, "C must be finite and at least 0"),
        ({"tau": 100.0}, "tau must lie between -6 and 6, .* got 100"),
        ({"tau": np.nan}, "tau must lie between"),
        ({"n_outputs": 5}, "n_outputs must divide the number of examples, 12, got 5"),
    ],
)
def test_bad_risks_are_rejected(change, message):
    y = np.where(np.arange(N) % 2, -1.0, 1.0)
    risk = {"loss": losses.Hinge(), "y": y, "C": np.ones(N)}
    with pytest.raises(ValueError, match=message):
        Risk(**(risk | change))
