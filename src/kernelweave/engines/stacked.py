"""Several alphas over the same examples: one engine computes, each keeps outputs of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .base import Engine
from .kept_outputs import KeptOutputs


class StackedEngine(KeptOutputs):
    """The engine of machines that share kernels, weights and examples.

    Its examples are those of the engine below once for every machine, one machine after the other;
    examples of different machines have similarity 0. Rows that one machine needs are in the cache
    for the next.

    Parameters
    ----------
    engine : the engine of the examples; what it holds as outputs is lost.
    machines : number of machines.
    """

    def __init__(self, engine: Engine, machines: int):
        self._engine = engine
        self._machines = machines
        self.n, self.n_kernels = machines * engine.n, engine.n_kernels
        self._outputs = np.zeros((self.n_kernels, self.n))

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the current alpha, shape (M, n)."""
        return self._outputs

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_m weights_m k_m inside a working set of q examples, shape (q, q)."""
        values = np.zeros((len(idx), len(idx)))
        for where, _, local in self._split(idx):
            values[np.ix_(where, where)] = self._engine.block(local, weights)
        return values

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m inside a working set of q examples, shape (M, q, q)."""
        values = np.zeros((self.n_kernels, len(idx), len(idx)))
        for where, _, local in self._split(idx):
            values[:, where[:, None], where] = self._engine.blocks(local)
        return values

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        for where, machine, local in self._split(idx):
            self._engine.clear()
            self._engine.add(local, delta[where])
            self._of(machine)[:] += self._engine.outputs

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return np.tile(self._engine.diagonal(), self._machines)

    def subset(self, idx: np.ndarray) -> StackedEngine:
        """Return an engine for some examples, all of one machine."""
        ((_, machine, local),) = self._split(idx)
        part = StackedEngine(self._engine.subset(local), 1)
        part._outputs = np.ascontiguousarray(self._of(machine)[:, local])
        return part

    def _of(self, machine: int) -> np.ndarray:
        """The outputs of a machine."""
        return self.outputs[:, machine * self._engine.n : (machine + 1) * self._engine.n]

    def _split(self, idx: np.ndarray) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Give where in idx each machine's examples are, the machine, and the engine's examples."""
        machines, local = np.divmod(idx, self._engine.n)
        for machine in np.unique(machines):
            where = np.flatnonzero(machines == machine)
            yield where, machine, local[where]
