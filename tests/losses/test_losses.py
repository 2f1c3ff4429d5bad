"""Laws that every loss obeys, against numerical suprema and differences."""

import numpy as np
import pytest
from loss_cases import LOSSES, every_loss
from scipy.optimize import minimize_scalar

from kernelweave import losses

SMOOTH = [loss for loss in LOSSES if hasattr(loss, "derivatives")]


def targets(loss, n, rng):
    return rng.normal(size=n) if loss.kind == "regressor" else rng.choice([-1.0, 1.0], size=n)


def dual_points(term, rng):
    """Points inside the bounds, both bounds among them where they are finite."""
    lo, hi = np.maximum(term.lo, -3.0), np.minimum(term.hi, 3.0)
    share = rng.random(len(lo))
    share[::5], share[1::5] = 0.0, 1.0
    return np.clip(lo + share * (hi - lo), lo, hi)


@every_loss
def test_value_is_convex_and_not_negative(loss, rng):
    y = targets(loss, 200, rng)
    f, g = rng.normal(scale=3.0, size=(2, 200))
    middle = loss.value(0.5 * (f + g), y)
    assert np.all(middle >= 0)
    assert np.all(middle <= 0.5 * (loss.value(f, y) + loss.value(g, y)) + 1e-12)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_derivatives_match_differences(loss, rng):
    y, f, h = targets(loss, 200, rng), rng.normal(scale=2.0, size=200), 1e-6
    first, second = loss.derivatives(f, y)
    np.testing.assert_allclose(
        first, (loss.value(f + h, y) - loss.value(f - h, y)) / (2 * h), atol=1e-8
    )
    rise = loss.derivatives(f + h, y)[0] - loss.derivatives(f - h, y)[0]
    np.testing.assert_allclose(second, rise / (2 * h), atol=1e-7)


@every_loss
def test_conjugate_is_the_supremum(loss, rng):
    y, C = targets(loss, 40, rng), rng.uniform(0.1, 2.0, size=40)
    term = loss.dual_term(y, C)
    alpha = dual_points(term, rng)
    for i, value in enumerate(term.conjugate(alpha)):

        def cost(f, i=i):
            return float(alpha[i] * f + C[i] * loss.value(np.array([f]), y[i : i + 1])[0])

        supremum = -minimize_scalar(cost, bounds=(-60, 60), options={"xatol": 1e-10}).fun
        assert value == pytest.approx(supremum, abs=1e-7)


@every_loss
def test_conjugate_is_infinite_outside_the_bounds(loss, rng):
    y, C = targets(loss, 50, rng), rng.uniform(0.1, 2.0, size=50)
    term = loss.dual_term(y, C)
    for outside in (term.lo - 1e-9, term.hi + 1e-9):
        bounded = np.isfinite(outside)
        assert np.all(np.isinf(term.take(bounded).conjugate(outside[bounded])))


@every_loss
def test_fenchel_young_inequality(loss, rng):
    y, C = targets(loss, 300, rng), rng.uniform(0.1, 2.0, size=300)
    term = loss.dual_term(y, C)
    f, alpha = rng.normal(scale=2.0, size=300), dual_points(term, rng)
    assert np.all(C * loss.value(f, y) + term.conjugate(alpha) + alpha * f >= -1e-12)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_fenchel_young_equality_at_the_derivative(loss, rng):
    y, C = targets(loss, 300, rng), rng.uniform(0.1, 2.0, size=300)
    term, f = loss.dual_term(y, C), rng.normal(scale=2.0, size=300)
    alpha = -C * loss.derivatives(f, y)[0]
    gap = C * loss.value(f, y) + term.conjugate(alpha) + alpha * f
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)


@every_loss
def test_slopes_bound_the_outputs_at_which_fenchel_young_is_tight(loss, rng):
    y, C = targets(loss, 300, rng), rng.uniform(0.1, 2.0, size=300)
    term = loss.dual_term(y, C)
    alpha = dual_points(term, rng)
    down, up = term.slopes(alpha)
    assert np.all(down <= up)
    f = -np.clip(0.0, down, up)
    tight = np.isfinite(f)  # an entropy is tight at its bounds for infinite outputs only
    assert tight.sum() > 100
    f, alpha, y, C, term = f[tight], alpha[tight], y[tight], C[tight], term.take(tight)
    gap = C * loss.value(f, y) + term.conjugate(alpha) + alpha * f
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)


