"""The stopping rule of a solver: the gap is small enough, or it no longer falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines.base import Engine
from ..problem.rounding import gap_rounding
from .log import Extremes, Log, Progress

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class StallTuning:
    """Constants of the test for stalled solvers. An iteration is an entry of the log.

    Attributes
    ----------
    patience : number of iterations without progress after which a run stalls.
    no_progress : relative decrease of the gap that does not count as progress.
    noise : values are unreliable if the rounding bound exceeds this fraction of the gap. Then
        `noisy_patience` iterations without a relative decrease by `noisy_progress` are enough.
    still : the run also stalls if `noisy_patience` models hardly change: neither their weights, by
        more than this fraction, nor their dual values, by more than this fraction of the distance
        between primal and dual value.
    dual_rounding : changes of the dual value below this fraction of the largest dual value are
        attributed to rounding.
    zero : objectives below this fraction of the largest primal value count as 0.
    inner_rounding : the required difference of primal and dual value of an inner problem is at
        least this fraction of the first primal value.
    """

    patience: int = 100
    no_progress: float = 1e-3
    noise: float = 0.25
    noisy_patience: int = 10
    noisy_progress: float = 0.5
    still: float = 1e-9
    dual_rounding: float = 1e-9
    zero: float = 1e-15
    inner_rounding: float = 1e-12


@dataclass(frozen=True)
class StoppingRule:
    """Criteria by which a run stops: the gap, or no progress.

    Attributes
    ----------
    tol : float
        Relative duality gap to reach.
    decrease : float
        The gap must also fall to this fraction of the first gap. Used for inner problems: otherwise
        a weight step might be repeated at the same alpha.
    tuning : StallTuning
        Constants of the test for stalled solvers.
    """

    tol: float
    decrease: float = 1.0
    tuning: StallTuning = StallTuning()

    def target(self, log: Log) -> float:
        """Return the gap to reach, given the first entry of a log."""
        if self.decrease == 1 or not log.entries:
            return self.tol
        first = log.entries[0]
        least = self.tuning.inner_rounding * abs(first.primal) / max(first.scale, TINY)
        return max(min(self.tol, self.decrease * first.gap), least)

    def stalled(self, log: Log, engine: Engine) -> bool:
        """Return whether further iterations would not improve the last model.

        A run stalls after many iterations without progress, or if both objectives are 0. It stalls
        after a few if the model no longer changes or most of the gap may be a rounding error. The
        engine has the alpha of the last model.
        """
        tuning, past = self.tuning, log.extremes
        if self._vanished(log) or self._idle(past, tuning.patience, tuning.no_progress):
            return True
        return self._idle(past, tuning.noisy_patience, tuning.noisy_progress) and (
            self._noisy(log.last, engine) or self._still(log)
        )

    def _noisy(self, last: Progress, engine: Engine) -> bool:
        """Return whether much of the gap of the last model may be a rounding error."""
        moved = gap_rounding(engine.alpha, last.weights, engine.largest_values, last.scale)
        return bool(self.tuning.noise * last.gap <= moved)

    def _still(self, log: Log) -> bool:
        """Return whether the last models have the same weights and the same dual value.

        Then their primal values differ by the rounding errors of the outputs alone. It happens if
        kernel values are so large that alpha moves by its last decimals only.
        """
        last = log.entries[-self.tuning.noisy_patience - 1 :]
        weights, duals = np.array([one.weights for one in last]), [one.dual for one in last]
        if np.ptp(weights, axis=0).max() > self.tuning.still * weights.max():
            return False
        with np.errstate(invalid="ignore"):  # infinite dual values
            return bool(np.ptp(duals) <= self.tuning.still * log.extremes[-1].distance)

    def _idle(self, past: list[Extremes], count: int, slight: float) -> bool:
        """Return whether the last `count` entries have hardly improved the model.

        That is, neither the gap nor the difference of the best primal and dual value has decreased
        by more than the fraction `slight`.
        """
        if len(past) <= count:
            return False
        before, now = past[-count - 1], past[-1]
        if now.gap < (1 - slight) * before.gap:
            return False
        if not np.isfinite(before.distance):  # rounding has made every alpha so far infeasible
            return not np.isfinite(now.distance)
        if before.distance <= 0:  # a dual value above a primal value is a rounding error
            return True
        gained = before.distance - now.distance
        least = max(slight * before.distance, self.tuning.dual_rounding * before.largest_dual)
        return gained <= least

    def _vanished(self, log: Log) -> bool:
        """Return whether both objectives are 0 up to rounding, as can happen for one class.

        With a large C the optimum may also be tiny relative to the first primal value. Then the
        dual value is positive, and the result is False.
        """
        last = log.last
        size = max(abs(last.primal), abs(last.dual))
        return last.dual < 0 and size <= self.tuning.zero * log.largest_primal
