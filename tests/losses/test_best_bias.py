"""The weighted quantile minimises its piecewise linear function, sorted or partitioned."""

import numpy as np
import pytest

from kernelweave.losses.bias import weighted_quantile


def cost(b, points, weights, target):
    """Return a function of b whose slope rises from -target by each weight at its point."""
    return float(weights @ np.maximum(b - points, 0.0) - target * b)


@pytest.mark.parametrize("sort_below", [1, 4, 10_000])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_quantile_minimises_the_cost(n, sort_below, rng):
    for equal in (False, True):
        points = np.round(rng.normal(size=n), 1)
        weights = np.full(n, 0.1) if equal else rng.random(n) * (rng.random(n) < 0.8) + 1e-3
        for share in (0.0, 0.3, 0.5, 1.0):
            target = weights[: int(share * n)].sum() if equal else share * weights.sum()
            least = min(cost(b, points, weights, target) for b in points)
            b = weighted_quantile(points, weights, target, sort_below=sort_below)
            assert cost(b, points, weights, target) <= least + 1e-12 * (1 + abs(least))


@pytest.mark.parametrize("sort_below", [1, 10_000])
def test_quantile_is_the_midpoint_of_an_interval_of_minimisers(sort_below):
    points, weights = np.array([4.0, 0.0, 1.0, 7.0]), np.full(4, 0.5)
    assert weighted_quantile(points, weights, 1.0, sort_below=sort_below) == 2.5


def test_rounding_of_the_sums_does_not_hide_an_interval_of_minimisers():
    points, weights = np.arange(30.0), np.full(30, 0.1)
    assert weighted_quantile(points, weights, 2.0000000000000004) == 19.5
    assert weighted_quantile(points, weights, 1.9999999999999996) == 19.5


def test_quantile_without_weights_is_zero():
    assert weighted_quantile(np.ones(3), np.zeros(3), 0.0) == 0.0
