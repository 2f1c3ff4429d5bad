"""Engines that cache the outputs of every kernel: new weights cost no kernel evaluation."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .base import LARGEST_BLOCK, Engine
from .costs import EngineCosts
from .snapshot import Snapshot


class CachedOutputs(Engine):
    """An engine that caches the outputs of every kernel, shape (M, n)."""

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(block=LARGEST_BLOCK, free_weights=True, all_outputs=0)

    @property
    @abstractmethod
    def _outputs(self) -> np.ndarray:
        """The outputs, shape (M, n)."""

    @abstractmethod
    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Update the outputs after alpha[idx] has changed by delta, both of shape (q,)."""

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        return self._outputs if kernels is None else self._outputs[kernels]

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        return self._outputs[:, idx]

    def combined(self, theta: np.ndarray) -> np.ndarray:
        return theta @ self._outputs

    def quadratic(self) -> np.ndarray:
        return self._outputs @ self._alpha

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._add(idx, self._set(idx, values))

    def snapshot(self) -> Snapshot:
        return Snapshot(self._alpha.copy(), self._outputs.copy(), origin=self.origin)

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        # Combined outputs determine those of a kernel only if it is the only one.
        if outputs is not None and (theta is None or self.n_kernels == 1):
            self._outputs[:] = outputs if theta is None else outputs / theta[0]
            return
        self._outputs.fill(0.0)
        support = np.flatnonzero(self._alpha)
        self._add(support, self._alpha[support])
