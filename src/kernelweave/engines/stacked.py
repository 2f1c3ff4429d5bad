"""The engine for few examples and many fits: the values of all kernels, computed once.

One fit touches every pair of examples a few times. A class against the rest, a norm, a cost or a
fold more touches the same pairs again. With all values at hand these cost no evaluation at all.
"""

from __future__ import annotations

import numpy as np

from ..common.core import _core
from .base import LARGEST_BLOCK, TrainingSet
from .cached_outputs import CachedOutputs
from .costs import EngineCosts
from .memory import LITTLE, free_memory

MOST_BYTES = 2**28  # of all values: more of them are slower to read than to compute


class StackedEngine(CachedOutputs):
    """All values of all kernels between all examples, and the outputs of every kernel.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    def __init__(self, core: _core.Stack):
        super().__init__(core.n, core.n_kernels)
        self._core = core

    @classmethod
    def of(cls, training_set: TrainingSet) -> StackedEngine:
        """Return an engine at alpha = 0."""
        kernels, side = training_set.kernels, training_set.examples.side
        return cls(_core.Stack(kernels.program, side, training_set.n_jobs))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether the values of several kernels fit into the memory that is allowed.

        Kernels that are linear in what they share are summed up without any values.
        """
        kernels, n = training_set.kernels, training_set.examples.n
        values = 8 * kernels.n_kernels * n**2
        fits = values <= min(MOST_BYTES, training_set.cache_mb * 2**20)
        if kernels.n_kernels == 1 or not fits or kernels.is_linear:
            return False
        return values <= LITTLE or values <= free_memory()

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(block=LARGEST_BLOCK, free_weights=True, cached_values=True)

    @property
    def _outputs(self) -> np.ndarray:
        return self._core.outputs

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        self._core.add(idx, delta)

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        return self._core.block(idx, theta)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def _subset(self, examples: np.ndarray) -> StackedEngine:
        return StackedEngine(self._core.subset(examples))
