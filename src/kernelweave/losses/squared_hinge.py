"""The squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import newton
from .hinge import signed_box
from .squared import half_inverse


@selectable
@registered("SquaredHinge")
@dataclass(frozen=True)
class SquaredHinge(Loss):
    """Squared hinge loss max(0, 1 - y f)^2 for y = -1 or +1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import SquaredHinge
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(SquaredHinge().value(margins, np.ones(4)))
    [4. 1. 0. 0.]
    """

    name: ClassVar[str] = "squared_hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivatives of the loss with respect to f.

        Parameters
        ----------
        f, y : arrays of shape (n,)
            Decision values, and targets -1 or +1.

        Returns
        -------
        first, second : arrays of shape (n,)
        """
        slack = np.maximum(0.0, 1.0 - y * f)
        return -2.0 * y * slack, 2.0 * (slack > 0)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        lo, hi = signed_box(y, np.where(C > 0, np.inf, 0.0))
        return DualTerm.of(lo, hi, lin=-y, curv=half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)
