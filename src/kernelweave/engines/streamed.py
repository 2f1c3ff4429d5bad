"""The engine for more kernels than outputs can be kept of: some of them at a time.

The outputs of M kernels take 8 M n bytes. A solver that gives most kernels no weight needs outputs
of few of them (`part`), and of all the others only s_m = alpha' K_m alpha, once in a while. That is
a stream of kernels, block after block, and nothing of size M n is ever there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from ..cached_property import cached_property
from ..core import _core
from .dense import DenseEngine
from .supplies import Supplies

BLOCK = 20_000  # kernels evaluated at a time


class StreamedEngine:
    """All examples on this machine, and engines for some of the kernels.

    It notes alpha, and computes what is asked for.

    Parameters
    ----------
    supplies : what it is made of.
    """

    streams = True

    def __init__(self, supplies: Supplies):
        self._supplies = supplies
        self.n, self.n_kernels = supplies.examples.n, supplies.kernels.n_kernels
        self._alpha = np.zeros(self.n)

    def part(self, chosen: np.ndarray) -> DenseEngine:
        """Return an engine for some of the kernels, at alpha = 0."""
        return DenseEngine.of(self._supplies.part(chosen))

    def subset(self, idx: np.ndarray) -> StreamedEngine:
        """Return an engine for some of the examples."""
        smaller = StreamedEngine(
            replace(self._supplies, examples=self._supplies.examples.take(idx))
        )
        smaller.rebuild(self._alpha[idx])
        return smaller

    def rebuild(self, alpha: np.ndarray) -> None:
        """Note alpha, shape (n,)."""
        self._alpha = alpha.copy()

    def clear(self) -> None:
        """Start again at alpha = 0."""
        self._alpha[:] = 0.0

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self._alpha *= factor

    def keep(self) -> np.ndarray:
        """Return nothing: alpha is all that `restore` needs."""
        return np.empty(0)

    def restore(self, alpha: np.ndarray, kept: np.ndarray) -> None:
        """Change to alpha, shape (n,)."""
        self.rebuild(alpha)

    def outputs_of(self, kernels: np.ndarray) -> np.ndarray:
        """Return the outputs of some kernels, shape (len(kernels), n)."""
        part = self.part(kernels)
        part.rebuild(self._alpha)
        return part.outputs

    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return F_i = sum_m theta_m g[m, i], shape (n,), of the kernels with weight."""
        weighted = np.flatnonzero(theta)
        return theta[weighted] @ self.outputs_of(weighted)

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return s_m = alpha' K_m alpha, shape (M,), for any alpha, shape (n,)."""
        support = np.flatnonzero(alpha)
        sides = [part.examples.take(support).side for part in self._parts]
        blocks = Parallel(n_jobs=self._supplies.n_jobs, prefer="threads")(
            delayed(_core.quadratic)(part.kernels.program, side, alpha[support])
            for part, side in zip(self._parts, sides, strict=True)
        )
        return np.concatenate(blocks)

    @cached_property
    def _parts(self) -> list[Supplies]:
        every = np.arange(self.n_kernels)
        return [
            self._supplies.part(every[first : first + BLOCK])
            for first in range(0, self.n_kernels, BLOCK)
        ]
