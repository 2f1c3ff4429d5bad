"""The log of a solver: every certified model, with its time and its cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..common.core import Work
from ..problem.certificate import Certificate


@dataclass(frozen=True, kw_only=True, eq=False)
class Progress(Certificate):
    """One entry of a log: a certified model.

    Attributes
    ----------
    seconds : float
        Time since the fit started.
    weights : ndarray of shape (M,)
    phase : str
        "single precision" or "double precision". The last entry of a fit is in double precision.
    pairs : dict
        Number of pairs of examples evaluated so far, for each kind of work.
    """

    seconds: float
    weights: np.ndarray
    phase: str = "double precision"
    pairs: dict[str, int] = field(default_factory=dict)


Watch = Callable[[Progress], None]


class Log:
    """The certified models of a solver, oldest first.

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
    """

    def __init__(
        self,
        work: Work,
        watch: Watch | None = None,
        phase: str = "double precision",
        started: float | None = None,
    ):
        self.entries: list[Progress] = []
        self.work, self.watch, self.phase = work, watch, phase
        self.started = time.monotonic() if started is None else started

    def add(self, certificate: Certificate, weights: np.ndarray) -> None:
        """Append a certified model with weights, shape (M,).

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
        self.entries.append(progress)
        if self.watch is not None:
            self.watch(progress)

    @property
    def last(self) -> Progress:
        return self.entries[-1]


def distance(entries: list[Progress]) -> float:
    """Return the difference of the best primal and the best dual value of some entries."""
    return min(past.primal for past in entries) - max(past.dual for past in entries)
