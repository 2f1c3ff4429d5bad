"""The hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import weighted_quantile


@selectable
@registered("Hinge")
@dataclass(frozen=True)
class Hinge(Loss):
    """Hinge loss max(0, 1 - y f) for y = -1 or +1, the loss of the support vector machine.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Hinge
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(Hinge().value(margins, np.ones(4)))
    [2. 1. 0. 0.]
    """

    name: ClassVar[str] = "hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * f)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*signed_box(y, C), lin=-y)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return weighted_quantile(y - F, C, C[y > 0].sum() - tau)


def signed_box(y: np.ndarray, width: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of alpha for 0 <= y alpha <= width.

    Parameters
    ----------
    y : array of shape (n,)
        -1 or +1.
    width : array of shape (n,)
        Largest value of y alpha, such as the cost of each example.

    Returns
    -------
    lo, hi : arrays of shape (n,)
    """
    return np.where(y > 0, 0.0, -width), np.where(y > 0, width, 0.0)
