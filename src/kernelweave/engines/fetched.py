"""Examples fetched from shards to this process, and engines for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.compile.examples import Examples
from ..kernels.data.joined import joined
from .base import Engine, TrainingSet
from .dense import DenseEngine
from .family import FamilyEngine
from .linear import LinearEngine
from .shard import Shard, VaryingKernels
from .shards import Shards

SPARE = 4  # drop unused examples if more than this multiple of the needed ones is cached,
FEW = 20_000  # and more than this number


@dataclass(frozen=True, eq=False)
class LocalEngines:
    """Creates engines for fetched examples.

    Attributes
    ----------
    kernels : VaryingKernels
        The M kernels.
    linear : bool
        Whether matrix-vector products with the kernel matrices are cheap.
    cache_mb : float
        Memory of the row cache, in megabytes.
    n_jobs : int
        Number of threads.
    light : bool
        Whether examples are small and their kernels are linear, so that more of them can be local.
    """

    kernels: VaryingKernels
    linear: bool
    cache_mb: float = 1024.0
    n_jobs: int = 1
    light: bool = False

    def engine(self, examples: Examples) -> Engine:
        """Return an engine at alpha = 0 for examples encoded for all kernels."""
        encoded = self.kernels.encoded(examples)
        local = TrainingSet(self.kernels.listing, encoded, self.cache_mb, self.n_jobs)
        if self.kernels.family:
            return FamilyEngine.of(local)
        return LinearEngine.of(local) if self.linear else DenseEngine.of(local)


class Fetched:
    """A cache of examples that were fetched from shards.

    Parameters
    ----------
    shards : Shards
        The shards with all n examples.
    """

    def __init__(self, shards: Shards):
        self._shards = shards
        self._starts = np.concatenate([[0], np.cumsum(shards.sizes)])
        self._place = np.full(self._starts[-1], -1)  # index in the cache; -1 if not cached
        self._cached: Examples | None = None

    def part(self, shards: Shards, idx: np.ndarray) -> Fetched:
        """Return the cache for `shards`, which contain only the examples `idx`, shape (q,)."""
        smaller = Fetched(shards)
        smaller._place, smaller._cached = self._place[idx], self._cached
        return smaller

    def split(self, idx: np.ndarray) -> list[np.ndarray]:
        """Split sorted indices of examples by shard; return indices within each shard."""
        ends = np.searchsorted(idx, self._starts)
        bounds = zip(ends[:-1], ends[1:], self._starts[:-1], strict=True)
        return [idx[a:b] - start for a, b, start in bounds]

    def take(self, idx: np.ndarray, needed: np.ndarray) -> Examples:
        """Return the examples at given indices, and fetch those that are not cached.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Indices in any order.
        needed : ndarray of shape (k,)
            Indices of examples that stay cached, since they will be needed again.
        """
        missing = np.unique(idx[self._place[idx] < 0])
        if len(missing):
            self._drop_unused(np.union1d(needed, idx))
            parts = [(part,) if len(part) else None for part in self.split(missing)]
            found = self._shards.call(Shard.take, (), parts)
            first = 0 if self._cached is None else self._cached.n
            self._place[missing] = first + np.arange(len(missing))
            self._cached = joined([*([self._cached] if self._cached else []), *found])
        assert self._cached is not None
        return self._cached.take(self._place[idx])

    def _drop_unused(self, needed: np.ndarray) -> None:
        """Drop examples that are not needed if the cache is large."""
        if self._cached is None or self._cached.n <= max(SPARE * len(needed), FEW):
            return
        remaining = needed[self._place[needed] >= 0]
        self._cached = self._cached.take(self._place[remaining]) if len(remaining) else None
        self._place[:] = -1
        self._place[remaining] = np.arange(len(remaining))
