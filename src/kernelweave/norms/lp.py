"""The lp norm: sparse weights at p = 1, equal weights at p = inf."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..common.numbers import as_number, as_positive
from ..model.files.registry import registered
from .base import (
    LEAST_FACTOR,
    Norm,
    checked_exponent,
    clip,
    conjugate_exponent,
    power_ball,
    power_sum,
    same_length,
)


@registered("Lp")
@dataclass(frozen=True)
class Lp(Norm):
    """Weighted lp norm (sum_m weights_m theta_m^p)^(1/p) (Kloft et al., 2011).

    Parameters
    ----------
    p : float
        From 1 to inf. p = 1 gives sparse weights; p = inf gives weights 1, an SVM on the sum of
        the kernels.
    weights : sequence of M positive floats, optional
        Penalty of each kernel; 1 by default. The larger p, the smaller their influence; at p = inf
        they have none: the norm is max_m theta_m. The block scales d_j of Bach et al. (2004), who
        minimise (sum_j d_j ||w_j||)^2 / 2, correspond to `Lp(1, weights=d**2)`.

    Raises
    ------
    ValueError
        If p < 1, or if `weights` has entries that are not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Lp
    >>> s = np.array([4.0, 1.0, 1.0])
    >>> for p in (1, 2, np.inf):
    ...     print(p, Lp(p).best(s).round(2))
    1 [1. 0. 0.]
    2 [0.94 0.24 0.24]
    inf [1. 1. 1.]
    >>> print(Lp(1, weights=[8.0, 1.0, 2.0]).best(s).round(2))
    [0. 1. 0.]
    """

    p: float
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_exponent("p", self.p))
        if self.weights is not None:
            object.__setattr__(self, "weights", as_positive("weights", self.weights))

    @property
    def exponent(self) -> float:
        return self.p

    @property
    def dual_exponent(self) -> float:
        return 2.0 * conjugate_exponent(self.p)

    def dual_scales(self, M: int) -> np.ndarray:
        return self.costs(M) ** (0.5 / self.p)

    def among(self, kernels: np.ndarray) -> Lp:
        if self.weights is None:
            return self
        return replace(self, weights=tuple(np.array(self.weights)[kernels]))

    def costs(self, M: int) -> np.ndarray:
        if self.weights is None:
            return np.ones(M)
        same_length("weights", len(self.weights), M)
        return np.array(self.weights)

    def value(self, theta: np.ndarray) -> float:
        return power_sum(theta, self.p, self.costs(len(theta)))

    def dual(self, s: np.ndarray) -> float:
        costs = self.costs(len(s))
        return power_sum(clip(s) * costs ** (-1 / self.p), conjugate_exponent(self.p))

    def best(self, s: np.ndarray) -> np.ndarray:
        gain = clip(s) * self.costs(len(s)) ** (-1 / self.p)
        if not gain.any():
            return self.start(len(gain))
        if self.p == 1:
            theta = np.zeros_like(gain)
            theta[gain.argmax()] = 1.0
        else:
            theta = (gain / gain.max()) ** (1 / (self.p - 1)) * self.costs(len(s)) ** (-1 / self.p)
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        # Kloft et al. (2011), eq. 19: theta_m ~ (||w_m||^2 / weights_m)^(1 / (p + 1)).
        size = theta * np.sqrt(clip(s) / self.costs(len(s)))
        if not size.any():
            return theta
        new = (size / size.max()) ** (2 / (self.p + 1))
        new = np.maximum(new / self.value(new), LEAST_FACTOR * theta)
        return new / self.value(new)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return sum_m weights_m theta_m^p - 1 and its gradient; requires p < inf.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
        gradient : array of shape (M,)
        """
        costs, p = self.costs(len(theta)), self.p
        return float(costs @ theta**p) - 1.0, p * costs * theta ** (p - 1)

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        costs, theta, p = self.costs(len(theta))[chosen], theta[chosen], self.p
        return np.diag(p * (p - 1) * costs * theta ** (p - 2) if p > 1 else 0.0 * theta)

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return power_ball(theta[chosen], self.p, self.costs(len(theta))[chosen])


def as_norm(norm: float | Norm) -> Norm:
    """Return `Lp(norm)` for a number; a norm object is returned unchanged.

    Parameters
    ----------
    norm : float >= 1 or Norm
        The exponent p of an lp norm, or a norm object.

    Returns
    -------
    Norm

    Raises
    ------
    ValueError
        If `norm` is a number below 1.
    TypeError
        If `norm` is neither a number nor a norm.

    Examples
    --------
    >>> from kernelweave.norms import Block, as_norm
    >>> as_norm(2)
    Lp(p=2.0, weights=None)
    >>> as_norm(Block(1.5))
    Block(q=1.5)
    """
    if isinstance(norm, Norm):
        return norm
    number = isinstance(norm, Real) and not isinstance(norm, bool)
    if as_number(norm) >= 1:
        return Lp(as_number(norm))
    raise (ValueError if number else TypeError)(
        "norm must be a number p >= 1, inf, or an object such as norms.Lp(p, weights), "
        f"norms.Elastic(mix), norms.SumOfNorms(mix, p), norms.Elliptic(E) or norms.Block(q), "
        f"got {norm!r}"
    )
