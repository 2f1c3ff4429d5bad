"""The empirical risk of ranking: squared hinge over comparable pairs of censored times.

    R(F) = sum over comparable pairs (j, i) of  C_j w_i / W  max(0, 1 - (F_j - F_i))^2

j is an event and i is later (`comparable_pairs`). The weights are w_i = C_i / max C, and W is their
sum, so that R grows with the number of events as Cox's does. Without sample weights R is C / n
times the loss of a survival support vector machine (Poelsterl, Navab and Katouzian, 2015). R does
not change when a constant is added to F: there is no intercept, and the alphas add up to 0.

R is convex, piecewise quadratic and has a continuous gradient. Its conjugate at -alpha is
-alpha . F - R(F) for any F with alpha = -grad R(F). Newton's method on R(F) + alpha . F finds such
an F without evaluating kernels. A solver that knows such an F passes it; then no step is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ..common.cached_property import cached_property
from ..common.roots import root_between
from .comparable_pairs import ActivePairs, ComparablePairs
from .event_risk import SurvivalLoss
from .joint_risk import JointRisk
from .risk import TINY, Response

CONJUGATE_STEPS = 100  # maximum number of Newton steps for the convex conjugate,
CONJUGATE_MOVES = 300  # and of iterations of conjugate gradients in each of them
# Ridge of the Hessian, relative to the largest alpha; without active pairs the Hessian is singular.
RIDGE = 1e-3
MATCHED = 1e-10  # difference of alphas that counts as rounding, relative to the largest alpha
ROUNDED = 4 * np.finfo(float).eps  # rounding error of a sum, for each of its terms


@dataclass(frozen=True)
class Ranking(SurvivalLoss):
    """Squared hinge max(0, 1 - (f_j - f_i))^2 over pairs with an event j that is earlier than i.

    It is not a sum over the examples: `kernelweave.losses.ranking.RankingRisk` computes it.

    Examples
    --------
    >>> from kernelweave.losses import Ranking
    >>> Ranking().kind
    'survival'
    """

    name: ClassVar[str] = "ranking"
    risk: ClassVar[str] = "RankingRisk"


@dataclass(frozen=True, eq=False)
class RankingRisk(JointRisk):
    """The squared hinge loss over comparable pairs of n examples.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Times.
    C : ndarray of shape (n,)
        Costs: the loss of a pair (j, i) is multiplied by C_j w_i / W.
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    """

    @cached_property
    def pairs(self) -> ComparablePairs:
        """The comparable pairs: an event, and an example whose time is later."""
        return ComparablePairs.of(self.y, self.event, self.C > 0)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of alpha, (n,).

        Pairs in which an example is the earlier one increase its alpha; pairs in which it is the
        later one decrease it.
        """
        lo, hi = np.zeros_like(self.y), np.zeros_like(self.y)
        pairs = self.pairs
        if pairs.number():
            after_first = np.cumsum(pairs.earlier) > 0
            before_last = np.cumsum(~pairs.earlier[::-1])[::-1] > 0
            lo[pairs.example[after_first & ~pairs.earlier]] = -np.inf
            hi[pairs.example[before_last & pairs.earlier]] = np.inf
        return lo, hi

    @cached_property
    def _weights(self) -> np.ndarray:
        """w_i / W = C_i / sum of C, shape (n,)."""
        return np.asarray(self.C / max(float(self.C.sum()), TINY))

    @cached_property
    def _costs(self) -> np.ndarray:
        """Costs of the events, 0 for censored examples, shape (n,)."""
        return np.where(self.event, self.C, 0.0)

    def value(self, F: np.ndarray, bias: object = 0.0) -> float:
        """Return the risk of outputs F, shape (n,); the bias makes no difference."""
        return self._parts(F)[0]

    def _parts(self, F: np.ndarray) -> tuple[float, np.ndarray, ActivePairs, np.ndarray]:
        """Return the risk, alpha = -grad R(F), the active pairs, and a sum for each event.

        The sum of an event j, in an array of shape (n,), is that of w_i / W over its active pairs.
        """
        F = F - self._weights @ F  # centred, since sums of squares lose precision far from 0
        active, w, c = self.pairs.active(F), self._weights, self._costs
        count, first = active.over_later(w), active.over_later(w * F)
        second, short = active.over_later(w * F**2), 1.0 - F
        value = float(c @ (count * short**2 + 2 * short * first + second))
        up = 2 * c * (count * short + first)
        down = 2 * w * (active.over_earlier(c) * F + active.over_earlier(c * short))
        return value, up - down, active, count

    def response(self, F: np.ndarray) -> Response:
        """Return the risk, its gradient and a generalised Hessian at outputs F, shape (n,)."""
        value, alpha, active, count = self._parts(F)
        w, c = self._weights, self._costs
        before = active.over_earlier(c)

        def hessian(change: np.ndarray) -> np.ndarray:
            own = 2 * (c * count + w * before) * change
            across = c * active.over_later(w * change) + w * active.over_earlier(c * change)
            return np.asarray(own - 2 * across)

        return Response(alpha, value, hessian)

    def conjugate(self, alpha: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the conjugate at -alpha, shape (n,); inf if no outputs have the gradient -alpha.

        Newton's method looks for such outputs, from `near`, shape (n,), or from 0. If it does not
        converge, the result is inf, which makes the dual value -inf, a valid bound.
        """
        lo, hi = self.bounds
        if not (np.all((alpha >= lo) & (alpha <= hi)) and self.is_feasible(alpha)):
            return np.inf
        F = np.zeros_like(self.y) if near is None else near
        largest, response = max(float(np.abs(alpha).max()), TINY), self.response(F)
        for _ in range(CONJUGATE_STEPS):
            wrong = response.alpha - alpha  # minus the gradient of R(F) + alpha . F
            relative = float(np.abs(wrong).max()) / largest
            if relative <= max(MATCHED, self._rounding(F) / largest):
                return float(-alpha @ F - response.value)
            step = _solved(response.hessian, wrong, min(relative, RIDGE) * largest, relative)
            F = F + self._step_length(F, step, alpha) * step
            response = self.response(F)
        return np.inf

    def _rounding(self, F: np.ndarray) -> float:
        """Return a bound on the rounding error of the alpha that `response` computes from F.

        Each alpha is the difference of two sums of at most n terms, which can be much larger than
        alpha. They are at most 2 max C (1 + 2 max |F|) if F is centred.
        """
        largest = 1.0 + 2.0 * float(np.abs(F - self._weights @ F).max())
        return float(ROUNDED * len(F) * self.C.max() * largest)

    def _step_length(self, F: np.ndarray, step: np.ndarray, alpha: np.ndarray) -> float:
        """Return the length in [0, 1] at which R + alpha . F is least along a step from F.

        The search compares derivatives, since near the optimum rounding hides differences of
        values. Without the search, steps cycle between sets of active pairs.
        """

        def slope(length: float) -> tuple[float, float]:
            there = self.response(F + length * step)
            return float((alpha - there.alpha) @ step), float(step @ there.hessian(step))

        return 1.0 if slope(1.0)[0] <= 0 else root_between(slope, 0.0, 1.0)


def _solved(
    hessian: Callable[[np.ndarray], np.ndarray], right: np.ndarray, ridge: float, relative: float
) -> np.ndarray:
    """Return x with hessian(x) + ridge x = right, shape (n,), by conjugate gradients.

    The iterations stop at a residual of `relative` / 10 times the norm of `right`, at most 1 %.
    """
    n = len(right)
    matrix = LinearOperator((n, n), lambda x: hessian(x) + ridge * x, dtype=float)
    enough = min(0.1 * relative, 1e-2)
    return np.asarray(cg(matrix, right, rtol=enough, maxiter=CONJUGATE_MOVES)[0])
