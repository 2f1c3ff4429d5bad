"""Norms on the kernel weights: what a combination of kernels costs.

Write w_m = theta_m sum_i alpha_i psi_m(x_i) for the part of kernel m in the model and s_m for
alpha' K_m alpha, so that ||w_m||^2 = theta_m^2 s_m. A norm enters the two problems as

    primal   1/2 regularizer(theta, s) = 1/2 sum_m ||w_m||^2 / theta_m = 1/2 theta . s
    dual     1/2 dual(s)               = 1/2 max { theta . s : theta >= 0, ||theta|| <= 1 }

so the two agree at theta = best(s). `Block` says how it departs from this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls


class Norm(ABC):
    """What a solver asks of a norm; theta and s have shape (M,).

    Entries of s that rounding has made negative count as zero.
    """

    @abstractmethod
    def value(self, theta: np.ndarray) -> float:
        """Return ||theta||; weights are feasible when it is at most 1."""

    @abstractmethod
    def dual(self, s: np.ndarray) -> float:
        """Return the largest theta . s over the feasible weights."""

    @abstractmethod
    def best(self, s: np.ndarray) -> np.ndarray:
        """Return weights that attain `dual`, shape (M,): the best response to alpha."""

    @abstractmethod
    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return the weights that minimise sum_m ||w_m||^2 / theta_m for the present w, (M,).

        Unlike `best` they never raise the primal. Without any w they stay as they are.
        """

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return a convex function that is at most 0 for feasible weights.

        It comes with its gradient (M,) and its second derivative (M, M). Solvers say which norms
        they ask for it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no such function")

    def start(self, M: int) -> np.ndarray:
        """Return equal weights with ||theta|| = 1, shape (M,)."""
        return np.ones(M) / self.value(np.ones(M))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        """Return twice the regularisation term of the primal, theta . s for feasible weights.

        A model with infeasible weights is that of theta / ||theta|| with the same w, which costs
        ||theta|| times as much.
        """
        return float(max(1.0, self.value(theta)) * (theta @ _clip(s)))


