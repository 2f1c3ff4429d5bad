"""The loss of one-class problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import weighted_quantile


@selectable
@registered("OneClass")
@dataclass(frozen=True)
class OneClass(Loss):
    """One-class loss max(0, -f); targets are ignored.

    With tau = nu n and C = 1 the problem is the one-class SVM of Schölkopf et al. (2001) with
    threshold rho = -b, scaled as in LIBSVM: 0 <= alpha <= 1 and sum alpha = nu n.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import OneClass
    >>> print(OneClass().value(np.array([-2.0, 1.0]), np.zeros(2)))
    [2. 0.]
    """

    name: ClassVar[str] = "one_class"
    kind: ClassVar[str] = "one-class"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -f)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(np.zeros_like(C), C)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return weighted_quantile(-F, C, C.sum() - tau)
