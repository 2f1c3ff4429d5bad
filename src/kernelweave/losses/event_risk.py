"""Base class of the risks of censored times: they store which events were observed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from .risk import Risk

Censored = TypeVar("Censored", bound="EventRisk")


@dataclass(frozen=True, eq=False)
class EventRisk(Risk):
    """A risk of n times, of which some are events and the others censored.

    Parameters
    ----------
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    """

    event: np.ndarray = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "event", np.asarray(self.event, dtype=bool))
        super().__post_init__()

    def taken(self: Censored, idx: np.ndarray, C: np.ndarray) -> Censored:
        """Return the risk of the examples idx, shape (q,), with costs C, shape (q,)."""
        return replace(self, y=self.y[idx], C=C, event=self.event[idx])

    @property
    def further_targets(self) -> tuple[np.ndarray, ...]:
        return (self.event,)
