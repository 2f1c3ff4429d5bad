"""The block norm: an lq norm of the norms ||w_m|| of the parts of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.files.registry import registered
from .base import Norm, checked_exponent, clip, conjugate_exponent, power_ball, power_sum
from .lp import Lp


@registered("Block")
@dataclass(frozen=True)
class Block(Norm):
    """Block norm (sum_m ||w_m||^q)^(1/q) of the model (Kloft et al., 2011, section 4.3).

    w_m is the part of the model in the feature space of kernel m.

    Parameters
    ----------
    q : float
        From 1 to inf. q = 1 gives sparse weights, q = 2 an SVM on the sum of the kernels, and
        q = inf equal block norms ||w_m||.

    Notes
    -----
    The primal term is 1/2 (sum_m ||w_m||^q)^(2/q). It depends on theta only through
    w_m = theta_m sum_i alpha_i psi_m(x_i), and every theta >= 0 is feasible. The dual term is
    1/2 (sum_m s_m^r)^(1/r) with r = q / (2 (q - 1)). At the optimum theta = best(s), where::

        theta_m = (||w_m|| / (sum_k ||w_k||^q)^(1/q))^(2 - q) = (s_m / dual(s))^(r - 1).

    These weights satisfy `value` = (sum_m theta_m^p)^(1/p) = 1 with p = q / (2 - q).

    For q <= 2 this is the norm of `Lp(p)`, and the problem is the same: `best` maximises theta . s
    over value <= 1.

    For q > 2 the exponent p is negative and Hölder's inequality is reversed: `best` *minimises*
    theta . s over value >= 1, which makes the ||w_m|| more uniform. The dual is then a joint
    maximum over alpha and theta of a function that is concave in (alpha, 1 / theta). Alternating
    between alpha and theta = best(s) never decreases it.

    For q > 2 the optimal s_m of a rank-deficient kernel can be 0, and then theta_m is infinite.
    Instead, `bounded` limits 1 / theta from below. Let h(1 / theta) be the optimal value of the
    problem with fixed weights, which is concave, positive and increasing in each 1 / theta_m. Then
    h((1 - slack) / theta + slack / start) >= (1 - slack) h(1 / theta) for equal weights `start`, so
    that the best bounded weights lose at most the fraction `slack` of the optimum.

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
        """The exponent p = q / (2 - q) of `value`, which is negative for q > 2."""
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
        # An s_m below the rounding error of the largest one would get an unbounded weight.
        s = np.maximum(s / s.max(), np.finfo(float).eps)
        theta = s ** (conjugate_exponent(self.q) / 2 - 1)
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return weights that decrease the primal objective for q <= 2, and `best(s)` for q > 2.

        For q > 2 the weights are the solution of a saddle point problem. Steps to the weights that
        are optimal for the current w need not converge, whereas steps to `best(s)` never decrease
        the dual objective.

        Parameters
        ----------
        theta : array of shape (M,)
            Current weights.
        s : array of shape (M,)

        Returns
        -------
        array of shape (M,)
        """
        return Lp(self.p).analytic(theta, s) if self.q <= 2 else self.best(s)

    def bounded(self, theta: np.ndarray, slack: float) -> np.ndarray:
        """Return the best weights with theta <= start / slack, where `start` are equal weights.

        For q <= 2 these are the given weights. For q > 2 the best weights minimise theta . s over
        value >= 1, and may be infinite. The entries that exceed the bound are set to it, and the
        others are multiplied by a factor so that the value is 1 again.

        Parameters
        ----------
        theta : array of shape (M,)
            The result of `best(s)`.
        slack : float
            Largest relative loss of the optimal value of the problem with fixed weights.

        Returns
        -------
        array of shape (M,)
        """
        if self.q <= 2:
            return theta
        power, least, inverses = -self.p, slack / self.start(len(theta)), 1.0 / theta
        at_least = np.zeros(len(theta), dtype=bool)
        while True:
            left = 1.0 - np.sum(least[at_least] ** power)
            shrink = (left / np.sum(inverses[~at_least] ** power)) ** (1.0 / power)
            below = ~at_least & (shrink * inverses < least)
            if not below.any():
                return 1.0 / np.where(at_least, least, shrink * inverses)
            at_least |= below

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return sum_m theta_m^p - 1 and its gradient; requires q < 2.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
        gradient : array of shape (M,)
        """
        return Lp(self.p).ball(theta)

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return Lp(self.p).ball_hessian(theta, chosen)

    def ball_in_logarithms(
        self, theta: np.ndarray, chosen: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return power_ball(theta[chosen], self.p, np.ones(len(chosen)))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return power_sum(theta * np.sqrt(clip(s)), self.q) ** 2
