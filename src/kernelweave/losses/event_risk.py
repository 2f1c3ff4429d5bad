"""Base classes of the losses and risks of censored times."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn, TypeVar

import numpy as np

from .base import Loss
from .risk import Risk

Censored = TypeVar("Censored", bound="EventRisk")


@dataclass(frozen=True)
class SurvivalLoss(Loss):
    """A loss that depends on which times are events, so that only a risk can compute it.

    Attributes
    ----------
    risk : str
        Name of the risk class that computes the loss.
    """

    kind: ClassVar[str] = "survival"
    risk: ClassVar[str]

    def value(self, f: np.ndarray, y: np.ndarray) -> NoReturn:
        raise TypeError(f"the loss depends on events; use {self.risk}.value")

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> NoReturn:
        raise TypeError(f"the loss depends on events; use {self.risk}.conjugate")

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> NoReturn:
        raise TypeError(f"the loss depends on events; use {self.risk}.best_bias")


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
