"""What a solver asks of a loss."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from .dual_term import DualTerm


@runtime_checkable
class Loss(Protocol):
    """What a solver asks of a loss; `kind` is "classifier", "regressor" or "one-class"."""

    name: ClassVar[str]
    kind: ClassVar[str]

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return V(f, y), shape (n,), of outputs f and targets y, shape (n,)."""

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        """Return the dual terms of targets y under costs C >= 0, both of shape (n,)."""

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        """Return the b that minimises sum_i C_i V(F_i + b, y_i) + tau b.

        Where the minimisers form an interval it is the middle, or the finite end of a half line.
        """
