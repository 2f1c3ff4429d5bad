"""The engine for several outputs (decision functions) that share examples and kernel weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .base import Engine, kernel_blocks
from .cached_outputs import CachedOutputs
from .costs import EngineCosts

MATRIX = 5000  # examples up to which a kernel matrix is evaluated for all outputs at once: 200 MB
ROWS = 2  # number of nonzero alphas, in units of n, above which evaluating the matrix is faster


class OutputsEngine(CachedOutputs):
    """Engine for several outputs that share kernels, weights and the examples of another engine.

    The examples of the engine are repeated for every output, one output after the other. Kernels
    between examples of different outputs are 0. All outputs share the cache of the engine.

    Parameters
    ----------
    engine : Engine
        The engine of the examples. Its alpha is overwritten.
    n_outputs : int
        Number of outputs.

    Attributes
    ----------
    of_one : Engine
        The engine of the examples, the argument `engine`.
    n_outputs : int
        Number of outputs.
    """

    def __init__(self, engine: Engine, n_outputs: int):
        super().__init__(n_outputs * engine.n, engine.n_kernels)
        self.of_one, self.n_outputs = engine, n_outputs
        self.precision = engine.precision
        self.work = engine.work
        self._values = np.zeros((self.n_kernels, self.n))

    @property
    def costs(self) -> EngineCosts:
        return replace(super().costs, products=self.of_one.costs.products)

    @property
    def _outputs(self) -> np.ndarray:
        return self._values

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        values = np.zeros((len(idx), len(idx)))
        for where, _, local in self._split(idx):
            values[np.ix_(where, where)] = self.of_one.block(local, theta)
        return values

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        values = np.zeros((self.n_kernels, len(idx), len(idx)))
        for where, _, local in self._split(idx):
            values[:, where[:, None], where] = kernel_blocks(self.of_one).blocks(local)
        return values

    def diagonal(self) -> np.ndarray:
        return np.tile(self.of_one.diagonal(), self.n_outputs)

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        for where, output, local in self._split(idx):
            changed = np.zeros(self.of_one.n)
            changed[local] = delta[where]
            self.of_one.move_to(changed)
            self._of(output)[:] += kernel_blocks(self.of_one).outputs()

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        n, changed = self.of_one.n, np.count_nonzero(self._alpha)
        known = outputs is not None and (theta is None or self.n_kernels == 1)
        if known or n > MATRIX or changed <= ROWS * n:
            super()._follow(outputs, theta)
            return
        every, alpha = np.arange(n), self._alpha.reshape(self.n_outputs, n)
        for kernel, values in enumerate(self._values):
            matrix = self.of_one.block(every, np.eye(self.n_kernels)[kernel])
            values[:] = (alpha @ matrix).ravel()

    def _subset(self, examples: np.ndarray) -> OutputsEngine:
        """Return an engine for some examples, all of one output."""
        ((_, output, local),) = self._split(examples)
        smaller = OutputsEngine(self.of_one.subset(local), 1)
        smaller._values = np.ascontiguousarray(self._of(output)[:, local])
        return smaller

    def _of(self, output: int) -> np.ndarray:
        """Return g[m, i] of one decision function, shape (M, n), as a view of all values."""
        return self._values[:, output * self.of_one.n : (output + 1) * self.of_one.n]

    def _split(self, idx: np.ndarray) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Split indices by output: yield positions in idx, the output, and indices of examples."""
        outputs, local = np.divmod(idx, self.of_one.n)
        for output in np.unique(outputs):
            where = np.flatnonzero(outputs == output)
            yield where, output, local[where]
