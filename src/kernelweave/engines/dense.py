"""The engine for examples in memory: rows of shared quantities in a cache, threads in the core."""

from __future__ import annotations

import numpy as np

from ..core import _core
from .kept_outputs import KeptOutputs
from .memory import check_memory
from .supplies import Supplies


class DenseEngine(KeptOutputs):
    """All examples on this machine, and the outputs of every kernel.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    def __init__(self, core: _core.Engine):
        self._core = core

    @classmethod
    def of(cls, supplies: Supplies) -> DenseEngine:
        """Return an engine at alpha = 0.

        Raises
        ------
        ValueError : where memory cannot hold the outputs of all kernels.
        """
        check_memory(supplies.kernels.n_kernels, supplies.examples.n)
        return cls(supplies.core(_core.Engine))

    @classmethod
    def of_sum(cls, supplies: Supplies) -> DenseEngine:
        """Return an engine at alpha = 0 for one kernel, the sum of all: its values are cached."""
        check_memory(1, supplies.examples.n)
        return cls(supplies.core(_core.Engine.of_sum))

    @staticmethod
    def sums(supplies: Supplies) -> bool:
        """Return whether the sum of several kernels is worth being one.

        Those that are linear in what they share are summed up without any values.
        """
        kernels = supplies.kernels
        return kernels.n_kernels > 1 and not _core.Engine.is_linear(kernels.program)

    @property
    def n(self) -> int:
        """Number of examples."""
        return self._core.n

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return self._core.n_kernels

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the current alpha, shape (M, n): a view, not to be written to."""
        return self._core.outputs

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_m weights_m k_m inside a working set of q examples, shape (q, q)."""
        return self._core.block(idx, weights)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m inside a working set of q examples, shape (M, q, q)."""
        return self._core.blocks(idx)

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        self._core.add(idx, delta)

    def product(self) -> _core.Product | None:
        """Return the matrix of the only kernel, `matrix @ v`, where products cost little."""
        return self._core.product()

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return self._core.diagonal()

    def subset(self, idx: np.ndarray) -> DenseEngine:
        """Return an engine for some of the examples; what is cached of them stays cached."""
        return DenseEngine(self._core.subset(idx))