@every_loss
def test_slopes_match_differences(loss, rng):
    y, C = targets(loss, 300, rng), rng.uniform(0.1, 2.0, size=300)
    term, h = loss.dual_term(y, C), 1e-7
    lo, hi = np.maximum(term.lo, -3.0), np.minimum(term.hi, 3.0)
    alpha = lo + rng.uniform(0.1, 0.9, size=300) * (hi - lo)
    alpha[:50] = np.where(term.ent > 0, alpha, 0.0)[:50]  # the kink of |alpha|, or a bound
    down, up = term.slopes(alpha)
    here = term.conjugate(alpha)
    for side, slope in ((-h, down), (h, up)):
        there = term.conjugate(alpha + side)
        inside = np.isfinite(slope)
        difference = (there[inside] - here[inside]) / side
        np.testing.assert_allclose(slope[inside], difference, atol=1e-5)
        assert np.all(np.isinf(there[~inside]))


@every_loss
def test_an_example_without_weight_has_alpha_zero(loss, rng):
    y, C = targets(loss, 6, rng), np.array([0.0, 1.0, 0.0, 2.0, 0.0, 1.0])
    term, free = loss.dual_term(y, C), C == 0
    assert np.all(term.lo[free] == 0)
    assert np.all(term.hi[free] == 0)
    assert np.all(term.conjugate(np.zeros(6))[free] == 0)
    assert np.all(np.isinf(term.conjugate(np.full(6, 1e-9))[free]))
    down, up = term.slopes(np.zeros(6))
    assert np.all(down[free] == -np.inf)
    assert np.all(up[free] == np.inf)


@every_loss
def test_take_keeps_the_terms_of_the_examples(loss, rng):
    y, C = targets(loss, 30, rng), rng.uniform(0.1, 2.0, size=30)
    term, index = loss.dual_term(y, C), np.array([7, 3, 21])
    part, alpha = term.take(index), dual_points(term, rng)
    np.testing.assert_array_equal(part.conjugate(alpha[index]), term.conjugate(alpha)[index])
    assert part.eps.flags.c_contiguous
    assert part.eps.strides == (8,)


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.SmoothHinge(sigma=50.0)])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_extreme_outputs_and_duals_stay_finite(loss, y):
    f, y = np.array([-1e4, 1e4]), np.full(2, y)
    assert np.all(np.isfinite(loss.value(f, y)))
    term, alpha = loss.dual_term(y, np.ones(2)), y * np.array([1e-300, 1e-20])
    inwards = term.slopes(alpha)[1 if y[0] > 0 else 0]
    assert np.all(np.isfinite(inwards))
    assert np.all(np.isfinite(term.conjugate(alpha)))


def test_smooth_hinge_approaches_the_hinge(rng):
    f, y = rng.normal(size=100), rng.choice([-1.0, 1.0], size=100)
    excess = losses.SmoothHinge(sigma=100.0).value(f, y) - losses.Hinge().value(f, y)
    assert excess.min() >= -1e-15
    assert excess.max() <= np.log(2) / 100 + 1e-12


@every_loss
def test_get_finds_every_loss_by_name_and_passes_objects_on(loss):
    assert type(losses.get(loss.name, loss.kind)) is type(loss)
    assert losses.get(loss, loss.kind) is loss


def test_get_passes_parameters():
    assert losses.get("epsilon_insensitive", "regressor", epsilon=0.5).epsilon == 0.5


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ("hinges", "classifier"),
        ("hinge", "regressor"),
        (losses.Hinge(), "regressor"),
        (losses.Hinge, "classifier"),
        (None, "classifier"),
    ],
)
def test_get_names_accepted_losses(loss, kind):
    accepted = {"classifier": "squared_hinge", "regressor": "epsilon_insensitive"}[kind]
    with pytest.raises(ValueError, match=f"loss must be one of .*{accepted}"):
        losses.get(loss, kind)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_smooth_hinge_rejects_a_bad_sigma(value):
    with pytest.raises(ValueError, match="sigma must be a positive finite number"):
        losses.SmoothHinge(sigma=value)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_epsilon_insensitive_rejects_a_bad_epsilon(value):
    with pytest.raises(ValueError, match="epsilon must be a finite number >= 0"):
        losses.EpsilonInsensitive(epsilon=value)
