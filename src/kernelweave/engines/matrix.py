"""The engine of one kernel whose matrix is at hand."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .kept_outputs import KeptOutputs


class MatrixEngine(KeptOutputs):
    """Examples of which nothing is known but the values of one kernel.

    Parameters
    ----------
    values : array of shape (n, n)
    alpha, outputs : arrays of shape (n,)
        Where it starts. The outputs may contain those of alphas elsewhere, which stay as they are.
    """

    at_hand: ClassVar[bool] = True

    def __init__(self, values: np.ndarray, alpha: np.ndarray, outputs: np.ndarray):
        super().__init__(len(values), 1)
        self.values, self._kept = values, outputs[None, :].copy()
        self._alpha[:], self.travel[:] = alpha, np.abs(alpha)

    @property
    def _outputs(self) -> np.ndarray:
        return self._kept

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        self._kept[0] += delta @ self.values[idx]

    def block(self, idx: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return theta[0] * self.values[np.ix_(idx, idx)]

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self.values[np.ix_(idx, idx)][None]

    def diagonal(self) -> np.ndarray:
        return self.values.diagonal()[None, :]

    def _subset(self, examples: np.ndarray) -> MatrixEngine:
        values = self.values[np.ix_(examples, examples)]
        return MatrixEngine(values, self._alpha[examples], self._kept[0, examples])
