"""The bias that a loss finds is the exact minimiser, whatever the outputs and costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import LOSSES, every_loss
from scipy.optimize import minimize_scalar

from kernelweave import losses

SMOOTH = [loss for loss in LOSSES if hasattr(loss, "derivatives")]
CLASSIFIERS = [loss for loss in LOSSES if loss.kind == "classifier"]


def problem(loss, n, seed):
    """Outputs, targets, costs (some of them zero) and tau of a problem that has a minimum."""
    rng = np.random.default_rng(seed)
    F = rng.normal(scale=rng.choice([0.1, 1.0, 30.0]), size=n) + rng.normal()
    F = np.round(F, rng.choice([0, 1, 12]))  # ties are where break points are easily missed
    y = rng.normal(size=n) if loss.kind == "regressor" else np.where(np.arange(n) % 2, -1.0, 1.0)
    C = np.where(rng.random(n) < 0.2, 0.0, rng.choice([1.0, 0.1, 2.5], size=n))
    C[:2] = 1.0
    tau = 0.3 * C.sum() if loss.kind == "one-class" else 0.0
    return F, y, C, tau


def objective(loss, F, y, C, tau):
    return lambda b: float(C @ loss.value(F + b, y) + tau * b)


@every_loss
@given(n=st.integers(2, 60), seed=st.integers(0, 2**32 - 1))
def test_no_other_bias_is_better(loss, n, seed):
    F, y, C, tau = problem(loss, n, seed)
    phi = objective(loss, F, y, C, tau)
    best = phi(loss.best_bias(F, y, C, tau))
    reach = np.abs(F).max() + np.abs(y).max() + 1.0
    found = minimize_scalar(phi, bounds=(-2 * reach, 2 * reach), options={"xatol": 1e-10})
    assert best <= found.fun + 1e-12 * (1 + abs(best))


@every_loss
@given(n=st.integers(2, 60), seed=st.integers(0, 2**32 - 1))
def test_the_objective_rises_on_both_sides(loss, n, seed):
    F, y, C, tau = problem(loss, n, seed)
    phi, b = objective(loss, F, y, C, tau), loss.best_bias(F, y, C, tau)
    rounding = 1e-13 * (1 + abs(phi(b)) + C.sum() * np.abs(F).max())
    for h in (1e-6, 1e-3, 1.0):
        assert phi(b) <= min(phi(b - h), phi(b + h)) + rounding


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_newton_finds_the_zero_of_the_derivative(loss, rng):
    F, y, C, tau = problem(loss, 1000, seed=3)
    slope = C @ loss.derivatives(F + loss.best_bias(F, y, C, tau), y)[0]
    assert abs(slope) <= 1e-13 * C.sum()


@every_loss
def test_shifting_the_outputs_shifts_the_bias(loss):
    F, y, C, tau = problem(loss, 101, seed=1)
    b = loss.best_bias(F, y, C, tau)
    assert loss.best_bias(F + 1000.0, y, C, tau) == pytest.approx(b - 1000.0, abs=1e-9)


def test_a_flat_stretch_gives_its_middle():
    y = np.array([1.0, -1.0])
    assert losses.Hinge().best_bias(np.array([3.0, -4.0]), y, np.ones(2)) == pytest.approx(0.5)


@every_loss
def test_no_weight_at_all_gives_zero(loss):
    assert loss.best_bias(np.arange(3.0), np.array([1.0, -1.0, 1.0]), np.zeros(3)) == 0.0


@pytest.mark.parametrize("loss", CLASSIFIERS, ids=lambda loss: loss.name)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_class_alone_gets_a_finite_bias_with_next_to_no_loss(loss, sign):
    F, y = np.linspace(-5, 5, 11), np.full(11, sign)
    b = loss.best_bias(F, y, np.ones(11))
    assert np.isfinite(b)
    assert loss.value(F + b, y).max() <= 1e-12


def test_a_million_examples(rng):
    n = 1_000_000
    F, y, C = rng.normal(size=n), rng.choice([-1.0, 1.0], size=n), np.ones(n)
    b = losses.Hinge().best_bias(F, y, C)
    assert np.sum(y - F < b) <= np.sum(y > 0) <= np.sum(y - F <= b)
