"""What a solver asks of a norm; weights that are given; sums of powers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..common.numbers import as_number

SMOOTHEST = 32.0  # exponent up to which the ball is round enough for Newton's method


class Norm(ABC):
    """What a solver asks of a norm; theta and s have shape (M,).

    Entries of s that rounding has made negative count as zero.

    Attributes
    ----------
    exponent : float
        The p of a norm whose problem is that of an lp norm; NaN for any other norm.
    is_given : bool
        Whether the norm leaves no choice of weights.
    allows_zeros : bool
        Whether weights of 0 are feasible, so that any weights can be scaled to norm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Lp
    >>> norm, theta, s = Lp(2), np.array([0.6, 0.8]), np.array([3.0, 4.0])
    >>> print(round(float(norm.value(theta)), 3), round(float(norm.dual(s)), 3))
    1.0 5.0
    >>> print(norm.best(s), round(float(norm.best(s) @ s), 3))
    [0.6 0.8] 5.0
    """

    @property
    def exponent(self) -> float:
        return np.nan

    @property
    def is_sparse(self) -> bool:
        """Whether p = 1."""
        return self.exponent == 1

    @property
    def is_plain_sum(self) -> bool:
        """Whether p = inf, where all weights are 1."""
        return self.exponent == np.inf

    @property
    def is_curved(self) -> bool:
        """Whether the ball has a smooth boundary that Newton's method can follow."""
        return 1 < self.exponent <= SMOOTHEST

    @property
    def has_ball(self) -> bool:
        """Whether `ball` describes the feasible weights."""
        return self.is_sparse or self.is_curved

    @property
    def is_given(self) -> bool:
        return self.is_plain_sum

    @property
    def allows_zeros(self) -> bool:
        return True

    @property
    def dual_exponent(self) -> float:
        """The r with dual(s) = (sum_m (sqrt(s_m) / scale_m)^r)^(2/r), or NaN.

        `dual_scales` are the scale_m.
        """
        return np.nan

    @property
    def dual_matrix(self) -> np.ndarray | None:
        """The E, shape (M, M), with dual(s) = min over v >= s of sqrt(v' E v), or None."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether `regularizer` grows no faster than s."""
        return True

    def dual_scales(self, M: int) -> np.ndarray:
        """Return the scales of `dual_exponent`, shape (M,)."""
        return np.ones(M)

    def among(self, kernels: np.ndarray) -> Norm:
        """Return the norm of the weights of some kernels, the others being 0."""
        return self

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

    def held(self, theta: np.ndarray, slack: float) -> np.ndarray:
        """Return theta, or weights near it that do not grow without end, shape (M,).

        The optimum under such weights misses the optimum by at most `slack`, relative to it.
        """
        return theta

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return a convex function that is at most 0 for feasible weights, and its gradient, (M,).

        Norms with `has_ball` have it.
        """
        raise TypeError(f"the feasible weights of {self!r} are not described by such a function")

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the Hessian of `ball` in k of the weights, shape (k, k)."""
        raise TypeError(f"the feasible weights of {self!r} are not described by such a function")

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return `ball`, its gradient in k of the weights, (k,), and how that changes, (k, k).

        The change is that with the logarithms of the weights, which may be next to nothing.
        """
        value, slope = self.ball(theta)
        return value, slope[chosen], self.ball_hessian(theta, chosen) * theta[chosen]

    def costs(self, M: int) -> np.ndarray:
        """Return the factor of each kernel in the norm, shape (M,): 1 unless it is weighted."""
        return np.ones(M)

    def start(self, M: int) -> np.ndarray:
        """Return equal weights with ||theta|| = 1, shape (M,)."""
        return np.ones(M) / self.value(np.ones(M))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        """Return twice the regularisation term of the primal, theta . s for feasible weights.

        A model with infeasible weights is that of theta / ||theta|| with the same w, which costs
        ||theta|| times as much.
        """
        return float(max(1.0, self.value(theta)) * (theta @ clip(s)))


def clip(s: np.ndarray) -> np.ndarray:
    """Return s, shape (M,), with what rounding has made negative set to 0."""
    clipped: np.ndarray = np.maximum(s, 0.0)
    return clipped


def same_length(name: str, have: int, want: int) -> None:
    """Refuse what is made for another number of kernels."""
    if have != want:
        raise ValueError(f"norm: {name} is for {have} kernels, but there are {want}")


@dataclass(frozen=True, eq=False)
class Fixed(Norm):
    """The norm that leaves no choice: the kernels are combined with these weights, shape (M,).

    Parameters
    ----------
    theta : array of shape (M,)
        The weights, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, kernels
    >>> from kernelweave.norms import Fixed
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> each = kernels.per_feature(kernels.Linear())
    >>> model = MKLClassifier(each, norm=Fixed(np.array([0.9, 0.1]))).fit(X, X[:, 0] > 0)
    >>> print(model.weights_)
    [0.9 0.1]
    """

    theta: np.ndarray

    @property
    def is_given(self) -> bool:
        return True

    def among(self, kernels: np.ndarray) -> Fixed:
        return Fixed(self.theta[kernels])

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


def power_sum(x: np.ndarray, p: float, costs: np.ndarray | float = 1.0) -> float:
    """(sum costs x^p)^(1/p) of x >= 0 for a p that is not 0, scaled so that no power overflows."""
    scale = float(x.max() if p > 0 else x.min())
    if scale == 0 or p == np.inf:
        return scale
    return scale * float(np.sum(costs * (x / scale) ** p) ** (1 / p))


def power_ball(
    theta: np.ndarray, p: float, costs: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return sum costs theta^p - 1, its gradient, (k,), and that one's derivatives in log theta.

    The product of Hessian and theta has no powers that overflow near p = 1, as either has.
    """
    slope = p * costs * theta ** (p - 1)
    return float(costs @ theta**p) - 1.0, slope, np.diag((p - 1) * slope)


def conjugate_exponent(p: float) -> float:
    """The exponent p* with 1/p + 1/p* = 1."""
    if p == 1:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1)


def checked_exponent(name: str, value: float) -> float:
    """Return an exponent as a float; refuse what is none."""
    if not as_number(value) >= 1:
        raise ValueError(f"{name} must be a number >= 1 or inf, got {value!r}")
    return as_number(value)
