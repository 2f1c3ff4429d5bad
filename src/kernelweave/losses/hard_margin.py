"""The loss of the hard-margin support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.files.registry import registered
from .base import DualTerm, Loss
from .hinge import signed_box


@registered("HardMargin")
@dataclass(frozen=True)
class HardMargin(Loss):
    """Hard margin: 0 for y f >= 1 and infinity otherwise, for y = -1 or +1.

    This is the limit of C times the hinge loss for C = inf. Costs only select examples: those with
    C_i > 0 must satisfy y f >= 1, the others are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import HardMargin
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(HardMargin().value(margins, np.ones(4)))
    [inf inf  0.  0.]
    """

    name: ClassVar[str] = "hard_margin"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(y * f >= 1.0, 0.0, np.inf)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*signed_box(y, np.where(C > 0, np.inf, 0.0)), lin=-y)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        """Return the intercept that gives both classes the same smallest margin.

        Parameters
        ----------
        F, y, C : arrays of shape (n,)
            Decision values without intercept, targets -1 or +1, and costs.
        tau : float
            Ignored.

        Returns
        -------
        float
        """
        low, high = F[(C > 0) & (y > 0)], F[(C > 0) & (y < 0)]
        if low.size and high.size:
            return -0.5 * float(low.min() + high.max())
        return 1.0 - float(low.min()) if low.size else -1.0 - float(high.max(initial=-1.0))
