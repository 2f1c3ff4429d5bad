"""An engine that remembers: alpha and the weights, after every change.

Every change of alpha passes through an engine, so that is where it can be noted, whatever the
solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Engine


class RememberingEngine:
    """An engine whose alpha and weights are kept.

    Parameters
    ----------
    engine : does the work.
    alpha : (n,) the alpha whose outputs the engine holds.
    weights : (M,) the weights to begin with.
    keep : is told alpha and the weights after every change.
    """

    def __init__(
        self,
        engine: Engine,
        alpha: np.ndarray,
        weights: np.ndarray,
        keep: Callable[[np.ndarray, np.ndarray], None],
    ):
        self._engine = engine
        self._alpha = alpha.copy()
        self._weights = weights
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted kernel inside a working set, (q, q), and note the weights."""
        self._weights = weights
        return self._engine.block(idx, weights)

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        self._engine.add(idx, delta)
        self._alpha[idx] += delta
        self._keep(self._alpha, self._weights)

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self._engine.scale(factor)
        self._alpha *= factor

    def restore(self, alpha: np.ndarray, kept: np.ndarray) -> None:
        """Change to alpha, shape (n,); `kept` is what `keep` returns there."""
        self._engine.restore(alpha, kept)
        self._alpha = alpha.copy()
        self._keep(self._alpha, self._weights)

    def clear(self) -> None:
        """Start again at alpha = 0."""
        self._engine.clear()
        self._alpha[:] = 0.0

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,)."""
        self._engine.rebuild(alpha)
        self._alpha = alpha.copy()

    def subset(self, idx: np.ndarray) -> RememberingEngine:
        """Return an engine for some of the examples; what it is told is kept here too."""

        def keep(alpha: np.ndarray, weights: np.ndarray) -> None:
            everywhere = self._alpha.copy()
            everywhere[idx] = alpha
            self._keep(everywhere, weights)

        return RememberingEngine(self._engine.subset(idx), self._alpha[idx], self._weights, keep)

    def part(self, chosen: np.ndarray) -> RememberingEngine:
        """Return an engine for some of the kernels, at alpha = 0; what it is told is kept too."""
        engine: Any = self._engine

        def keep(alpha: np.ndarray, weights: np.ndarray) -> None:
            everywhere = np.zeros(len(self._weights))
            everywhere[chosen] = weights
            self._keep(alpha, everywhere)

        nothing = np.zeros(len(self._alpha))
        return RememberingEngine(engine.part(chosen), nothing, self._weights[chosen], keep)
