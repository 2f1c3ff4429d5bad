"""The log of a solver: duality gap, weights, time and kernel evaluations after each iteration."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..common.core import Work
from ..problem.certificate import Certificate


@dataclass(frozen=True, kw_only=True, eq=False)
class Progress(Certificate):
    """One entry of a log: the primal and dual value of a model, its weights, and its time.

    Attributes
    ----------
    seconds : float
        Time since the fit started.
    weights : ndarray of shape (M,)
        Kernel weights of the model.
    phase : str
        "single precision" or "double precision". The last entry of a fit is in double precision.
    pairs : dict
        Number of pairs of examples evaluated so far, for each kind of computation.
    """

    seconds: float
    weights: np.ndarray
    phase: str = "double precision"
    pairs: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Extremes:
    """The best primal value, dual value and gap of the models so far.

    Attributes
    ----------
    gap, primal : float
        The smallest gap and the smallest primal value.
    dual : float
        The largest dual value.
    largest_dual : float
        Largest absolute value of the finite dual values.
    """

    gap: float = np.inf
    primal: float = np.inf
    dual: float = -np.inf
    largest_dual: float = 0.0

    def after(self, one: Certificate) -> Extremes:
        """Return the best values after one more model."""
        size = abs(one.dual) if np.isfinite(one.dual) else 0.0
        return Extremes(
            min(self.gap, one.gap),
            min(self.primal, one.primal),
            max(self.dual, one.dual),
            max(self.largest_dual, size),
        )

    @property
    def distance(self) -> float:
        """Difference of the best primal and the best dual value."""
        return self.primal - self.dual


Watch = Callable[[Progress], None]


class Log:
    """The models of a solver with their primal and dual values, oldest first.

    Parameters
    ----------
    work : Work
        Counts the pairs that the engine evaluates.
    watch : callable, optional
        Is called with every new entry.
    phase : str
        Phase of new entries.
    started : float, optional
        Start of the fit, in the time of `time.monotonic`; now by default.

    Attributes
    ----------
    entries : list of Progress
        One entry for each model.
    extremes : list of Extremes
        Best values of the present solver's models, after each of them.
    largest_primal : float
        Largest absolute primal value of all entries.
    """

    def __init__(
        self,
        work: Work,
        watch: Watch | None = None,
        phase: str = "double precision",
        started: float | None = None,
    ):
        self.entries: list[Progress] = []
        self.extremes: list[Extremes] = []
        self.largest_primal = 0.0
        self.work, self.watch, self.phase = work, watch, phase
        self.started = time.monotonic() if started is None else started

    def add(self, certificate: Certificate, weights: np.ndarray) -> None:
        """Append the certificate of a model with weights, shape (M,).

        Raises
        ------
        FloatingPointError
            If the objective is not finite: no further iteration would repair that.
        """
        if not certificate.finite:
            raise FloatingPointError("the objective is not finite")
        progress = Progress(
            **vars(certificate),
            seconds=time.monotonic() - self.started,
            weights=weights.copy(),
            phase=self.phase,
            pairs=dict(self.work.pairs),
        )
        self._append(progress)
        if self.watch is not None:
            self.watch(progress)

    def extend(self, entries: list[Progress]) -> None:
        """Append the entries of another log."""
        for progress in entries:
            self._append(progress)

    def continued(self) -> Log:
        """Return a log with the same entries for the next solver; its `extremes` start empty."""
        log = Log(self.work, self.watch, self.phase, self.started)
        log.entries, log.largest_primal = self.entries, self.largest_primal
        return log

    @property
    def last(self) -> Progress:
        return self.entries[-1]

    def _append(self, progress: Progress) -> None:
        before = self.extremes[-1] if self.extremes else Extremes()
        self.entries.append(progress)
        self.extremes.append(before.after(progress))
        self.largest_primal = max(self.largest_primal, abs(progress.primal))
