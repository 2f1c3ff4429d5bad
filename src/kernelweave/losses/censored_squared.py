"""The empirical risk of regression on censored times (Shivaswamy, Chu and Jansche, 2007).

    R(f) = sum over events of C_i (f_i - y_i)^2 + sum over censored i of C_i max(0, f_i - y_i)^2

with y = -log(time), so that large outputs are high risks. A censored time is a lower bound: outputs
below y have loss 0. The risk is a sum over the examples; all methods for such risks apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..common.cached_property import cached_property
from .base import DualTerm
from .event_risk import EventRisk, SurvivalLoss
from .squared import half_inverse


@dataclass(frozen=True)
class CensoredSquared(SurvivalLoss):
    """Squared loss (f - y)^2 of events, max(0, f - y)^2 of censored times, with y = -log(time).

    The loss depends on which times are censored:
    `kernelweave.losses.censored_squared.CensoredRisk` computes it.

    Examples
    --------
    >>> from kernelweave.losses import CensoredSquared
    >>> CensoredSquared().kind
    'survival'
    """

    name: ClassVar[str] = "regression"
    risk: ClassVar[str] = "CensoredRisk"


@dataclass(frozen=True, eq=False)
class CensoredRisk(EventRisk):
    """The squared loss of n times, some of which are censored.

    Parameters
    ----------
    y : ndarray of shape (n,)
        -log(time), minus the `centre` of `Risk`.
    C : ndarray of shape (n,)
        Costs.
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    """

    @cached_property
    def term(self) -> DualTerm:
        """Conjugate of the loss of each example; alphas of censored times are not positive."""
        width = np.where(self.C > 0, np.inf, 0.0)
        hi = np.where(self.event, width, 0.0)
        return DualTerm.of(-width, hi, lin=-self.y, curv=half_inverse(self.C))

    def losses(self, f: np.ndarray) -> np.ndarray:
        """Return the loss of each example with decision values f, shape (n,)."""
        above = f - self.y
        return np.asarray(np.where(self.event, above, np.maximum(above, 0.0)) ** 2)

    def _bias_of(self, F: np.ndarray, tau: float) -> float:
        """Return the bias at which the derivative of the risk, which is piecewise linear, is 0."""
        points, C, event = self.y - F, self.C, self.event
        order = np.argsort(points)
        order = order[~event[order] & (C[order] > 0)]
        # Above the k-th breakpoint, events and the first k censored examples have a slope.
        weight = C[event].sum() + np.concatenate([[0.0], np.cumsum(C[order])])
        moment = C[event] @ points[event] + np.concatenate([[0.0], np.cumsum((C * points)[order])])
        roots = np.divide(moment, weight, out=np.zeros_like(moment), where=weight > 0)
        ends = np.append(points[order], np.inf)
        inside = roots <= ends
        if not weight[0] > 0:  # without events any bias below all breakpoints is optimal
            return float(points[order[0]]) if len(order) else 0.0
        return float(roots[np.argmax(inside)])
