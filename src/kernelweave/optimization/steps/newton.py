"""The Newton weight step: minimise a model of the inner problem's optimal value.

    J(theta) = max over alpha of  -R*(-alpha) - 1/2 sum_m theta_m s_m,    s_m = alpha' K_m alpha,

with R* the conjugate of the risk, is convex. Its gradient is -1/2 s at the optimal alpha, and its
Hessian follows from the free support vectors. HessianMKL (Chapelle and Rakotomamonjy, 2008)
minimises the quadratic model with this gradient and Hessian over the feasible weights. The model Q
used here has the same derivatives, and also the steep rise of J where a weight vanishes. The inner
problem need not be solved exactly.

At theta_0 let alpha be optimal, and g_m = K_m alpha. With d = theta - theta_0, the change
sum_m d_m K_m of the kernel matrix is replaced by sum_m d_m g_m g_m' / s_m, whose matrices of rank
one agree with the K_m on alpha. R* is replaced by its quadratic approximation, and bounded alphas
are fixed. Then s and the Hessian H of J at theta_0 determine the optimal value Q:

    Q(theta) = J(theta_0) - 1/2 d . (s + u),    u = -P d,    P = (I + H D)^-1 H,    D = diag(d / s),

where s_m + u_m = a' g_m for the optimal a at theta. The gradient of Q is -1/2 (s + u)^2 / s, its
Hessian V P V with V = diag(1 + u / s). At d = 0 these are the gradient and the Hessian of J.
Q is exact for kernels of rank one and a quadratic loss. The quadratic model underestimates J where
a kernel of low rank loses its weight. Kernels whose weight changes so little that the two models
agree are left out of D and V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

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
from .master import QuadraticModel, least_weights, model_minimum
from .response_hessian import ResponseHessian


@dataclass(frozen=True)
class NewtonTuning:
    """Constants of Newton steps.

    Attributes
    ----------
    reach : trust region: a step keeps at least a fraction x of every weight, where x is this number
        times the relative gap.
    distrust : after a failed step x is at least the square root of this number; each further
        failure replaces x by its square root, which narrows the trust region.
    widen : each successful step raises x to this power, which widens the trust region.
    rounding : relative difference of objective values that is attributed to rounding.
    secant : bounds of the factor by which the Hessian is rescaled.
    """

    reach: float = 0.3
    distrust: float = 0.09
    widen: float = 1.1
    rounding: float = 1e-9
    secant: tuple[float, float] = (0.05, 2.0)


# The rank-one model and its minimisation.
MODEL_ROUNDS = 12  # maximum number of Newton steps that minimise the model
ENOUGH = 1e-3  # stop when the predicted decrease is below this fraction of the first one
ARMIJO = 1e-4  # fraction of the decrease predicted by the slope that a step must achieve
HALVINGS = 12  # maximum number of halvings of a step
LARGEST = 0.999  # upper bound on the eigenvalues of H relative to diag(s / theta)
SMALLEST = 1e-12  # lower bound on s, relative to the largest one
SLIGHT = 1e-3  # kernels whose s_m changes by less than this fraction use the quadratic model


@dataclass(frozen=True)
class Newton(WeightStep):
    """Newton steps in the weights; a component of a `Plan`.

    Parameters
    ----------
    curvature : InnerHessian or ResponseHessian
        Computes the Hessian of J(theta), the optimal value of the inner problem.
    tuning : NewtonTuning
        Trust region, and bounds on the scale of the Hessian.
    """

    curvature: InnerHessian | ResponseHessian
    tuning: NewtonTuning = field(default=NewtonTuning(), repr=False)

    def begin(self, problem: Problem, engine: Engine) -> Step:
        return NewtonSteps(problem.norm, partial(self.curvature, problem, engine), self.tuning)

    def needs_matrices(self, norm: Norm) -> bool:
        return not norm.is_sparse  # at p = 1 few weights move at once


class NewtonSteps:
    """Newton's method in the weights, within a trust region.

    If the dual value proves that J, the optimal value of the inner problem, exceeds the best primal
    value so far, the weights return to the best ones and the trust region shrinks.

    The Hessian depends on which examples are free, and this changes along a step. So the change of
    the gradient differs from the predicted one; the next Hessian is multiplied by the ratio of the
    two.

    Parameters
    ----------
    norm : Norm
        Defines the feasible weights.
    hessian : callable
        Returns the Hessian of J(theta), the optimal value of the inner problem, shape (M, M), at
        the present weights, shape (M,).
    tuning : NewtonTuning
        Trust region, and bounds on the scale of the Hessian.
    """

    def __init__(
        self,
        norm: Norm,
        hessian: Callable[[np.ndarray], np.ndarray],
        tuning: NewtonTuning = NewtonTuning(),
    ):
        self.norm, self.hessian, self.tuning = norm, hessian, tuning
        self.distrust, self.best, self.centre = 0.0, np.inf, np.empty(0)
        self.ratio = 1.0
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.max() > 0:  # all outputs are 0 up to rounding
            return iterate.theta
        if iterate.value > self.best + self.tuning.rounding * abs(self.best):
            return self._back()
        primal = iterate.primal()
        if primal < self.best:
            self.best, self.centre = primal, iterate.theta
        self.distrust **= self.tuning.widen
        try:
            hessian = self.hessian(iterate.theta)
        except LinAlgError:  # rounding: the kernel block is not positive definite
            hessian = np.zeros((len(iterate.s), len(iterate.s)))
        scale, self.ratio = iterate.s.max(), self._secant(iterate)
        model = RankOneModel(iterate.theta, iterate.s / scale, hessian * (self.ratio / scale))
        theta = model.minimum(self._least(iterate), self.norm)
        self.last = iterate.theta, iterate.s, -2 * scale * model.at(theta)[1]
        return theta

    def _secant(self, iterate: Iterate) -> float:
        """Return the factor that rescales the Hessian: observed over predicted gradient change."""
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

        The smaller the gap, the lower the bounds. At p = 1 small weights may become 0.
        """
        gap = iterate.gap(self.norm)
        reach = max(self.distrust, self.tuning.reach * gap / max(iterate.scale, gap))
        least = least_weights(iterate, self.norm, reach)
        if self.norm.is_sparse:
            least[least > reach * iterate.theta] = 0.0
        return least

    def _back(self) -> np.ndarray:
        """Return the best weights so far, and shrink the trust region for the next step."""
        self.distrust = np.sqrt(max(self.distrust, self.tuning.distrust))
        self.last = None
        return self.centre


