"""The Newton weight step: minimise a model of the inner problem's optimal value.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha)

is convex. Its gradient is -1/2 s, and its Hessian follows from the free examples. HessianMKL
(Chapelle and Rakotomamonjy, 2008) minimises the quadratic model that they define, over the feasible
weights. Here the model has the same derivatives and also knows how J rises where weights vanish.
The inner problem need not be solved exactly.

The model: at theta_0 let alpha be optimal, and let g_m = K_m alpha be its outputs. Each kernel is
replaced by g_m g_m' / s_m, the matrix of rank one that agrees with it on alpha. Then J follows from
s and from its Hessian H at theta_0, which is all that is known. With d = theta - theta_0,

    J(theta) = J(theta_0) - 1/2 d . (s + u),    u = -P d,    P = (I + H D)^-1 H,    D = diag(d / s),

where s + u are the products alpha' g_m of the best alpha. The gradient is -1/2 (s + u)^2 / s, the
Hessian is V P V with V = diag(1 + u / s). At d = 0 these are the gradient and the Hessian of J. A
quadratic model would miss how steeply J rises where a kernel of low rank loses its weight; this one
is exact for kernels of rank one and a quadratic loss. If a weight moves too little to tell the two
apart, its kernel is left out of D and V.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf

from ...common.core import _core
from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Iterate, Step
from .base import WeightStep
from .inner_hessian import InnerHessian
from .master import least_weights, model_minimum
from .response_hessian import ResponseHessian


@dataclass(frozen=True)
class NewtonTuning:
    """Constants of Newton steps.

    Attributes
    ----------
    reach : a step keeps at least this fraction of every weight, times the relative gap.
    distrust : fraction that the first failed step is assumed to have kept.
    widen : the fraction is raised to this power after every step, until it is negligible.
    rounding : relative difference of objective values that is attributed to rounding.
    secant : bounds of the factor by which the Hessian is rescaled.
    """

    reach: float = 0.3
    distrust: float = 0.09
    widen: float = 1.1
    rounding: float = 1e-9
    secant: tuple[float, float] = (0.05, 2.0)


# The rank-one model and its minimisation.
MODEL_ROUNDS = 12  # quadratic models of the model, each around the minimum of the last
ENOUGH = 1e-3  # part of the first decrease below which another round is not worth it
ARMIJO = 1e-4  # part of the decrease predicted by the slope that a step must bring
HALVINGS = 12  # of a step
LARGEST = 0.999  # eigenvalue of H relative to diag(s / theta), which it cannot exceed
SMALLEST = 1e-12  # s of a kernel, relative to the largest
SLIGHT = 1e-3  # relative change of s_m below which a kernel is left to the quadratic model


@dataclass(frozen=True)
class Newton(WeightStep):
    """Newton steps in the weights.

    Parameters
    ----------
    curvature : InnerHessian or ResponseHessian
        Computes the Hessian of J.
    """

    curvature: InnerHessian | ResponseHessian
    tuning: NewtonTuning = field(default=NewtonTuning(), repr=False)

    def begin(self, norm: Norm) -> Step:
        return NewtonSteps(norm, self.tuning)

    def hessian(self, problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
        return self.curvature(problem, engine, weights)


class NewtonSteps:
    """Newton's method in the weights, within a trust region.

    When the dual value shows that J has risen above the best primal value, the weights return to
    the best ones and the trust region shrinks.

    A Hessian belongs to the free examples of one alpha. Along a step examples become free or reach
    a bound, and the gradient changes by another amount than the model predicts: the next Hessian
    is multiplied by the ratio of the two.

    Parameters
    ----------
    norm : Norm
    tuning : NewtonTuning
    """

    def __init__(self, norm: Norm, tuning: NewtonTuning = NewtonTuning()):
        self.norm, self.tuning = norm, tuning
        self.distrust, self.best, self.centre = 0.0, np.inf, np.empty(0)
        self.ratio = 1.0
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.max() > 0:  # all outputs are zero but for rounding
            return iterate.theta
        if iterate.value > self.best + self.tuning.rounding * abs(self.best):
            return self._back()
        primal = iterate.primal()
        if primal < self.best:
            self.best, self.centre = primal, iterate.theta
        self.distrust **= self.tuning.widen
        try:
            hessian = iterate.hessian()
        except LinAlgError:  # rounding: the kernel block is not positive definite
            hessian = np.zeros((len(iterate.s), len(iterate.s)))
        scale, self.ratio = iterate.s.max(), self._secant(iterate)
        model = RankOneModel(iterate.theta, iterate.s / scale, hessian * (self.ratio / scale))
        theta = model.minimum(self._least(iterate), self.norm)
        self.last = iterate.theta, iterate.s, -2 * scale * model.at(theta)[1]
        return theta

    def _secant(self, iterate: Iterate) -> float:
        """Return the factor of the Hessian: observed over predicted change of the gradient."""
        if self.last is None:
            return 1.0
        theta, s, predicted = self.last
        step = iterate.theta - theta
        expected = float(step @ (s - predicted))
        if expected <= 0:
            return 1.0
        observed = float(step @ (s - iterate.s))
        return float(np.clip(self.ratio * observed / expected, *self.tuning.secant))

    def _least(self, iterate: Iterate) -> np.ndarray:
        """Return the lower bounds of the weights after a step, shape (M,).

        They fall with the gap. At p = 1 small weights may vanish.
        """
        gap = iterate.gap(self.norm)
        reach = max(self.distrust, self.tuning.reach * gap / max(iterate.scale, gap))
        least = least_weights(iterate, self.norm, reach)
        if self.norm.is_sparse:
            least[least > reach * iterate.theta] = 0.0
        return least

    def _back(self) -> np.ndarray:
        """Return to the best weights, to leave them with shorter steps."""
        self.distrust = np.sqrt(max(self.distrust, self.tuning.distrust))
        self.last = None
        return self.centre


class RankOneModel:
    """J around weights theta, shape (M,), with kernels of rank one.

    Parameters
    ----------
    theta, s : arrays of shape (M,)
        In units in which the largest s is about 1.
    hessian : array of shape (M, M)
        That of J at theta, as far as it is known.
    """

    def __init__(self, theta: np.ndarray, s: np.ndarray, hessian: np.ndarray):
        self.theta = theta
        self.s = np.maximum(s, SMALLEST * s.max())
        self.hessian = _limited(hessian, theta / self.s)

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return what J has changed by at weights theta, its gradient and its Hessian there."""
        there = _core.rank_one_model(self.hessian, self.s, theta - self.theta, SLIGHT)
        if there is None:
            raise LinAlgError("a kernel without which J is not finite has lost its weight")
        return there

    def minimum(self, lower: np.ndarray, norm: Norm) -> np.ndarray:
        """Return the feasible weights above `lower`, shape (M,), at which the model is least."""
        best, value, gradient, hessian = self.theta, 0.0, -0.5 * self.s, self.hessian
        least = 0.0
        for _ in range(MODEL_ROUNDS):
            step = model_minimum(best, gradient, hessian, lower, norm) - best
            slope = float(gradient @ step)
            if not -slope > least:
                break
            least = least or -ENOUGH * slope
            found = self._search(best, step, value, slope)
            if found is None:
                break
            best, (value, gradient, hessian) = found
        return best / norm.value(best)

    def _search(
        self, best: np.ndarray, step: np.ndarray, value: float, slope: float
    ) -> tuple[np.ndarray, tuple[float, np.ndarray, np.ndarray]] | None:
        """Return weights along a step that satisfy the Armijo condition, and the model there.

        None if no step length does.
        """
        for halving in range(HALVINGS):
            length = 0.5**halving
            theta = np.maximum(best + length * step, 0.0)
            try:
                there = self.at(theta)
            except LinAlgError:
                continue
            if there[0] <= value + ARMIJO * length * slope:
                return theta, there
        return None


def _limited(hessian: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the Hessian made smaller than 1 / limit, which is s / theta, where it is not.

    That is the Hessian of 1/2 sum_m |w_m|^2 / theta_m with w as it is, which J is nowhere above. An
    eigenvalue x relative to 1 / limit becomes x / (1 + c x), so that zeros stay and none turns
    negative.
    """
    large = np.flatnonzero(limit * hessian.diagonal() > SLIGHT)
    if not len(large):
        return hessian
    q = np.sqrt(limit[large])
    relative = q[:, None] * hessian[np.ix_(large, large)] * q
    if not dpotrf(LARGEST * np.eye(len(large)) - relative)[1]:  # it is: factors are quickly made
        return hessian
    c = 1 / LARGEST - 1 / np.linalg.eigvalsh(relative)[-1]
    smaller = _core.rank_one_response(hessian, c * limit, SLIGHT) if c > 0 else None
    return hessian if smaller is None else smaller
