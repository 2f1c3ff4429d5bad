"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable


@selectable
@registered("Squared")
@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss (y - f)^2 for real y, as in kernel ridge regression.

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
        return (y - f) ** 2

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        width = np.where(C > 0, np.inf, 0.0)
        return DualTerm.of(-width, width, lin=-y, curv=half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        total = C.sum()
        return float((C @ (y - F) - 0.5 * tau) / total) if total > 0 else 0.0


def half_inverse(C: np.ndarray) -> np.ndarray:
    """Return 1 / (2 C), and 0 where C = 0.

    Parameters
    ----------
    C : array of shape (n,)
        Cost of each example.

    Returns
    -------
    array of shape (n,)
    """
    return np.divide(0.5, C, out=np.zeros_like(C), where=C > 0)
