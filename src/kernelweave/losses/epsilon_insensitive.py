"""The epsilon-insensitive loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..common.numbers import as_number
from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import weighted_quantile


@selectable
@registered("EpsilonInsensitive")
@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """Epsilon-insensitive loss max(0, abs(y - f) - epsilon) for real y, as in SVR.

    Parameters
    ----------
    epsilon : float >= 0
        Absolute errors up to epsilon have loss 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import EpsilonInsensitive
    >>> outputs, targets = np.array([0.0, 0.9, 3.0]), np.ones(3)
    >>> print(EpsilonInsensitive(epsilon=0.25).value(outputs, targets))
    [0.75 0.   1.75]
    """

    epsilon: float = 0.1
    name: ClassVar[str] = "epsilon_insensitive"
    kind: ClassVar[str] = "regressor"

    def __post_init__(self) -> None:
        if not 0 <= as_number(self.epsilon) < np.inf:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(-C, C, lin=-y, eps=self.epsilon)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        residual = y - F
        kinks = np.concatenate([residual - self.epsilon, residual + self.epsilon])
        return weighted_quantile(kinks, np.concatenate([C, C]), C.sum() - tau)
