"""Losses of the residual y - f, for real targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..common.numbers import as_number
from ..model.files.registry import stored
from .base import DualTerm, balance, half_inverse, named


@named
@stored("EpsilonInsensitive")
@dataclass(frozen=True)
class EpsilonInsensitive:
    """max(0, |y - f| - epsilon) for real y.

    Parameters
    ----------
    epsilon : errors up to this size cost nothing.

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
        value: np.ndarray = np.maximum(0.0, np.abs(y - f) - self.epsilon)
        return value

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(-C, C, lin=-y, eps=self.epsilon)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        residual = y - F
        ends = np.concatenate([residual - self.epsilon, residual + self.epsilon])
        return balance(ends, np.concatenate([C, C]), C.sum() - tau)


@named
@stored("Squared")
@dataclass(frozen=True)
class Squared:
    """(y - f)^2 for real y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Squared
    >>> outputs, targets = np.array([0.0, 1.0, 3.0]), np.ones(3)
    >>> print(Squared().value(outputs, targets))
    [1. 0. 4.]
    """

    name: ClassVar[str] = "squared"
    kind: ClassVar[str] = "regressor"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        value: np.ndarray = (y - f) ** 2
        return value

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        reach = np.where(C > 0, np.inf, 0.0)
        return DualTerm.of(-reach, reach, lin=-y, curv=half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        total = C.sum()
        return float((C @ (y - F) - 0.5 * tau) / total) if total > 0 else 0.0
