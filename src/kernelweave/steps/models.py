"""Models of J(theta), the optimal value of the inner problem, that a weight step minimises.

    J(theta) = max over alpha of  linear(alpha) - 1/2 theta . s(alpha),      s_m = alpha' K_m alpha

At theta_0 let alpha be optimal, and let g_m = K_m alpha be its outputs. Each kernel is replaced by
g_m g_m' / s_m, the matrix of rank one that agrees with it on alpha. Then J follows from s and from
its own Hessian H at theta_0, which is all that is known of it. With d = theta - theta_0,

    J(theta) = J(theta_0) - 1/2 d . (s + u),    u = -P d,    P = (I + H D)^-1 H,    D = diag(d / s),

where s + u are the products alpha' g_m of the best alpha. The gradient is -1/2 (s + u)^2 / s, the
Hessian is V P V with V = diag(1 + u / s). At d = 0 these are the gradient and the Hessian of J.

A quadratic model has the same derivatives there, and misses how steeply J rises where a kernel of
low rank loses its weight. This one is exact for kernels of rank one and a quadratic loss. Where a
weight moves too little to tell the two apart, its kernel is left out of D and V. The quadratic
model serves many kernels, of which each has little to say.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..norms import Norm
from .master import model_minimum

ROUNDS = 12  # quadratic models of the model, each around the minimum of the last
ENOUGH = 1e-3  # part of the first decrease below which another round is not worth it
ARMIJO = 1e-4  # part of the decrease predicted by the slope that a step must bring
HALVINGS = 12  # of a step
LARGEST = 0.999  # eigenvalue of H relative to diag(s / theta), which it cannot exceed
SMALLEST = 1e-12  # s of a kernel, relative to the largest
SLIGHT = 1e-3  # change of its own s, relative to it, below which a weight moves too little


class QuadraticModel:
    """J around weights theta, shape (M,), by its slopes -s / 2 and its Hessian.

    Parameters
    ----------
    theta, s : arrays of shape (M,)
    hessian : array of shape (M, M)
    """

    def __init__(self, theta: np.ndarray, s: np.ndarray, hessian: np.ndarray):
        self.theta, self.s, self.hessian = theta, s, hessian

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the gradient at weights theta, shape (M,)."""
        gradient: np.ndarray = -0.5 * self.s + self.hessian @ (theta - self.theta)
        return gradient

    def minimum(self, lower: np.ndarray, norm: Norm) -> np.ndarray:
        """Return the feasible weights above `lower`, shape (M,), at which the model is least."""
        return model_minimum(self.theta, -0.5 * self.s, self.hessian, lower, norm)


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
        d = theta - self.theta
        P, moved = _response(self.hessian, d / self.s)
        u = -P @ d
        bend = np.zeros_like(u)
        bend[moved] = u[moved] / self.s[moved]
        gradient = -0.5 * (self.s + (2 + bend) * u)
        return -0.5 * float(d @ (self.s + u)), gradient, (1 + bend)[:, None] * P * (1 + bend)

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the gradient at weights theta, shape (M,)."""
        return self.at(theta)[1]

    def minimum(self, lower: np.ndarray, norm: Norm) -> np.ndarray:
        """Return the feasible weights above `lower`, shape (M,), at which the model is least."""
        best, (value, gradient, hessian) = self.theta, self.at(self.theta)
        first = np.inf
        for _ in range(ROUNDS):
            step = model_minimum(best, gradient, hessian, lower, norm) - best
            slope = float(gradient @ step)
            first = min(first, -slope)
            if not -slope > ENOUGH * first:
                break
            found = self._search(best, step, value, slope)
            if found is None:
                break
            best, (value, gradient, hessian) = found
        return best / norm.value(best)

    def _search(
        self, best: np.ndarray, step: np.ndarray, value: float, slope: float
    ) -> tuple[np.ndarray, tuple[float, np.ndarray, np.ndarray]] | None:
        """Return weights along a step at which the model is less by enough, and the model there."""
        for halving in range(HALVINGS):
            length = 0.5**halving
            theta = np.maximum(best + length * step, 0.0)
            try:
                there = self.at(theta)
            except LinAlgError:  # a kernel without which J is not finite has lost its weight
                continue
            if there[0] <= value + ARMIJO * length * slope:
                return theta, there
        return None


def _response(hessian: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (I + H diag(D))^-1 H, shape (M, M), and which of D, shape (M,), are not slight."""
    moved = np.flatnonzero(np.abs(D) * hessian.diagonal() > SLIGHT)
    if not len(moved):
        return hessian, moved
    columns = hessian[:, moved]
    weighted = columns * D[moved]
    system = np.eye(len(moved)) + weighted[moved]
    P = hessian - weighted @ np.linalg.solve(system, columns.T)
    return 0.5 * (P + P.T), moved


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
    largest = np.linalg.eigvalsh(q[:, None] * hessian[np.ix_(large, large)] * q)[-1]
    c = 1 / LARGEST - 1 / largest
    return _response(hessian, c * limit)[0] if c > 0 else hessian
