"""The kernel matrix of few examples, cached until the weights change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .base import Engine


class KernelMatrix:
    """The weighted sum of an engine's kernels between all examples.

    Inner solvers and Newton steps for the weights use the same matrix, so the last one is cached.

    Parameters
    ----------
    engine : Engine
        Evaluates the kernels.
    """

    def __init__(self, engine: Engine):
        self._engine = engine
        self._theta, self._matrix = np.empty(0), np.empty((0, 0))

    def under(self, theta: np.ndarray) -> np.ndarray:
        """Return the kernel matrix sum_m theta_m K_m.

        Parameters
        ----------
        theta : ndarray of shape (M,)
            Kernel weights.

        Returns
        -------
        ndarray of shape (n, n)
        """
        if not np.array_equal(self._theta, theta):
            self._matrix = self._engine.block(np.arange(self._engine.n), theta)
            self._theta = theta.copy()
        return self._matrix
