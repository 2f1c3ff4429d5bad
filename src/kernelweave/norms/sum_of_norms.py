"""The sum of an l1 and an lp norm of the weights: sparse, but with several kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.numbers import as_number
from ..common.roots import root_between
from ..model.files.registry import registered
from .base import LEAST_FACTOR, NEWTON_EXPONENT, Norm, clip, power_sum

# Newton steps of `_positive_root`. They start at most at twice the root and decrease to it, and the
# error is squared in every step.
ROOT_STEPS = 8


@registered("SumOfNorms")
@dataclass(frozen=True)
class SumOfNorms(Norm):
    """Sum of two norms of the weights: mix ||theta||_1 + (1 - mix) ||theta||_p.

    The l1 norm sets weights to zero, and the lp norm spreads the weight over the kernels that
    remain. `Elastic` mixes norms of the model instead of norms of the kernel weights.

    Parameters
    ----------
    mix : float
        Above 0 and below 1. The norm approaches `Lp(1)` for 1 and `Lp(p)` for 0.
    p : float, default=2
        Above 1 and at most 32.

    Raises
    ------
    ValueError
        If `mix` or `p` is out of its range.

    Notes
    -----
    At the maximum of theta . s over the feasible weights, u = theta / ||theta||_p satisfies

        u_m^(p - 1) = max(0, t s_m - mix) / (1 - mix)

    with the t for which ||u||_p = 1. So a kernel has weight > 0 if its s_m exceeds mix / t.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Lp, SumOfNorms
    >>> s = np.array([4.0, 3.9, 0.1])
    >>> print(Lp(2).best(s).round(2))
    [0.72 0.7  0.02]
    >>> print(SumOfNorms(0.5).best(s).round(2))
    [0.6  0.57 0.  ]
    """

    mix: float
    p: float = 2.0

    def __post_init__(self) -> None:
        mix, p = as_number(self.mix), as_number(self.p)
        if not 0 < mix < 1:
            raise ValueError(
                f"mix must be a number above 0 and below 1, got {self.mix!r}; Lp(p) and Lp(1) "
                "are the two ends"
            )
        if not 1 < p <= NEWTON_EXPONENT:
            raise ValueError(
                f"p must be a number above 1 and at most {NEWTON_EXPONENT:g}, got {self.p!r}"
            )
        object.__setattr__(self, "mix", mix)
        object.__setattr__(self, "p", p)

    @property
    def is_curved(self) -> bool:
        return True

    def value(self, theta: np.ndarray) -> float:
        return self.mix * float(theta.sum()) + (1 - self.mix) * power_sum(theta, self.p)

    def dual(self, s: np.ndarray) -> float:
        return float(self.best(s) @ clip(s))

    def best(self, s: np.ndarray) -> np.ndarray:
        s = clip(s)
        if not s.any():
            return self.start(len(s))
        s = s / s.max()
        power = 1 / (self.p - 1)

        def excess(t: float) -> tuple[float, float]:
            inner = np.maximum(t * s - self.mix, 0.0) / (1 - self.mix)
            u = inner**power
            rate = self.p * power * float(u @ s) / (1 - self.mix)
            return float(u @ inner) - 1.0, rate

        t = root_between(excess, self.mix, 1.0)
        inner = np.maximum(t * s - self.mix, 0.0)
        return self._scaled((inner / inner.max()) ** power)  # near p = 1 other powers underflow

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        size = theta**2 * clip(s)
        if not size.any():
            return theta
        size = size / size.max()

        # u = theta / ||theta||_p has e^b size_m = mix u_m^2 + (1 - mix) u_m^(p + 1), with the b
        # for which ||u||_p = 1.
        def excess(b: float) -> tuple[float, float]:
            right = np.exp(b) * size
            u = self._positive_root(right)
            slope = 2 * self.mix * u + (self.p + 1) * (1 - self.mix) * u**self.p
            moves = np.divide(right, slope, out=np.zeros_like(u), where=slope > 0)
            return float(np.sum(u**self.p)) - 1.0, self.p * float(u ** (self.p - 1) @ moves)

        # At b = 0 the largest u is 1, and at `least` no u exceeds M^(-1/p).
        least = -(1 + 1 / self.p) * np.log(len(size))
        b = root_between(excess, least, 0.0)
        new = self._scaled(self._positive_root(np.exp(b) * size))
        return self._scaled(np.maximum(new, LEAST_FACTOR * theta))

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return mix ||theta||_1 + (1 - mix) ||theta||_p - 1 and its gradient.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
        gradient : array of shape (M,)
        """
        size = power_sum(theta, self.p)
        slope = self.mix + (1 - self.mix) * (theta / size) ** (self.p - 1)
        return self.mix * float(theta.sum()) + (1 - self.mix) * size - 1.0, slope

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        size = power_sum(theta, self.p)
        u = theta[chosen] / size
        slope = u ** (self.p - 1)
        bend = np.diag(u ** (self.p - 2)) - np.outer(slope, slope)
        return (1 - self.mix) * (self.p - 1) / size * bend

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        value, slope = self.ball(theta)
        u = theta[chosen] / power_sum(theta, self.p)
        power = u ** (self.p - 1)
        derivative = (1 - self.mix) * (self.p - 1) * (np.diag(power) - np.outer(power, power * u))
        return value, slope[chosen], derivative

    def _scaled(self, theta: np.ndarray) -> np.ndarray:
        """Return theta / ||theta||, shape (M,)."""
        return theta / self.value(theta)

    def _positive_root(self, right: np.ndarray) -> np.ndarray:
        """Return u >= 0 with mix u^2 + (1 - mix) u^(p + 1) = right, elementwise."""
        p, mix = self.p, self.mix
        u = np.minimum(np.sqrt(right / mix), (right / (1 - mix)) ** (1 / (p + 1)))
        for _ in range(ROOT_STEPS):  # Newton's method on a convex function, from above
            value = mix * u**2 + (1 - mix) * u ** (p + 1) - right
            slope = 2 * mix * u + (p + 1) * (1 - mix) * u**p
            u = u - np.divide(value, slope, out=np.zeros_like(u), where=slope > 0)
        return np.maximum(u, 0.0)
