"""What risks of censored times have in common if they are no sums over the examples."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from .risk import TINY, Risk

Censored = TypeVar("Censored", bound="JointRisk")


@dataclass(frozen=True, eq=False)
class JointRisk(Risk):
    """A smooth risk of n censored times that compares examples, so that a bias changes nothing.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Times.
    C : ndarray of shape (n,)
        Costs.
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    """

    event: np.ndarray = field(kw_only=True)

    def __post_init__(self) -> None:
        for name in ("y", "C"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        object.__setattr__(self, "event", np.asarray(self.event, dtype=bool))

    def taken(self: Censored, idx: np.ndarray, C: np.ndarray) -> Censored:
        """Return the risk of the examples idx, shape (q,), with costs C, shape (q,)."""
        return replace(self, y=self.y[idx], C=C, event=self.event[idx])

    @property
    def further_targets(self) -> tuple[np.ndarray, ...]:
        return (self.event,)

    @property
    def separates(self) -> bool:
        return False

    @property
    def is_smooth(self) -> bool:
        return True

    @property
    def responses(self) -> np.ndarray:
        """Minus the gradient at the constant model, shape (n,): martingale residuals of Cox's."""
        return self.feasible_alpha()

    def feasible_alpha(self) -> np.ndarray:
        """Return the dual point of the constant model, shape (n,)."""
        return self.response(np.zeros_like(self.y)).alpha

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """Return 0: the risk does not depend on a bias."""
        return 0.0

    @property
    def zero(self) -> float:
        return float(TINY)
