"""The engine for families: many kernels that are functions of a few shared quantities.

A weighted sum of such kernels is one function of each quantity. The core evaluates that function
as a piecewise polynomial, so that the cost of a pair does not depend on the number of kernels. Only
the combined outputs are kept, so that new weights cost one pass over the support examples.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core import _core
from .base import Engine, Snapshot, TrainingSet

MANY_KERNELS = 4  # kernels of one shared quantity from which on this engine is faster
MANY_EXAMPLES = 1000  # examples from which on a pass takes longer than tabulating a function


class FamilyEngine(Engine):
    """All examples in this process, their kernels combined.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    keeps_outputs: ClassVar[bool] = False

    def __init__(self, core: _core.Mixture):
        super().__init__(core.n, core.n_kernels)
        self._core = core
        self._theta = np.full(self.n_kernels, np.nan)  # the weights of the combined outputs
        self._stale = True  # whether the combined outputs have to be computed anew

    @classmethod
    def of(cls, training_set: TrainingSet) -> FamilyEngine:
        """Return an engine at alpha = 0."""
        return cls(training_set.core(_core.Mixture))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether kernels are such families, and large ones, on many examples."""
        kernels, n = training_set.kernels, training_set.examples.n
        many = kernels.n_kernels >= MANY_KERNELS * kernels.n_sources and n >= MANY_EXAMPLES
        return many and _core.Mixture.serves(kernels.program)

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        support = np.flatnonzero(self._alpha)
        return self._core.outputs(support, self._alpha[support], kernels)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        # Kernels are taken as piecewise cubic functions of the shared quantities.
        outputs = np.empty((self.n_kernels, len(idx)))
        for family, alphas in enumerate(self._core.spread(self._alpha, idx)):
            kernels, values = self._core.family(family)
            used = alphas.any(axis=0)
            outputs[kernels] = values[:, used] @ alphas[:, used].T
        return outputs

    def combined(self, theta: np.ndarray) -> np.ndarray:
        self._weigh(theta)
        if self._stale:
            support = np.flatnonzero(self._alpha)
            self._core.combined.fill(0.0)
            self._core.add(support, self._alpha[support])
            self._stale = False
        return self._core.combined

    def quadratic(self) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        return self._core.quadratic(support, self._alpha[support])

    def block(self, idx: np.ndarray, theta: np.ndarray) -> np.ndarray:
        self._weigh(theta)
        return self._core.block(idx)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        delta = self._note(idx, values)
        if not self._stale:
            self._core.add(idx, delta)

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        self._stale = True  # without outputs they are computed when they are asked for
        if outputs is not None and theta is not None:
            self._weigh(theta)
            self._core.combined[:] = outputs
            self._stale = False

    def snapshot(self) -> Snapshot:
        if self._stale:
            return super().snapshot()
        return Snapshot(self._alpha.copy(), self._core.combined.copy(), self._theta)

    def _subset(self, examples: np.ndarray) -> FamilyEngine:
        """Return an engine for some examples; what is cached of them stays cached.

        Its weights may change only where the alphas of the others are 0.
        """
        smaller = FamilyEngine(self._core.subset(examples))
        smaller._theta, smaller._stale = self._theta, self._stale
        return smaller

    def _weigh(self, theta: np.ndarray) -> None:
        if not np.array_equal(theta, self._theta):
            self._core.weigh(theta)
            self._theta = theta.copy()
            self._stale = True
