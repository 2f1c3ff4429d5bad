"""The engine for few examples and many fits: the values of all kernels, computed once.

One fit touches every pair of examples a few times. A class against the rest, a norm, a cost or a
fold more touches the same pairs again. With all values at hand these cost no evaluation at all.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from ..common.core import _core
from .base import TrainingSet
from .kept_outputs import KeptOutputs
from .memory import LITTLE, free_memory

MOST_BYTES = 2**28  # of all values: more of them are slower to read than to compute
WITH_COPY = 1.75  # times as many, at most, with the copy that a fold of a search trains on


class Block(NamedTuple):
    """A block that was asked for: q examples, sorted, weights (M,) and values (q, q)."""

    examples: np.ndarray
    weights: np.ndarray
    values: np.ndarray

    def part(self, idx: np.ndarray, theta: np.ndarray) -> np.ndarray | None:
        """Return the block of some of its examples under the same weights, None of any others."""
        if not np.array_equal(theta, self.weights):
            return None
        if np.array_equal(idx, self.examples):
            return self.values.copy()
        at = np.minimum(np.searchsorted(self.examples, idx), len(self.examples) - 1)
        if not np.array_equal(self.examples[at], idx):
            return None
        return self.values.take(at, axis=0).take(at, axis=1)


class StackedEngine(KeptOutputs):
    """All values of all kernels between all examples, and the outputs of every kernel.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    keeps_values: ClassVar[bool] = True

    def __init__(self, core: _core.Stack):
        super().__init__(core.n, core.n_kernels)
        self._core = core
        # The last block, of which the Hessian in the weights is made, as a rule; and the first one,
        # of equal weights, which every machine starts from.
        self._last: Block | None = None
        self._first: Block | None = None

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
        needed = WITH_COPY * values
        fits = values <= MOST_BYTES and needed <= training_set.cache_mb * 2**20
        if kernels.n_kernels == 1 or not fits or kernels.is_linear:
            return False
        return needed <= LITTLE or needed <= free_memory()

    @property
    def _outputs(self) -> np.ndarray:
        return self._core.outputs

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        self._core.add(idx, delta)

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        for kept in (self._last, self._first):
            if kept is not None and (part := kept.part(idx, theta)) is not None:
                return part
        values = self._core.block(idx, theta)
        if len(idx) and np.all(idx[1:] > idx[:-1]):
            self._last = Block(idx.copy(), theta.copy(), values.copy())
            self._first = self._first or self._last
        return values

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def _subset(self, examples: np.ndarray) -> StackedEngine:
        return StackedEngine(self._core.subset(examples))


def between(engine: StackedEngine, m: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return k_m between q examples and t others, shape (q, t)."""
    values = engine._core.values
    tile, place = np.divmod(columns, values.shape[3])
    kernel: np.ndarray = values[rows[:, None], tile, m, place]
    return kernel
