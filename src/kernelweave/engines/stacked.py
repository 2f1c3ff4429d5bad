"""The engine for few examples and many fits: all kernel values are computed once and cached.

Fits of several classes (one against the rest), norms, costs or folds use the same pairs of examples
again. With all kernel values in memory, further fits need no kernel evaluations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..common.core import _core
from .base import TrainingSet
from .cached_outputs import CachedOutputs
from .costs import EngineCosts
from .memory import LITTLE, free_memory

MOST_BYTES = 2**29  # of all kernel values: half of the default `cache_mb`
MOST_SEQUENCES = 2000  # above, products with k-mer tables cost less than the values of all pairs


class StackedEngine(CachedOutputs):
    """Engine for few local examples; all kernel values and outputs of every kernel are cached.

    Parameters
    ----------
    core : _core.Stack
        The engine of the compiled core that does the work; `of` creates it.
    """

    def __init__(self, core: _core.Stack):
        super().__init__(core.n, core.n_kernels)
        self._core = core

    @classmethod
    def of(cls, training_set: TrainingSet) -> StackedEngine:
        """Return an engine at alpha = 0.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        StackedEngine
        """
        kernels, side = training_set.kernels, training_set.examples.side
        return cls(_core.Stack(kernels.program, side, training_set.n_jobs))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether this engine suits: all kernel values fit in the cache and are worth it.

        For vectors there must be several kernels. Linear ones are excluded, since their sums need
        no kernel values. For at most `MOST_SEQUENCES` sequences one kernel suffices, since
        computing its values takes longer than reading them from memory.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        bool
        """
        kernels, n = training_set.kernels, training_set.examples.n
        values = 8 * kernels.n_kernels * n**2
        fits = values <= min(MOST_BYTES, training_set.cache_mb * 2**20)
        if not fits:
            return False
        if any(isinstance(kind, str) for kind, _ in kernels.layout.sources):
            if kernels.n_kernels == 1 or kernels.is_linear:
                return False
        elif n > MOST_SEQUENCES:
            return False
        return values <= LITTLE or values <= free_memory()

    @property
    def costs(self) -> EngineCosts:
        return replace(super().costs, values="cached")

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
