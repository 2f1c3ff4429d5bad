"""The block norm: a norm of the ||w_m|| themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.files.registry import stored
from .base import Norm, checked_exponent, clip, conjugate_exponent, power_ball, power_sum
from .lp import Lp


@stored("Block")
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
    alpha and theta = best(s) in turn never lower it. The optimal s_m of a kernel without full rank
    can be 0, and its theta_m infinite. No number holds w_m = theta_m 0, so 1 / theta is `held` a
    little above 0. The inner problem's optimal value h(1 / theta) is concave, positive and grows
    with each 1 / theta_m: of (1 - slack) / theta + slack / start it is at least 1 - slack times
    that of theta, so that the best weights of this kind miss at most that part of the optimum.

    Parameters
    ----------
    q : float
        From 1 (sparse) over 2 (one machine on the sum of the kernels) to inf (equal ||w_m||).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Block
    >>> s = np.array([4.0, 1.0, 1.0])
    >>> for q in (1, 1.5, 2, 4):
    ...     print(q, Block(q).best(s).round(2))
    1 [1. 0. 0.]
    1.5 [0.93 0.46 0.46]
    2 [1. 1. 1.]
    4 [1.34 2.13 2.13]
    """

    q: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", checked_exponent("q", self.q))

    @property
    def p(self) -> float:
        """The exponent of `value`; negative for q > 2."""
        if self.q == np.inf:
            return -1.0
        return np.inf if self.q == 2 else self.q / (2 - self.q)

    @property
    def exponent(self) -> float:
        return self.p if self.q <= 2 else np.nan

    @property
    def allows_zeros(self) -> bool:
        return self.q <= 2

    @property
    def is_linear(self) -> bool:
        return False

    @property
    def dual_exponent(self) -> float:
        return conjugate_exponent(self.q)

    def value(self, theta: np.ndarray) -> float:
        return power_sum(theta, self.p)

    def dual(self, s: np.ndarray) -> float:
        return power_sum(clip(s), conjugate_exponent(self.q) / 2)

    def best(self, s: np.ndarray) -> np.ndarray:
        if self.q <= 2:
            return Lp(self.p).best(s)
        s = clip(s)
        if not s.any():
            return self.start(len(s))
        # An s_m below the rounding of the largest one is noise, and would get an endless weight.
        s = np.maximum(s / s.max(), np.finfo(float).eps)
        theta = s ** (conjugate_exponent(self.q) / 2 - 1)
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return weights that lower the primal for the present w or, for q > 2, `best(s)`.

        For q > 2 the weights that suit the present w are a step of a saddle point problem, which
        need not get closer to its solution; those that suit alpha never lower the dual.
        """
        return Lp(self.p).analytic(theta, s) if self.q <= 2 else self.best(s)

    def held(self, theta: np.ndarray, slack: float) -> np.ndarray:
        """Return the best weights with theta <= start / slack, shape (M,), theta being best(s).

        For q > 2 they minimise theta . s, too: 1 / theta shrinks but for what is at its least.
        """
        if self.q <= 2:
            return theta
        power, least, shares = -self.p, slack / self.start(len(theta)), 1.0 / theta
        at_least = np.zeros(len(theta), dtype=bool)
        while True:
            left = 1.0 - np.sum(least[at_least] ** power)
            shrink = (left / np.sum(shares[~at_least] ** power)) ** (1.0 / power)
            below = ~at_least & (shrink * shares < least)
            if not below.any():
                return 1.0 / np.where(at_least, least, shrink * shares)
            at_least |= below

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return ||theta||^p - 1 and its gradient, (M,); q < 2."""
        return Lp(self.p).ball(theta)

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the Hessian of `ball` in k of the weights, shape (k, k)."""
        return Lp(self.p).ball_hessian(theta, chosen)

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return power_ball(theta[chosen], self.p, np.ones(len(chosen)))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return power_sum(theta * np.sqrt(clip(s)), self.q) ** 2
