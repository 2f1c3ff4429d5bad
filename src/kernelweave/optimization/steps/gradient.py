"""The gradient step, for p = 1: descent on the optimal value of the inner problem.

J(theta), the optimal value of the inner problem, is convex and has the gradient -s / 2.
SimpleMKL (Rakotomamonjy et al., 2008) descends along the reduced gradient: the largest weight is
eliminated by the constraint that weights add up to 1. While J decreases it moves to the next
boundary, where a weight becomes 0, and drops that weight from the direction; then it searches along
the rest. This is `metric=None`. It zigzags if kernels are similar. The paper asks for a line search
by a rule such as Armijo's and leaves its first length open; here it is that of Barzilai and Borwein
(1988), which zigzags less than the length to the boundary.

By default previous gradients define a BFGS matrix B, and the step minimises over all feasible
weights

    gradient . theta + 1/2 (theta - theta_0)' B (theta - theta_0),

with a line search on J.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Iterate, Step
from .base import WeightStep
from .master import QuadraticModel, least_weights, model_minimum


@dataclass(frozen=True)
class GradientTuning:
    """Constants of gradient steps.

    Attributes
    ----------
    armijo : fraction of the decrease predicted by the slope that a step must achieve.
    line_search : maximum number of lengths tried in a line search.
    reach : a weight may not fall below this fraction of its present value in one step (trust
        region).
    damping : Powell's damping of BFGS updates: the smallest curvature along a step, relative to
        that before the update (Nocedal and Wright, procedure 18.2).
    """

    armijo: float = 1e-4
    line_search: int = 10
    reach: float = 0.1
    damping: float = 0.2


@dataclass(frozen=True)
class Gradient(WeightStep):
    """Gradient steps in the weights, for p = 1; a component of a `Plan`.

    Parameters
    ----------
    metric : {"bfgs", None}
        "bfgs" for quasi-Newton steps, None for the reduced gradient of SimpleMKL.
    tuning : GradientTuning
    """

    metric: str | None = "bfgs"
    tuning: GradientTuning = field(default=GradientTuning(), repr=False)

    def begin(self, problem: Problem, engine: Engine) -> Step:
        if self.metric is None:
            return ReducedGradientSteps(problem.norm, self.tuning)
        return GradientSteps(problem.norm, self.tuning)


class ReducedGradientSteps:
    """The steps of SimpleMKL, on the shares x_m = c_m theta_m, which add up to 1.

    Parameters
    ----------
    norm : Norm
        Its `costs` are the factors c_m in the constraint sum_m c_m theta_m = 1.
    tuning : GradientTuning
    """

    def __init__(self, norm: Norm, tuning: GradientTuning = GradientTuning()):
        self.norm, self.tuning = norm, tuning
        self.last: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, iterate: Iterate) -> np.ndarray:
        costs = self.norm.costs(len(iterate.theta))
        share, gradient = costs * iterate.theta, -0.5 * iterate.s / costs
        largest = int(share.argmax())
        direction = reduced_direction(share, gradient, largest)
        trial = self._trial(share, gradient, largest)
        best, here = iterate.primal(), iterate
        while (direction < 0).any():
            length, first = _to_boundary(share, direction)
            there = np.maximum(share + length * direction, 0.0)
            there[first] = 0.0
            found = iterate.at(there / costs)
            if not found.primal() < best:
                length = min(length, trial)
                slope = float(-0.5 * here.s / costs @ direction) * length
                return _line_search(here, best, length * direction / costs, slope, self.tuning)
            share, best, here = there, found.primal(), found
            if first == largest:
                break
            direction[largest] += direction[first]
            direction[first] = 0.0
        return np.asarray(share / costs)

    def _trial(self, share: np.ndarray, gradient: np.ndarray, largest: int) -> float:
        """Return the length at which the line search starts, by Barzilai and Borwein (1988)."""
        last, self.last = self.last, (share, gradient)
        if last is None:
            return np.inf
        moved, changed = share - last[0], gradient - last[1]
        along, others = float(moved @ changed), np.delete(moved, largest)
        return float(others @ others) / along if along > 0 else np.inf


def reduced_direction(share: np.ndarray, gradient: np.ndarray, largest: int) -> np.ndarray:
    """Return the direction of SimpleMKL, shape (M,), whose entries add up to 0.

    Parameters
    ----------
    share, gradient : ndarrays of shape (M,)
        Shares that add up to 1, and the gradient in them of J, the optimal value of the inner
        problem.
    largest : int
        Position of the largest share, which the constraint eliminates.
    """
    direction: np.ndarray = gradient[largest] - gradient
    direction[(share <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def _to_boundary(share: np.ndarray, direction: np.ndarray) -> tuple[float, int]:
    """Return the length at which the first share becomes 0, and its position."""
    falling = np.flatnonzero(direction < 0)
    lengths = -share[falling] / direction[falling]
    first = int(lengths.argmin())
    return float(lengths[first]), int(falling[first])


class GradientSteps:
    """The quasi-Newton steps of one fit: minimise a quadratic model with a BFGS matrix.

    Parameters
    ----------
    norm : Norm
        Defines the feasible weights.
    tuning : GradientTuning
    """

    def __init__(self, norm: Norm, tuning: GradientTuning = GradientTuning()):
        self.norm, self.tuning = norm, tuning
        self.metric: Metric | None = None

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.any():
            return iterate.theta
        primal, gradient = iterate.primal(), -0.5 * iterate.s
        self.metric = self.metric or Metric(iterate.theta, gradient, self.tuning.damping)
        self.metric.update(iterate.theta, gradient)
        scale = np.abs(gradient).max()
        lower = least_weights(iterate, self.norm, self.tuning.reach)
        model = QuadraticModel.of(iterate.theta, gradient / scale, self.metric.B / scale)
        best = model_minimum(model, lower, self.norm)
        direction = best - iterate.theta
        slope = float(gradient @ direction)
        return _line_search(iterate, primal, direction, slope, self.tuning)


class Metric:
    """BFGS approximation B, shape (M, M), of the Hessian of the inner optimal value J(theta).

    Parameters
    ----------
    theta, gradient : ndarrays of shape (M,)
        First weights, and the gradient there.
    damping : float
        Powell's damping, see `GradientTuning`.
    """

    def __init__(self, theta: np.ndarray, gradient: np.ndarray, damping: float):
        self.theta, self.gradient, self.damping = theta, gradient, damping
        self.B = np.ptp(gradient) * np.eye(len(theta))  # the first step has about length 1
        self.initial = True

    def update(self, theta: np.ndarray, gradient: np.ndarray) -> None:
        """Update B by the gradient, shape (M,), at theta, shape (M,)."""
        moved, changed = theta - self.theta, gradient - self.gradient
        self.theta, self.gradient = theta, gradient
        along = float(moved @ changed)
        if self.initial and along > 0:
            self.B, self.initial = along / (moved @ moved) * np.eye(len(theta)), False
        product = self.B @ moved
        size = float(moved @ product)
        if size > 0:
            changed = self._damped(changed, product, along, size)
            self.B += (
                np.outer(changed, changed) / (moved @ changed) - np.outer(product, product) / size
            )

    def _damped(
        self, changed: np.ndarray, product: np.ndarray, along: float, size: float
    ) -> np.ndarray:
        """Return a change of the gradient, (M,), that keeps B positive definite."""
        if along >= self.damping * size:
            return changed
        share = (1 - self.damping) * size / (size - along)
        return share * changed + (1 - share) * product


def _line_search(
    iterate: Iterate, primal: float, direction: np.ndarray, slope: float, tuning: GradientTuning
) -> np.ndarray:
    """Return weights along a direction, shape (M,), that decrease the inner optimal value J.

    J is compared by bounds: a dual value at the new weights, and `primal`, the primal value, at the
    present ones. `slope` is the derivative of J along the direction. A length is rejected only if
    the bounds prove that J has decreased too little.
    """
    length = 1.0
    for _ in range(tuning.line_search):
        theta = np.maximum(iterate.theta + length * direction, 0.0)
        rise = iterate.at(theta).value - primal
        if rise <= tuning.armijo * length * slope:
            break
        # Minimum of the parabola that interpolates J, its slope, and J at the end.
        length *= float(np.clip(0.5 * slope * length / (slope * length - rise), 0.1, 0.5))
    return theta
