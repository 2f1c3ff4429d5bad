"""The engine for more kernels than outputs can be kept of: some of them at a time.

The outputs of M kernels take 8 M n bytes. A solver that gives most kernels no weight needs outputs
of few of them (`part`), and of all the others only s_m = alpha' K_m alpha, once in a while. That is
a stream of kernels, block after block, and nothing of size M n is ever there.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from joblib import Parallel, delayed

from ..core import _core
from .dense import DenseEngine
from .supplies import Supplies

BLOCK = 20_000  # kernels evaluated at a time
LARGE = 2**29  # bytes of outputs from which on kernels are streamed


class StreamedEngine:
    """All examples on this machine, and engines for some of the kernels.

    Parameters
    ----------
    supplies : what it is made of.
    """

    def __init__(self, supplies: Supplies):
        self._supplies = supplies
        self.n, self.n_kernels = supplies.examples.n, supplies.kernels.n_kernels

    @staticmethod
    def serves(supplies: Supplies) -> bool:
        """Return whether outputs of all kernels would take much memory."""
        return 8 * supplies.kernels.n_kernels * supplies.examples.n > LARGE

    def part(self, chosen: np.ndarray) -> DenseEngine:
        """Return an engine for some of the kernels, at alpha = 0."""
        return DenseEngine.of(self._supplies.part(chosen))

    def rebuild(self, alpha: np.ndarray) -> None:
        """Nothing is kept of an alpha."""

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return s_m = alpha' K_m alpha, shape (M,), for any alpha, shape (n,)."""
        support = np.flatnonzero(alpha)
        side = self._supplies.examples.take(support).side
        blocks = Parallel(n_jobs=self._supplies.n_jobs, prefer="threads")(
            delayed(_core.quadratic)(program, side, alpha[support]) for program in self._programs
        )
        return np.concatenate(blocks)

    @cached_property
    def _programs(self) -> list[_core.Program]:
        every = np.arange(self.n_kernels)
        return [
            self._supplies.kernels.part(every[first : first + BLOCK]).program
            for first in range(0, self.n_kernels, BLOCK)
        ]
