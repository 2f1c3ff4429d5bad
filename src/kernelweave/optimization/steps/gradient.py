"""The gradient step, for p = 1: descend with complete solves and nothing but gradients.

J(theta), the optimal value of the inner problem, is convex and has the gradient -s / 2.
SimpleMKL (Rakotomamonjy et al., 2008) descends along the reduced gradient, which zigzags where
kernels are alike. Here the gradients of earlier turns make a metric (BFGS), and the step goes to
the minimum over all feasible weights of

    gradient . theta + 1/2 (theta - theta_0)' B (theta - theta_0),

or less far where J has not fallen as it should.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...norms import Norm
from ..iterate import Iterate, Step
from .base import WeightStep
from .master import least_weights, model_minimum

ARMIJO = 1e-4  # part of the decrease predicted by the slope that a step must bring
TRIES = 10  # shorter steps before a step is taken as it is
REACH = 0.1  # one step leaves every weight at least this part of itself
DAMPING = 0.2  # part of its curvature along a step that one update leaves at least (Powell)


@dataclass(frozen=True)
class Gradient(WeightStep):
    """Quasi-Newton gradient steps, for p = 1."""

    def begin(self, norm: Norm) -> Step:
        return GradientSteps(norm)


class GradientSteps:
    """Descend in the metric of the gradients so far."""

    def __init__(self, norm: Norm):
        self.norm = norm
        self.metric: Metric | None = None

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.any():
            return iterate.theta
        primal, gradient = iterate.primal(), -0.5 * iterate.s
        self.metric = self.metric or Metric(iterate.theta, gradient)
        self.metric.learn(iterate.theta, gradient)
        scale = np.abs(gradient).max()
        lower = least_weights(iterate, self.norm, REACH)
        best = model_minimum(
            iterate.theta, gradient / scale, self.metric.B / scale, lower, self.norm
        )
        direction = best - iterate.theta
        return _search(iterate, primal, direction, float(gradient @ direction))


class Metric:
    """The second derivative of J, B of shape (M, M), as learned from gradients."""

    def __init__(self, theta: np.ndarray, gradient: np.ndarray):
        self.theta, self.gradient = theta, gradient
        self.B = np.ptp(gradient) * np.eye(len(theta))  # a first step as long as the simplex
        self.guessed = True

    def learn(self, theta: np.ndarray, gradient: np.ndarray) -> None:
        """Take in the gradient, (M,), at theta, (M,)."""
        moved, changed = theta - self.theta, gradient - self.gradient
        self.theta, self.gradient = theta, gradient
        along = float(moved @ changed)
        if self.guessed and along > 0:
            self.B, self.guessed = along / (moved @ moved) * np.eye(len(theta)), False
        product = self.B @ moved
        size = float(moved @ product)
        if size > 0:
            changed = _damped(changed, product, along, size)
            self.B += (
                np.outer(changed, changed) / (moved @ changed) - np.outer(product, product) / size
            )


def _damped(changed: np.ndarray, product: np.ndarray, along: float, size: float) -> np.ndarray:
    """Return a change of the gradient that keeps B positive definite, inexact solves or not."""
    if along >= DAMPING * size:
        return changed
    share = (1 - DAMPING) * size / (size - along)
    return share * changed + (1 - share) * product


def _search(iterate: Iterate, primal: float, direction: np.ndarray, slope: float) -> np.ndarray:
    """Return weights along the direction, less far while J has risen beyond doubt.

    Dual values bound J from below, and `primal` bounds it from above where the step starts.
    """
    length = 1.0
    for _ in range(TRIES):
        theta = np.maximum(iterate.theta + length * direction, 0.0)
        rise = iterate.at(theta).value - primal
        if rise <= ARMIJO * length * slope:
            break
        # The minimum of the parabola through J, its slope, and J at the end.
        length *= float(np.clip(0.5 * slope * length / (slope * length - rise), 0.1, 0.5))
    return theta