@dataclass(frozen=True)
class Lp(Norm):
    """||theta|| = (sum_m weights_m theta_m^p)^(1/p) (Kloft et al., 2011).

    Parameters
    ----------
    p : float
        From 1 (sparse weights) to inf (all weights 1: one machine on the sum of the kernels).
    weights : sequence of M positive floats, optional
        A larger one makes a kernel more expensive. They fade as p grows: at inf the norm is
        max_m theta_m whatever they are.
    """

    p: float
    weights: tuple[float, ...] | None = None

    def __post_init__(self):
        object.__setattr__(self, "p", _exponent("p", self.p))
        if self.weights is not None:
            object.__setattr__(self, "weights", _positive("weights", self.weights))

    def value(self, theta: np.ndarray) -> float:
        return _power_sum(theta, self.p, self._costs(theta))

    def dual(self, s: np.ndarray) -> float:
        costs = self._costs(s)
        return _power_sum(_clip(s) * costs ** (-1 / self.p), _conjugate(self.p))

    def best(self, s: np.ndarray) -> np.ndarray:
        gain = _clip(s) * self._costs(s) ** (-1 / self.p)
        if not gain.any():
            return self.start(len(gain))
        if self.p == 1:
            theta = np.zeros_like(gain)
            theta[gain.argmax()] = 1.0
        else:
            theta = (gain / gain.max()) ** (1 / (self.p - 1)) * self._costs(s) ** (-1 / self.p)
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        # Formula (19) of Kloft et al. (2011): theta_m ~ (||w_m||^2 / weights_m)^(1 / (p + 1)).
        size = theta * np.sqrt(_clip(s) / self._costs(s))
        if not size.any():
            return theta
        new = (size / size.max()) ** (2 / (self.p + 1))
        return new / self.value(new)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return ||theta||^p - 1, its gradient (M,) and its second derivative (M, M); p < inf."""
        costs, p = self._costs(theta), self.p
        slope = p * costs * theta ** (p - 1)
        bend = np.diag((p - 1) * slope / theta) if p > 1 else np.zeros((len(theta),) * 2)
        return float(costs @ theta**p) - 1.0, slope, bend

    def _costs(self, like: np.ndarray) -> np.ndarray:
        """The weights as an array of the shape of `like`."""
        if self.weights is None:
            return np.ones(len(like))
        _same_length("weights", len(self.weights), len(like))
        return np.array(self.weights)


@dataclass(frozen=True, eq=False)
class Elliptic(Norm):
    """||theta|| = sqrt(theta' E theta): prior knowledge on how kernels interact.

    Kloft et al. (2011, section 3.5). Since theta >= 0 binds, the dual value is not simply the norm
    of E^-1: it is a small nonnegative least squares problem.

    Parameters
    ----------
    E : array of shape (M, M)
        Symmetric and positive definite.
    """

    E: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "E", _positive_definite("E", self.E))

    def value(self, theta: np.ndarray) -> float:
        _same_length("E", len(self.E), len(theta))
        return float(np.linalg.norm(self._factor.T @ theta))

    def dual(self, s: np.ndarray) -> float:
        return float(self.best(s) @ _clip(s))

    def best(self, s: np.ndarray) -> np.ndarray:
        _same_length("E", len(self.E), len(s))
        s = _clip(s)
        if not s.any():
            return self.start(len(s))
        # The direction of max theta.s on the ball is that of max theta.s - theta'E theta / 2.
        target = solve_triangular(self._factor, s / s.max(), lower=True)
        theta = nnls(self._factor.T, target)[0]
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        size = theta**2 * _clip(s)
        if not size.any():
            return theta
        # The floor leaves a kernel without w next to no weight, but keeps Newton's method inside.
        new = _barrier_minimum(self.E, np.maximum(size / size.max(), 1e-30), self.start(len(s)))
        return new / self.value(new)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return ||theta||^2 - 1, its gradient (M,) and its second derivative (M, M)."""
        slope = 2.0 * self.E @ theta
        return float(0.5 * theta @ slope) - 1.0, slope, 2.0 * self.E

    @cached_property
    def _factor(self) -> np.ndarray:
        """L with E = L L'."""
        return np.linalg.cholesky(self.E)


@dataclass(frozen=True)
class Block(Norm):
    """The block norm (sum_m ||w_m||^q)^(1/q) on the model (Kloft et al., 2011, section 4.3).

    The primal term is 1/2 (sum_m ||w_m||^q)^(2/q). It does not mention weights: any theta >= 0 is
    feasible, and only says how much of kernel m is in w_m. The dual term is 1/2 (sum_m s_m^r)^(1/r)
    with r = q / (2 (q - 1)), and at the optimum theta = best(s), where

        theta_m = (||w_m|| / (sum_k ||w_k||^q)^(1/q))^(2 - q) = (s_m / dual(s))^(r - 1).

    These weights obey `value` = (sum_m theta_m^p)^(1/p) = 1 with p = q / (2 - q). For q <= 2 that
    is the norm of `Lp(p)`, whose problem is the same: `best` maximises theta . s over value <= 1.
    For q > 2 the exponent p is negative and Hölder's inequality turns round: `best` *minimises*
    theta . s over value >= 1, and so pushes the ||w_m|| towards uniform. The dual is then a joint
    maximum over alpha and theta of a function that is concave in (alpha, 1 / theta): steps in
    alpha and theta = best(s) in turn never lower it. At q = inf the optimal s_m of a kernel without
    full rank can be 0; alpha then leaves w_m open, and a gap may remain.

    Parameters
    ----------
    q : float
        From 1 (sparse) over 2 (one machine on the sum of the kernels) to inf (equal ||w_m||).
    """

    q: float

    def __post_init__(self):
        object.__setattr__(self, "q", _exponent("q", self.q))

    @property
    def p(self) -> float:
        """The exponent of `value`; negative for q > 2."""
        if self.q == np.inf:
            return -1.0
        return np.inf if self.q == 2 else self.q / (2 - self.q)

    def value(self, theta: np.ndarray) -> float:
        return _power_sum(theta, self.p)

    def dual(self, s: np.ndarray) -> float:
        return _power_sum(_clip(s), _conjugate(self.q) / 2)

    def best(self, s: np.ndarray) -> np.ndarray:
        if self.q <= 2:
            return Lp(self.p).best(s)
        s = _clip(s)
        if not s.any():
            return self.start(len(s))
        # An s_m below the rounding of the largest one is noise, and would get an endless weight.
        s = np.maximum(s / s.max(), np.finfo(float).eps)
        theta = s ** (_conjugate(self.q) / 2 - 1)
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return weights that lower the primal for the present w or, for q > 2, `best(s)`.

        For q > 2 the weights that suit the present w are a step of a saddle point problem, which
        need not get closer to its solution; those that suit alpha never lower the dual.
        """
        return Lp(self.p).analytic(theta, s) if self.q <= 2 else self.best(s)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return ||theta||^p - 1, its gradient (M,) and its second derivative (M, M); q < 2."""
        return Lp(self.p).ball(theta)

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return _power_sum(theta * np.sqrt(_clip(s)), self.q) ** 2


@dataclass(frozen=True, eq=False)
class Fixed(Norm):
    """The norm that leaves no choice: one machine on the combination with these weights, (M,)."""

    theta: np.ndarray

    def value(self, theta: np.ndarray) -> float:
        return 1.0

    def dual(self, s: np.ndarray) -> float:
        return float(self.theta @ s)

    def best(self, s: np.ndarray) -> np.ndarray:
        return self.theta

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return self.theta

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return float(self.theta @ s)


def as_norm(norm: float | Norm) -> Norm:
    """Return `Lp(norm)` for a number, and a norm object as it is."""
    if isinstance(norm, Norm):
        return norm
    number = isinstance(norm, Real) and not isinstance(norm, bool)
    if number and norm >= 1:
        return Lp(float(norm))
    raise (ValueError if number else TypeError)(
        "norm must be a number p >= 1, inf, or an object such as norms.Lp(p, weights), "
        f"norms.Elliptic(E) or norms.Block(q), got {norm!r}"
    )


def _barrier_minimum(E: np.ndarray, v: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Minimum over theta > 0 of sum_m v_m / theta_m + theta' E theta / 2, by Newton's method.

    It has the direction of the minimum of sum_m v_m / theta_m on the ball theta' E theta <= 1.
    """

    def height(theta: np.ndarray) -> float:
        return float(np.sum(v / theta) + 0.5 * theta @ E @ theta)

    for _ in range(100):
        gradient = E @ theta - v / theta**2
        step = -np.linalg.solve(E + np.diag(2 * v / theta**3), gradient)
        drop = -gradient @ step
        if drop <= 1e-14 * height(theta):
            break
        length = 0.99 / max(np.max(-step / theta), 0.99)
        while length > 1e-9 and height(theta + length * step) > height(theta) - 0.1 * length * drop:
            length *= 0.5
        theta = theta + length * step
    return theta


def _power_sum(x: np.ndarray, p: float, costs: np.ndarray | float = 1.0) -> float:
    """(sum costs x^p)^(1/p) of x >= 0 for a p that is not 0, scaled so that no power overflows."""
    scale = float(x.max() if p > 0 else x.min())
    if scale == 0 or p == np.inf:
        return scale
    return scale * float(np.sum(costs * (x / scale) ** p) ** (1 / p))


def _conjugate(p: float) -> float:
    """The exponent p* with 1/p + 1/p* = 1."""
    if p == 1:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1)


def _clip(s: np.ndarray) -> np.ndarray:
    return np.maximum(s, 0.0)


def _exponent(name: str, value: float) -> float:
    if not isinstance(value, Real) or not value >= 1:
        raise ValueError(f"{name} must be a number >= 1 or inf, got {value!r}")
    return float(value)


def _positive(name: str, values) -> tuple[float, ...]:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not np.all((array > 0) & (array < np.inf)):
        raise ValueError(f"{name} must be a sequence of positive finite numbers, got {values!r}")
    return tuple(array.tolist())


def _positive_definite(name: str, values) -> np.ndarray:
    E = np.array(values, dtype=float)
    if E.ndim != 2 or E.shape[0] != E.shape[1] or E.size == 0:
        raise ValueError(f"{name} must be a square matrix, got an array of shape {E.shape}")
    if not np.all(np.isfinite(E)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    if not np.allclose(E, E.T, rtol=1e-8, atol=1e-10 * np.abs(E).max()):
        raise ValueError(f"{name} must be symmetric, but differs by {np.abs(E - E.T).max():.3g}")
    E = 0.5 * (E + E.T)
    smallest, largest = np.linalg.eigvalsh(E)[[0, -1]]
    if smallest <= len(E) * np.finfo(float).eps * largest:
        raise ValueError(
            f"{name} must be positive definite, but its smallest eigenvalue is {smallest:.3g}"
        )
    E.setflags(write=False)
    return E


def _same_length(name: str, have: int, want: int) -> None:
    if have != want:
        raise ValueError(f"{name} is for {have} kernels, but there are {want}")
