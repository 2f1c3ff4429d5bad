"""Base class of the risks of censored times that are not a sum over the examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .event_risk import EventRisk
from .risk import TINY


@dataclass(frozen=True, eq=False)
class JointRisk(EventRisk):
    """A smooth risk of n censored times that depends only on differences of outputs.

    A bias therefore has no effect.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Times.
    C : ndarray of shape (n,)
        Costs.
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    """

    def __post_init__(self) -> None:  # `Risk` checks `term`, which joint risks lack
        for name, kind in (("y", float), ("C", float), ("event", bool)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))

    @property
    def separates(self) -> bool:
        return False

    @property
    def is_smooth(self) -> bool:
        return True

    @property
    def responses(self) -> np.ndarray:
        """Minus the gradient at outputs 0, shape (n,); for Cox, martingale residuals."""
        return self.feasible_alpha()

    def feasible_alpha(self) -> np.ndarray:
        """Return minus the gradient at outputs 0, shape (n,), which is feasible in the dual."""
        return self.response(np.zeros_like(self.y)).alpha

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """Return 0: the risk does not depend on a bias."""
        return 0.0

    @property
    def zero(self) -> float:
        return float(TINY)
