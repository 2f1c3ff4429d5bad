"""The interface of norms of the kernel weights, and functions that several norms share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..common.numbers import as_number

# Largest exponent p for which Newton's method is used on the weights. For larger p the unit ball is
# almost a cube, whose sides have next to no curvature.
NEWTON_EXPONENT = 32.0
# Smallest factor by which `analytic` shrinks a weight. Without it a kernel whose w_m happens to be
# 0 would get weight 0, and the analytic step could never increase it again.
LEAST_FACTOR = 1e-3


class Norm(ABC):
    """A norm on the M kernel weights theta >= 0.

    Methods take theta and s, both of shape (M,), where s_m = alpha' K_m alpha is called the squared
    block norm of kernel m (K_m is its matrix, alpha the dual variables). Negative entries of s are
    rounding errors and count as 0.

    Weights are feasible if their norm is at most 1. The exception is `Block(q)` with q > 2, for
    which it is at least 1, and for which `dual` and `best` minimise theta . s.

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
        """The p of the lp norm for which the MKL problem is the same; NaN if there is none."""
        return np.nan

    @property
    def is_sparse(self) -> bool:
        """Whether p = 1, which makes most weights 0."""
        return self.exponent == 1

    @property
    def is_plain_sum(self) -> bool:
        """Whether p = inf, so that all weights are 1."""
        return self.exponent == np.inf

    @property
    def is_curved(self) -> bool:
        """Whether Newton's method applies to the weights: the unit ball is smooth and curved."""
        return 1 < self.exponent <= NEWTON_EXPONENT

    @property
    def has_ball(self) -> bool:
        """Whether the feasible weights are those with `ball` <= 0; else `ball` raises TypeError."""
        return self.is_sparse or self.is_curved

    @property
    def is_fixed(self) -> bool:
        """Whether the norm determines the weights, so that only alpha is optimised."""
        return self.is_plain_sum

    @property
    def allows_zeros(self) -> bool:
        """Whether weights of 0 are feasible."""
        return True

    @property
    def dual_exponent(self) -> float:
        """The r with dual(s) = (sum_m (sqrt(s_m) / scale_m)^r)^(2/r); NaN if there is none.

        The scale_m are those that `dual_scales` returns.
        """
        return np.nan

    @property
    def dual_matrix(self) -> np.ndarray | None:
        """The E of shape (M, M) with dual(s) = min over v >= s of sqrt(v' E v), or None."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether `regularizer` is linear in s."""
        return True

    def dual_scales(self, M: int) -> np.ndarray:
        """Return the scale_m in the formula of `dual_exponent`.

        Parameters
        ----------
        M : int
            Number of kernels.

        Returns
        -------
        array of shape (M,)
        """
        return np.ones(M)

    def among(self, kernels: np.ndarray) -> Norm:
        """Return the norm of the weights of some kernels, when the weights of the others are 0.

        Parameters
        ----------
        kernels : array of k positions
            The kernels whose weights may be positive.

        Returns
        -------
        Norm of k weights
        """
        return self

    @abstractmethod
    def value(self, theta: np.ndarray) -> float:
        """Return ||theta||.

        Parameters
        ----------
        theta : array of shape (M,)
            Nonnegative weights.

        Returns
        -------
        float
            Weights are feasible if it is at most 1 (at least 1 for `Block(q)` with q > 2).
        """

    @abstractmethod
    def dual(self, s: np.ndarray) -> float:
        """Return the maximum of theta . s over the feasible weights.

        Parameters
        ----------
        s : array of shape (M,)

        Returns
        -------
        float
        """

    @abstractmethod
    def best(self, s: np.ndarray) -> np.ndarray:
        """Return feasible weights that maximise theta . s: the best response to alpha.

        Parameters
        ----------
        s : array of shape (M,)

        Returns
        -------
        array of shape (M,)
        """

    @abstractmethod
    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return feasible weights that minimise sum_m ||w_m||^2 / theta_m for the current w.

        Unlike `best`, this step never increases the primal objective. It shrinks no weight to 0
        (`LEAST_FACTOR`).

        Parameters
        ----------
        theta : array of shape (M,)
            Current weights, which with `s` determine ||w_m||^2 = theta_m^2 s_m.
        s : array of shape (M,)

        Returns
        -------
        array of shape (M,)
            Equal to `theta` if all w_m are 0.
        """

    def bounded(self, theta: np.ndarray, slack: float) -> np.ndarray:
        """Return finite weights at which the optimal value of the inner problem is nearly the same.

        Parameters
        ----------
        theta : array of shape (M,)
            Weights returned by `best`.
        slack : float
            Largest relative difference between the optimal values over bounded weights and over
            all feasible weights.

        Returns
        -------
        array of shape (M,)
            Equal to `theta`, except with `Block(q)`, q > 2, where weights can be infinite.
        """
        return theta

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return c(theta) and its gradient: c is convex, and <= 0 exactly for feasible weights.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
            c(theta).
        gradient : array of shape (M,)

        Raises
        ------
        TypeError
            If `has_ball` is False.
        """
        raise TypeError(self._without_ball())

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the Hessian of the value of `ball` with respect to some of the weights.

        Parameters
        ----------
        theta : array of shape (M,)
        chosen : array of k positions
            These weights.

        Returns
        -------
        array of shape (k, k)

        Raises
        ------
        TypeError
            If `has_ball` is False.
        """
        raise TypeError(self._without_ball())

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the value and gradient of `ball`, and the derivative of the gradient in log theta.

        Derivatives with respect to log theta stay finite for weights close to 0.

        Parameters
        ----------
        theta : array of shape (M,)
            Weights; those that are not chosen are negligible.
        chosen : array of k positions
            Weights with respect to which to differentiate.

        Returns
        -------
        value : float
        gradient : array of shape (k,)
            With respect to the chosen weights.
        derivative : array of shape (k, k)
            Of the gradient (rows) with respect to the logarithms of the chosen weights (columns).

        Raises
        ------
        TypeError
            If `has_ball` is False.
        """
        value, slope = self.ball(theta)
        return value, slope[chosen], self.ball_hessian(theta, chosen) * theta[chosen]

    def costs(self, M: int) -> np.ndarray:
        """Return the factor of each kernel in the norm: 1 unless the norm is weighted.

        Parameters
        ----------
        M : int
            Number of kernels.

        Returns
        -------
        array of shape (M,)
        """
        return np.ones(M)

    def start(self, M: int) -> np.ndarray:
        """Return equal weights with ||theta|| = 1.

        Parameters
        ----------
        M : int
            Number of kernels.

        Returns
        -------
        array of shape (M,)
        """
        return np.ones(M) / self.value(np.ones(M))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        """Return twice the regularisation term of the primal objective.

        For feasible weights it is theta . s. Infeasible weights are scaled to theta / ||theta||
        with the same w, which multiplies the term by ||theta||.

        Parameters
        ----------
        theta : array of shape (M,)
        s : array of shape (M,)

        Returns
        -------
        float
        """
        return float(max(1.0, self.value(theta)) * (theta @ clip(s)))

    def _without_ball(self) -> str:
        return (
            f"norm={self!r} has no function that describes the feasible weights; "
            "check norm.has_ball first"
        )


