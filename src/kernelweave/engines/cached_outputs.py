"""What engines share that keep the outputs of every kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from .base import Engine
from .snapshot import Snapshot


class KeptOutputs(Engine):
    """An engine whose outputs, shape (M, n), are an array at hand."""

    keeps_outputs: ClassVar[bool] = True

    @property
    @abstractmethod
    def _outputs(self) -> np.ndarray:
        """The array of the outputs, shape (M, n)."""

    @abstractmethod
    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Let the outputs follow a change of alpha[idx] by delta."""

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        return self._outputs if kernels is None else self._outputs[kernels]

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        return self._outputs[:, idx]

    def combined(self, theta: np.ndarray) -> np.ndarray:
        combined: np.ndarray = theta @ self._outputs
        return combined

    def quadratic(self) -> np.ndarray:
        return self._outputs @ self._alpha

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._add(idx, self._note(idx, values))

    def snapshot(self) -> Snapshot:
        return Snapshot(self._alpha.copy(), self._outputs.copy())

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        # With weights, outputs are combined: they tell those of a kernel only where it is alone.
        if outputs is not None and (theta is None or self.n_kernels == 1):
            self._outputs[:] = outputs if theta is None else outputs / theta[0]
            return
        self._outputs.fill(0.0)
        support = np.flatnonzero(self._alpha)
        self._add(support, self._alpha[support])
