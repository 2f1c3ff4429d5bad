"""Engines that cache the squared block norms, which are expensive to compute."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .base import Engine


class CachedBlockNorms(Engine):
    """An engine that caches alpha' K_m alpha until alpha changes."""

    def __init__(self, n: int, n_kernels: int):
        super().__init__(n, n_kernels)
        self._known: tuple[np.ndarray, np.ndarray] | None = (
            None  # alpha, and its squared block norms
        )

    def quadratic(self) -> np.ndarray:
        if self._known is None or not np.array_equal(self._known[0], self._alpha):
            self._known = self._alpha.copy(), self._quadratic()
        return self._known[1].copy()

    @abstractmethod
    def _quadratic(self) -> np.ndarray:
        """Compute alpha' K_m alpha of the present alpha, shape (M,)."""