class RankOneModel:
    """A model of J(theta), the optimal value of the inner problem, as if all kernels had rank one.

    Parameters
    ----------
    theta, s : arrays of shape (M,)
        Weights and squared block norms at the centre of the model, in units in which the largest s
        is about 1.
    hessian : array of shape (M, M)
        An estimate of the Hessian of J at the weights theta.
    """

    def __init__(self, theta: np.ndarray, s: np.ndarray, hessian: np.ndarray):
        self.theta = theta
        self.s = np.maximum(s, SMALLEST * s.max())
        self.hessian = _limited(hessian, theta / self.s)

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the model's value (0 at its centre), gradient and Hessian at theta, shape (M,)."""
        there = _core.rank_one_model(self.hessian, self.s, theta - self.theta, SLIGHT)
        if there is None:
            raise LinAlgError("a kernel without which J is not finite has lost its weight")
        return there

    def minimum(self, lower: np.ndarray, norm: Norm) -> np.ndarray:
        """Return the feasible weights >= `lower`, shape (M,), that minimise the model."""
        best, value, gradient, hessian = self.theta, 0.0, -0.5 * self.s, self.hessian
        least = 0.0
        for _ in range(MODEL_ROUNDS):
            model = QuadraticModel.of(best, gradient, hessian)
            step = model_minimum(model, lower, norm) - best
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
    """Return the Hessian with its eigenvalues relative to diag(1 / limit) reduced below 1.

    1 / limit = s / theta is the Hessian of 1/2 sum_m ||w_m||^2 / theta_m at fixed w, a function
    that is an upper bound of J. An estimated Hessian may exceed it. A relative eigenvalue x becomes
    x / (1 + c x), so that zeros stay zero and none becomes negative.
    """
    large = np.flatnonzero(limit * hessian.diagonal() > SLIGHT)
    if not len(large):
        return hessian
    q = np.sqrt(limit[large])
    relative = q[:, None] * hessian[np.ix_(large, large)] * q
    if not dpotrf(LARGEST * np.eye(len(large)) - relative)[1]:  # positive definite
        return hessian
    c = 1 / LARGEST - 1 / np.linalg.eigvalsh(relative)[-1]
    smaller = _core.rank_one_response(hessian, c * limit, SLIGHT) if c > 0 else None
    return hessian if smaller is None else smaller
