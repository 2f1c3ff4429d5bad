"""The point at which weights balance: few points are sorted, many are halved."""

import numpy as np
import pytest

from kernelweave.losses import base
from kernelweave.losses.base import balance


def cost(b, points, weights, target):
    """A function of b whose slope rises from -target by each weight at its point."""
    return float(weights @ np.maximum(b - points, 0.0) - target * b)


@pytest.mark.parametrize("few", [1, 4, 10_000])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_balance_is_where_the_cost_is_least(n, few, rng, monkeypatch):
    monkeypatch.setattr(base, "FEW", few)
    for equal in (False, True):
        points = np.round(rng.normal(size=n), 1)
        weights = np.full(n, 0.1) if equal else rng.random(n) * (rng.random(n) < 0.8) + 1e-3
        for share in (0.0, 0.3, 0.5, 1.0):
            target = weights[: int(share * n)].sum() if equal else share * weights.sum()
            least = min(cost(b, points, weights, target) for b in points)
            found = cost(balance(points, weights, target), points, weights, target)
            assert found <= least + 1e-12 * (1 + abs(least))


@pytest.mark.parametrize("few", [1, 10_000])
def test_balance_is_in_the_middle_of_a_flat_stretch(few, monkeypatch):
    monkeypatch.setattr(base, "FEW", few)
    points, weights = np.array([4.0, 0.0, 1.0, 7.0]), np.full(4, 0.5)
    assert balance(points, weights, 1.0) == 2.5


def test_rounding_of_the_sums_does_not_hide_a_flat_stretch():
    points, weights = np.arange(30.0), np.full(30, 0.1)
    assert balance(points, weights, 2.0000000000000004) == 19.5
    assert balance(points, weights, 1.9999999999999996) == 19.5


def test_without_weights_it_is_zero():
    assert balance(np.ones(3), np.zeros(3), 0.0) == 0.0
