"""The engine for examples in memory: rows of shared quantities in a cache, threads in the core."""

from __future__ import annotations

import numpy as np

from ..core import _core
from ..kernels.examples import Examples
from ..kernels.program import CompiledKernels


class DenseEngine:
    """All examples on this machine.

    Parameters
    ----------
    compiled : the M kernels.
    examples : the n training examples as the kernels read them.
    cache_mb : memory for rows of shared quantities.
    n_jobs : number of threads.
    """

    def __init__(
        self, compiled: CompiledKernels, examples: Examples, *, cache_mb: float, n_jobs: int
    ):
        cache_bytes = int(min(cache_mb, 2.0**40) * 2**20)
        self._engine = _core.Engine(compiled.program, examples.side, cache_bytes, n_jobs)

    @classmethod
    def _around(cls, engine: _core.Engine) -> DenseEngine:
        wrapped = cls.__new__(cls)
        wrapped._engine = engine
        return wrapped

    @property
    def n(self) -> int:
        """Number of examples."""
        return self._engine.n

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return self._engine.n_kernels

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the current alpha, shape (M, n): a view, not to be written to."""
        return self._engine.outputs

    turns_per_step = 1

    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m outputs[m], shape (n,)."""
        return theta @ self.outputs

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha' K_m alpha, shape (M,), for the alpha whose outputs these are."""
        return self.outputs @ alpha

    def outputs_at(self, idx: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
        """Return the outputs of some examples, shape (M, len(idx))."""
        return self.outputs[:, idx]

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_m weights_m k_m inside a working set of q examples, shape (q, q)."""
        return self._engine.block(idx, weights)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m inside a working set of q examples, shape (M, q, q)."""
        return self._engine.blocks(idx)

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        self._engine.add(idx, delta)

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self._engine.outputs[:] *= factor

    def keep(self) -> np.ndarray:
        """Return a copy of the outputs, shape (M, n), for `restore`."""
        return self.outputs.copy()

    def restore(self, kept: np.ndarray) -> None:
        """Return to the alpha of these outputs, shape (M, n)."""
        self._engine.outputs[:] = kept

    def clear(self) -> None:
        """Start again at alpha = 0; the cache stays."""
        self._engine.outputs.fill(0.0)

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,)."""
        self.clear()
        support = np.flatnonzero(alpha)
        self.add(support, alpha[support])

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return self._engine.diagonal()

    def subset(self, idx: np.ndarray) -> DenseEngine:
        """Return an engine for some of the examples; what is cached of them stays cached."""
        return self._around(self._engine.subset(idx))
