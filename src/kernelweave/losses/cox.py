"""The empirical risk of Cox's proportional hazards model: the negative partial log-likelihood.

    R(F) = sum over events i of  C_i (log sum_{j in the risk set of i} w_j exp(F_j) - F_i)

(Cox, 1972). The risk set of i contains the examples j with t_j >= t_i. The weights are
w_j = C_j / max C, so that examples of cost 0 have no effect. Of d tied events, Breslow's
approximation (1974) uses the same risk set for all. Efron's (1977) subtracts l / d times the sum of
these events from the risk set sum of the l-th one, l = 0, ..., d - 1. R does not change when a
constant is added to F: there is no intercept, and the alphas add up to 0.

R is not a sum over the examples, but once the times are sorted, its gradient and Hessian follow
from sums over risk sets in O(n). Its conjugate takes O(n), too. For the dual point
alpha = -grad R(F), let m_j = C_j event_j - alpha_j >= 0 be the expected number of events of
example j. Then exp(F_j) is m_j divided by the cumulative hazard at t_j. In the order of the times,
each risk set sum and each step of the hazard follows from the previous ones. This recovers F up to
a constant, and R*(-alpha) = -alpha . F - R(F).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..common.cached_property import cached_property
from ..common.types import Numbers
from .event_risk import SurvivalLoss
from .joint_risk import JointRisk
from .risk import TINY, Response

ROUNDING = 1e-9  # relative error of sums of dual variables that is accepted
LEAST_HAZARD = 1e-150  # smallest risk set sum of relative hazards; its square does not underflow
LOG_LARGEST = float(np.log(np.finfo(float).max)) - 1.0  # largest logarithm of a cumulative hazard
STEP = 4 * np.finfo(float).eps  # relative Newton step that counts as rounding

TIES = ("breslow", "efron")


@dataclass(frozen=True)
class Cox(SurvivalLoss):
    """Negative partial log-likelihood of Cox's proportional hazards model.

    It is not a sum over the examples: `kernelweave.losses.cox.CoxRisk` computes it.

    Parameters
    ----------
    ties : {"breslow", "efron"}
        Approximation for events at equal times.

    Examples
    --------
    >>> from kernelweave.losses import Cox
    >>> Cox(ties="efron").kind
    'survival'
    """

    ties: str = "breslow"

    name: ClassVar[str] = "cox"
    risk: ClassVar[str] = "CoxRisk"

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties must be one of {TIES}, got {self.ties!r}")


@dataclass(frozen=True, eq=False)
class EventTimes:
    """Examples sorted by time, in one block for each distinct time at which events occur.

    A block contains the events at that time, then the other examples up to the next event time. All
    examples that are censored before the first event are left out: they are in no risk set.

    Attributes
    ----------
    order : ndarray of shape (q,)
        Indices of the q examples, sorted by block.
    block : ndarray of shape (q,)
        Number of the block of each example in `order`, from 0 to K - 1.
    happened : ndarray of bool, shape (q,)
        Which examples in `order` are events; the others are censored.
    start : ndarray of shape (K,)
        Position in `order` of the first example of each block.
    first : ndarray of shape (K,)
        Number of events in earlier blocks: position of the first event of each block among all.
    removed : ndarray of shape (events,)
        Fraction l / d of the sum over the d tied events that Efron's approximation subtracts from
        the risk set sum of the l-th of them, l = 0, ..., d - 1; 0 for Breslow's.
    """

    order: np.ndarray
    block: np.ndarray
    happened: np.ndarray
    start: np.ndarray
    first: np.ndarray
    removed: np.ndarray

    @classmethod
    def of(cls, time: np.ndarray, event: np.ndarray, counts: np.ndarray, ties: str) -> EventTimes:
        """Sort the examples that the mask `counts` selects by time. Arrays have shape (n,)."""
        kept = np.flatnonzero(counts)
        kept = kept[np.lexsort((~event[kept], time[kept]))]
        distinct = np.unique(time[kept][event[kept]])
        block = np.searchsorted(distinct, time[kept], side="right") - 1
        kept, block = kept[block >= 0], block[block >= 0]
        order = np.lexsort((~event[kept], block))
        kept, block = kept[order], block[order]
        happened = event[kept]
        start = np.searchsorted(block, np.arange(len(distinct)), side="left")
        events = np.bincount(block[happened], minlength=len(distinct))
        first = np.cumsum(events) - events
        removed = np.zeros(int(events.sum()))
        if ties == "efron":  # l / d of the ties leave the risk set of the l-th of d events
            position = np.arange(len(removed)) - np.repeat(first, events)
            removed = position / np.repeat(events, events)
        return cls(kept, block, happened, start, first, removed)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum per block, shape (K,), of values of the examples in `order`, (q,)."""
        return np.bincount(self.block, values, minlength=len(self.start))

    def event_sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum per block, shape (K,), of values of the events, shape (events,)."""
        return np.bincount(self.block[self.happened], values, minlength=len(self.start))


@dataclass(frozen=True, eq=False)
class CoxRisk(JointRisk):
    """The negative partial log-likelihood of n examples.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Times.
    C : ndarray of shape (n,)
        Costs: the likelihood of each event is multiplied by its cost.
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    ties : {"breslow", "efron"}
        Approximation for events at equal times.
    """

    ties: str = field(default="breslow", kw_only=True)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of alpha: C_j event_j - alpha_j >= 0, an expected number."""
        lo, hi = np.zeros_like(self.y), np.where(self.event, self.C, 0.0)
        lo[self.times.order] = -np.inf
        return lo, hi

    @cached_property
    def times(self) -> EventTimes:
        """The examples sorted by time."""
        return EventTimes.of(self.y, self.event, self.C > 0, self.ties)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Relative costs w = C / max C of the examples in `times.order`, shape (q,)."""
        return np.asarray(self.C[self.times.order] / max(self.C.max(), TINY))

    @cached_property
    def _costs(self) -> np.ndarray:
        """Mean cost of the tied events of each block, shape (K,)."""
        times = self.times
        events = times.event_sums(np.ones(int(times.happened.sum())))
        return np.asarray(times.event_sums(self.C[times.order][times.happened]) / events)

    def value(self, F: np.ndarray, bias: Numbers = 0.0) -> float:
        """Return the risk of outputs F, shape (n,); the bias makes no difference."""
        times = self.times
        happened = times.order[times.happened]
        logs = self._costs[times.block[times.happened]] @ self._log_at_risk(F)
        return float(logs - self.C[happened] @ F[happened])

    def _log_at_risk(self, F: np.ndarray) -> np.ndarray:
        """Return the log of the risk set sum of each event, shape (events,).

        Efron's approximation subtracts a part of the sum over the tied events. Logarithms of sums
        are accumulated, since exp(F) can overflow.
        """
        times = self.times
        logs = np.log(self._weights) + F[times.order]
        at_risk = np.logaddexp.accumulate(logs[::-1])[::-1][times.start]
        each = times.block[times.happened]
        if not times.removed.any():
            return np.asarray(at_risk[each])
        tied = np.logaddexp.reduceat(logs[times.happened], times.first)
        removed = times.removed * np.exp(np.minimum(tied - at_risk, 0.0))[each]
        return np.asarray(at_risk[each] + np.log1p(-removed))

    def response(self, F: np.ndarray) -> Response:
        """Return the risk, its gradient and its Hessian at outputs F, shape (n,).

        alpha_i is C_i event_i - w_i exp(F_i) H(t_i), the martingale residual of example i. H(t) is
        Breslow's estimate of the cumulative hazard, from costs and risk set sums.
        """
        times, log_at_risk = self.times, self._log_at_risk(F)
        each = times.block[times.happened]
        costs, kept = self._costs[each], 1.0 - times.removed
        outputs = F[times.order]
        rate = _log_levels(times, np.log(costs) - log_at_risk, np.log(kept))
        expected = self._weights * np.exp(outputs + rate)
        alpha = np.zeros_like(self.y)
        alpha[times.order] = np.where(times.happened, self.C[times.order], 0.0) - expected
        top = float(outputs.max(initial=0.0))
        hazard = self._weights * np.exp(outputs - top)
        at_risk = np.maximum(np.exp(log_at_risk - top), LEAST_HAZARD)

        def hessian(change: np.ndarray) -> np.ndarray:
            moved = hazard * change[times.order]
            tied = times.event_sums(moved[times.happened])
            tail = np.cumsum(times.sums(moved)[::-1])[::-1]
            slopes = costs * (tail[each] - times.removed * tied[each]) / at_risk / at_risk
            product = np.zeros_like(self.y)
            own = expected * change[times.order]
            product[times.order] = own - hazard * _levels(times, slopes, kept)
            return product

        return Response(alpha, self.value(F), hessian)

    def baseline_hazard(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Breslow's estimate of the cumulative hazard of an example whose output is 0.

        Hazards that would overflow are replaced by the largest ones that do not.

        Parameters
        ----------
        F : ndarray of shape (n,)
            Outputs.

        Returns
        -------
        event_times : ndarray of shape (K,)
            Distinct times of events, ascending.
        cumulative_hazard : ndarray of shape (K,)
        """
        times = self.times
        logs = np.logaddexp.reduceat(np.log(self._weights) + F[times.order], times.start)
        at_risk = np.logaddexp.accumulate(logs[::-1])[::-1]
        events = np.log(times.event_sums(self._weights[times.happened]))
        steps = np.exp(np.minimum(events - at_risk, LOG_LARGEST - np.log(len(events))))
        return self.y[times.order[times.start]], np.cumsum(steps)

    def conjugate(self, alpha: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the conjugate of the risk at -alpha, shape (n,); inf outside its domain.

        It is also inf if rounding moves alpha out of the domain. The dual value is then -inf, still
        a valid lower bound. This occurs if one example contributes nearly all, up to a fraction of
        1e-16, of a risk set sum.
        """
        F = self._outputs_of(alpha)
        return np.inf if F is None else float(-alpha @ F - self.value(F))

    def _outputs_of(self, alpha: np.ndarray) -> np.ndarray | None:
        """Return outputs F, shape (n,), with gradient -alpha; None if there are none."""
        times = self.times
        costs = np.where(times.happened, self.C[times.order], 0.0)
        expected = costs - alpha[times.order]
        if np.any(expected < 0) or not self.is_feasible(alpha):
            return None
        if np.count_nonzero(alpha) > np.count_nonzero(alpha[times.order]):  # in no risk set
            return None
        if not len(expected):  # no event: the risk is 0 everywhere
            return np.zeros_like(self.y)
        found = self._rates_of(expected)
        if found is None:
            return None
        with np.errstate(divide="ignore"):
            outputs = np.log(expected / (found * self._weights))
        outputs = np.maximum(outputs, outputs[np.isfinite(outputs)].min() - 700.0)
        F = np.zeros_like(self.y)
        F[times.order] = outputs
        return F

    def _rates_of(self, expected: np.ndarray) -> np.ndarray | None:
        """Return the cumulative hazard at the time of each example, shape (q,).

        `expected`, shape (q,), contains the expected number of events of each example. Risk set
        sums are relative to the first one, which is 1. Return None if one is not positive.
        """
        times = self.times
        events = times.event_sums(np.ones(len(times.removed))).astype(int)
        tied_m = times.event_sums(expected[times.happened])
        other_m = times.sums(np.where(times.happened, 0.0, expected))
        rows = zip(
            events.tolist(), self._costs.tolist(), tied_m.tolist(), other_m.tolist(), strict=True
        )
        # S: risk set sum; H: cumulative hazard before the block, whose d events of mean cost c have
        # m expected events, and whose censored examples have `rest`; T: part of S of the d events;
        # A, B: step of H for later examples, and for the d events themselves.
        S, H = 1.0, 0.0
        of_events, of_others = [], []
        for block, (d, c, m, rest) in enumerate(rows):
            if not S > 0:
                return None
            if d == 1 or self.ties == "breslow":
                A = B = d * c / S
                T = m / (H + B)
            else:
                removed = times.removed[times.first[block] : times.first[block] + d]
                share = _tied(m / c, S * H / c, removed)
                if share is None:
                    return None
                T = share * S
                A = c / S * float((1.0 / (1.0 - removed * share)).sum())
                B = c / S * float(((1.0 - removed) / (1.0 - removed * share)).sum())
            of_events.append(H + B)
            H += A
            of_others.append(H)
            S -= T + rest / H
        rates = np.where(
            times.happened, np.array(of_events)[times.block], np.array(of_others)[times.block]
        )
        return np.asarray(rates)


def _levels(times: EventTimes, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return for each example, shape (q,), the sum of `values` over the events up to its time.

    `values` and `kept` have shape (events,). For an event, the values of its own block are
    multiplied by the fractions `kept`. Censored examples count all events of their block fully.
    """
    steps = times.event_sums(values)
    before = np.cumsum(steps) - steps
    own = np.where(times.happened, times.event_sums(kept * values)[times.block], steps[times.block])
    return np.asarray(before[times.block] + own)


def _log_levels(times: EventTimes, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return log(_levels(times, exp(values), exp(kept))), shape (q,), without overflow."""
    steps = np.logaddexp.reduceat(values, times.first)
    total = np.logaddexp.accumulate(steps)
    before = np.append(-np.inf, total[:-1])
    own = np.logaddexp(before, np.logaddexp.reduceat(kept + values, times.first))
    return np.asarray(np.where(times.happened, own[times.block], total[times.block]))


def _tied(m: float, before: float, removed: np.ndarray) -> float | None:
    """Return the fraction u of a risk set sum that is due to its tied events, with Efron's method.

    It is the root u in (0, 1] of g(u) = u (before + sum (1 - removed) / (1 - removed u)) - m. Since
    g is increasing and convex, Newton's method from u = 1 converges to the root from above.

    Parameters
    ----------
    m : float
        Expected number of the tied events, divided by their mean cost.
    before : float
        Risk set sum times the cumulative hazard before these events, divided by the same cost.
    removed : ndarray of shape (events,)
        `EventTimes.removed` of the tied events.

    Returns
    -------
    float or None
        None if m is too large for u <= 1.
    """
    u, kept = 1.0, 1.0 - removed
    if not m <= (before + len(removed)) * (1 + ROUNDING):
        return None
    while True:
        rest = 1.0 - removed * u
        excess = u * (before + float((kept / rest).sum())) - m
        step = excess / (before + float((kept / rest**2).sum()))
        if step <= STEP * u:
            return u
        u -= step
