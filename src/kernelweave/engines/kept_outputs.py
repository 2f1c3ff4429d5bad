"""What engines share that keep the outputs of every kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..core import _core


class KeptOutputs(ABC):
    """An engine whose outputs, shape (M, n), are an array at hand."""

    turns_per_step = 1  # new weights cost no kernel evaluation
    streams = False

    @property
    @abstractmethod
    def outputs(self) -> np.ndarray:
        """The outputs of the current alpha, shape (M, n)."""

    @abstractmethod
    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""

    def product(self) -> _core.Product | None:
        """Return None: a product would take as long as all rows."""
        return None

    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m outputs[m], shape (n,)."""
        return theta @ self.outputs

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha' K_m alpha, shape (M,), for the alpha whose outputs these are."""
        return self.outputs @ alpha

    def outputs_of(self, kernels: np.ndarray) -> np.ndarray:
        """Return the outputs of some kernels, shape (len(kernels), n)."""
        return self.outputs[kernels]

    def rough_outputs(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of some examples, shape (M, len(idx))."""
        return self.outputs[:, idx]

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self.outputs[:] *= factor

    def keep(self) -> np.ndarray:
        """Return a copy of the outputs, shape (M, n), for `restore`."""
        return self.outputs.copy()

    def restore(self, alpha: np.ndarray, kept: np.ndarray) -> None:
        """Return to alpha, shape (n,), whose outputs these are, shape (M, n)."""
        self.outputs[:] = kept

    def clear(self) -> None:
        """Start again at alpha = 0; the cache stays."""
        self.outputs.fill(0.0)

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,)."""
        self.clear()
        support = np.flatnonzero(alpha)
        self.add(support, alpha[support])
