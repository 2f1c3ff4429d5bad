"""The engine of a quadratic model of the dual objective, with an approximate kernel matrix."""

from __future__ import annotations

import numpy as np

from .cached_outputs import CachedOutputs
from .recorded_products import LowRankModel
from .surrogate import SurrogateMatrix


class QuadraticModelEngine(CachedOutputs):
    """Engine with approximate outputs F + K (alpha - alpha_0) of one kernel, not evaluated.

    Parameters
    ----------
    matrix : LowRankModel or SurrogateMatrix
        An approximation of K from recorded products.
    alpha, outputs : ndarray of shape (n,)
        Initial alpha, alpha_0, and its exact outputs F.
    """

    def __init__(
        self, matrix: LowRankModel | SurrogateMatrix, alpha: np.ndarray, outputs: np.ndarray
    ):
        super().__init__(len(alpha), 1)
        self._matrix, self._start, self._first = matrix, alpha.copy(), outputs
        self._alpha[:], self._values = alpha, outputs[None].copy()

    @property
    def _outputs(self) -> np.ndarray:
        return self._values

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        self._values[0] = self._first + self._matrix @ (self._alpha - self._start)

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        return theta[0] * (self._matrix @ v)