def clip(s: np.ndarray) -> np.ndarray:
    """Return s, shape (M,), with negative entries (rounding errors) set to 0."""
    return np.maximum(s, 0.0)


def same_length(name: str, have: int, want: int) -> None:
    """Raise ValueError unless the length `have` of a parameter is the number of kernels `want`."""
    if have != want:
        raise ValueError(
            f"norm: {name} is for {have} kernels, but there are {want}; pass one entry per kernel"
        )


def power_sum(x: np.ndarray, p: float, costs: np.ndarray | float = 1.0) -> float:
    """Return (sum costs x^p)^(1/p) for x >= 0 and p != 0, scaled so that no power overflows."""
    scale = float(x.max() if p > 0 else x.min())
    if scale == 0 or p == np.inf:
        return scale
    return scale * float(np.sum(costs * (x / scale) ** p) ** (1 / p))


def power_ball(
    theta: np.ndarray, p: float, costs: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return c = sum costs theta^p - 1, its gradient, (k,), and the gradient's derivative, (k, k).

    The derivative is with respect to log theta, the Hessian times theta: near p = 1 the Hessian
    overflows for tiny theta, but this product does not. `theta` and `costs` have shape (k,).
    """
    slope = p * costs * theta ** (p - 1)
    return float(costs @ theta**p) - 1.0, slope, np.diag((p - 1) * slope)


def conjugate_exponent(p: float) -> float:
    """Return the exponent p* with 1/p + 1/p* = 1."""
    if p == 1:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1)


def checked_exponent(name: str, value: float) -> float:
    """Return the parameter `name` as a float; raise ValueError unless it is a number >= 1."""
    if not as_number(value) >= 1:
        raise ValueError(f"{name} must be a number >= 1 or inf, got {value!r}")
    return as_number(value)
