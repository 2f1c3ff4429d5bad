"""The reduced gradient step of SimpleMKL (Rakotomamonjy et al., 2008), for p = 1.

With phi_m = cost_m theta_m on the simplex, one weight (the largest) pays for what the others gain:
the step descends along the reduced gradient of J, first as far as weights vanish and J falls, then
to the minimum along the last direction. Each solve yields the derivative along the line for free.
"""

from __future__ import annotations

import numpy as np

from .base import Ball, SolvedTurn

FLAT = 0.1  # the line search stops where the slope has fallen to this part of its start
TRIES = 12


class Gradient:
    """Descend along the reduced gradient with complete solves."""

    def __init__(self, norm: Ball):
        self.norm = norm

    def __call__(self, turn: SolvedTurn) -> np.ndarray:
        costs = self.norm.ball(np.ones_like(turn.theta))[1]
        direction = _reduced(costs * turn.theta, -0.5 * turn.s / costs) / costs
        while np.any(direction < 0):
            reach, first = _reach(turn.theta, direction)
            end = turn.at(_clear(turn.theta + reach * direction, first))
            if end.value >= turn.value:
                return _search(turn, direction, end, reach)
            turn, direction = end, _without(direction, first, turn.theta, costs)
        return turn.theta


def _reduced(phi: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the descent direction on the simplex, shape (M,); its sum is 0."""
    payer = phi.argmax()
    direction = gradient[payer] - gradient
    direction[(phi <= 0) & (direction < 0)] = 0.0
    direction[payer] = 0.0
    direction[payer] = -direction.sum()
    return direction


def _reach(theta: np.ndarray, direction: np.ndarray) -> tuple[float, int]:
    """Return how far the weights can go, and the one that vanishes first."""
    falling = np.flatnonzero(direction < 0)
    lengths = -theta[falling] / direction[falling]
    return float(lengths.min()), int(falling[lengths.argmin()])


def _clear(theta: np.ndarray, vanished: int) -> np.ndarray:
    theta = np.maximum(theta, 0.0)
    theta[vanished] = 0.0
    return theta


def _without(
    direction: np.ndarray, vanished: int, theta: np.ndarray, costs: np.ndarray
) -> np.ndarray:
    """Return a direction that leaves the vanished weight alone; the largest weight pays for it."""
    direction = direction.copy()
    share = costs[vanished] * direction[vanished]
    direction[vanished] = 0.0
    payer = (np.where(direction == 0, -1.0, costs * theta)).argmax()
    direction[payer] += share / costs[payer]
    return direction


def _search(turn: SolvedTurn, direction: np.ndarray, end: SolvedTurn, reach: float) -> np.ndarray:
    """Return the weights between two turns where J is lowest, as far as its slope tells."""
    at, left, right = turn, 0.0, reach
    slopes = [-0.5 * float(side.s @ direction) for side in (turn, end)]
    flat = FLAT * abs(slopes[0])
    for _ in range(TRIES):
        part = slopes[0] / (slopes[0] - slopes[1]) if slopes[0] < 0 < slopes[1] else 0.5
        length = left + np.clip(part, 0.1, 0.9) * (right - left)
        at = turn.at(turn.theta + length * direction)
        slope = -0.5 * float(at.s @ direction)
        if abs(slope) <= flat and at.value <= turn.value:
            break
        if slope < 0:
            left, slopes[0] = length, slope
        else:
            right, slopes[1] = length, slope
    return at.theta
