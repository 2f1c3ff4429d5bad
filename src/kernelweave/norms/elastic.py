"""The elastic norm: a mixture of sparse weights and the plain sum of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.numbers import as_number
from ..common.roots import root_between
from ..model.files.registry import registered
from .base import LEAST_FACTOR, Norm, clip

# `ball` has a pole at theta_m = 1 / (1 - mix). Beyond this fraction of it, `ball` is linear.
NEAR_POLE = 0.999


@registered("Elastic")
@dataclass(frozen=True)
class Elastic(Norm):
    """Elastic norm: the regulariser mixes the squared l1 and l2 norms of the block norms ||w_m||.

        1/2 (mix (sum_m ||w_m||)^2 + (1 - mix) sum_m ||w_m||^2)

    It gives sparse weights like p = 1, but similar kernels share their weight, like correlated
    features in the elastic net (Zou and Hastie, 2005).

    Parameters
    ----------
    mix : float
        Above 0 and below 1. The norm approaches `Lp(1)` for 1 and `Lp(inf)`, the plain sum, for 0.

    Raises
    ------
    ValueError
        If `mix` is not between 0 and 1.

    Notes
    -----
    For shares eta >= 0 of sum 1, (sum_m ||w_m||)^2 = min over eta of sum_m ||w_m||^2 / eta_m. So
    the regulariser is 1/2 min over eta of sum_m ||w_m||^2 / theta_m with
    1 / theta_m = mix / eta_m + 1 - mix, and the feasible weights are

        sum_m mix theta_m / (1 - (1 - mix) theta_m) <= 1.

    `value` is the gauge (Minkowski functional) of this convex set. At the maximum of theta . s, the
    shares are proportional to max(0, sqrt(s_m) - level), where the level depends on s. So a kernel
    has a nonzero weight if its sqrt(s_m) exceeds the level.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Elastic, Lp
    >>> s = np.array([4.0, 3.9, 0.1])
    >>> print(Lp(1).best(s))
    [1. 0. 0.]
    >>> print(Elastic(0.5).best(s).round(2))
    [0.68 0.66 0.  ]
    """

    mix: float

    def __post_init__(self) -> None:
        mix = as_number(self.mix)
        if not 0 < mix < 1:
            raise ValueError(
                f"mix must be a number above 0 and below 1, got {self.mix!r}; norm=1 and norm=inf "
                "are the two ends"
            )
        object.__setattr__(self, "mix", mix)

    @property
    def is_curved(self) -> bool:
        return True

    def value(self, theta: np.ndarray) -> float:
        largest = float(theta.max())
        if largest == 0:
            return 0.0
        parts = theta / largest

        def excess(size: float) -> tuple[float, float]:
            rest = size - (1 - self.mix) * parts
            terms = self.mix * parts / rest
            return 1.0 - float(terms.sum()), float((terms / rest).sum())

        return largest * root_between(excess, 1.0, self.mix * float(parts.sum()) + 1 - self.mix)

    def dual(self, s: np.ndarray) -> float:
        return float(self.best(s) @ clip(s))

    def best(self, s: np.ndarray) -> np.ndarray:
        s = clip(s)
        if not s.any():
            return self.start(len(s))
        # eta_m = (r sqrt(s_m) - mix)_+ / (1 - mix), with the r for which they add up to 1.
        root = np.sqrt(s / s.max())
        falling = np.sort(root)[::-1]
        count = np.arange(1, len(s) + 1)
        r = float(np.min((1 - self.mix + count * self.mix) / np.cumsum(falling)))
        eta = np.maximum(r * root - self.mix, 0.0) / (1 - self.mix)
        return self._weights(eta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        size = theta * np.sqrt(clip(s))
        if not size.any():
            return theta
        eta = np.maximum(size / size.sum(), LEAST_FACTOR * self._shares(theta))
        return self._weights(eta)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return sum_m mix theta_m / (1 - (1 - mix) theta_m) - 1 and its gradient.

        Close to its pole, theta_m = 1 / (1 - mix), and beyond it each term is continued linearly.
        Feasible weights are smaller unless `mix` is tiny.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
        gradient : array of shape (M,)
        """
        inside = np.minimum(theta, self._limit)
        rest = 1 - (1 - self.mix) * inside
        slope = self.mix / rest**2
        terms = self.mix * inside / rest + slope * (theta - inside)
        return float(terms.sum()) - 1.0, slope

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        theta = theta[chosen]
        rest = 1 - (1 - self.mix) * np.minimum(theta, self._limit)
        bend = 2 * self.mix * (1 - self.mix) / rest**3
        return np.diag(np.where(theta <= self._limit, bend, 0.0))

    @property
    def _limit(self) -> float:
        """Weight above which `ball` is continued linearly; feasible weights are at most 1."""
        return max(1.0, NEAR_POLE / (1 - self.mix))

    def _weights(self, eta: np.ndarray) -> np.ndarray:
        """Return the weights of norm 1, shape (M,), with shares proportional to eta >= 0."""
        eta = eta / eta.sum()
        return eta / (self.mix + (1 - self.mix) * eta)

    def _shares(self, theta: np.ndarray) -> np.ndarray:
        """Return the shares eta, shape (M,), that correspond to feasible weights (see Notes)."""
        return self.mix * theta / (1 - (1 - self.mix) * theta)
