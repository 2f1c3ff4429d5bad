"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import newton
from .hinge import signed_box


@selectable
@registered("Logistic")
@dataclass(frozen=True)
class Logistic(Loss):
    """Logistic loss log(1 + exp(-y f)) for y = -1 or +1, as in logistic regression.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Logistic
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(Logistic().value(margins, np.ones(4)).round(2))
    [1.31 0.69 0.31 0.13]
    """

    name: ClassVar[str] = "logistic"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

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
        p = expit(-y * f)
        return -y * p, p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*signed_box(y, C), ent=C)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)
