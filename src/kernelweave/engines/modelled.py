"""An engine for one kernel whose matrix is known by a model, from an alpha with given outputs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Engine
from .corrected import CorrectedMatrix
from .seen_products import SeenMatrix


class ModelledEngine(Engine):
    """The outputs F + K (alpha - alpha_0) of one kernel.

    Parameters
    ----------
    matrix : the model of K.
    alpha, outputs : arrays of shape (n,)
        alpha_0, where it starts, and the outputs F there.
    """

    keeps_outputs: ClassVar[bool] = True

    def __init__(
        self, matrix: SeenMatrix | CorrectedMatrix, alpha: np.ndarray, outputs: np.ndarray
    ):
        super().__init__(len(alpha), 1)
        self._matrix, self._start = matrix, alpha.copy()
        self._first = self._outputs = outputs
        self._alpha[:] = alpha

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._note(idx, values)
        self._follow(None, None)

    def combined(self, theta: np.ndarray) -> np.ndarray:
        combined: np.ndarray = theta[0] * self._outputs
        return combined

    def quadratic(self) -> np.ndarray:
        return np.array([self._alpha @ self._outputs])

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        return self._outputs[None] if kernels is None else self._outputs[None][kernels]

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        product: np.ndarray = theta[0] * (self._matrix @ v)
        return product

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        if outputs is None:
            self._outputs = self._first + self._matrix @ (self._alpha - self._start)
        else:
            self._outputs = outputs if theta is None else outputs / theta[0]
