"""Examples of shards that are here, and engines for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.compile.examples import Examples
from ..kernels.data.joined import joined
from .base import Engine, TrainingSet
from .dense import DenseEngine
from .family import FamilyEngine
from .linear import LinearEngine
from .shard import Shard, Varying
from .shards import Shards

SPARE = 4  # fetched examples that are kept, relative to those that are needed,
FEW = 20_000  # unless they are few


@dataclass(frozen=True, eq=False)
class Near:
    """How engines for fetched examples are made.

    Attributes
    ----------
    kernels : the M kernels.
    linear : whether their matrices multiply vectors cheaply.
    cache_mb, n_jobs : memory for rows, number of threads.
    light : whether many examples are few bytes, and their kernels need no pairs.
    """

    kernels: Varying
    linear: bool
    cache_mb: float = 1024.0
    n_jobs: int = 1
    light: bool = False

    def engine(self, examples: Examples) -> Engine:
        """Return an ordinary engine of examples that all kernels have read, at alpha = 0."""
        seen = self.kernels.seen(examples)
        near = TrainingSet(self.kernels.listing, seen, self.cache_mb, self.n_jobs)
        if self.kernels.family:
            return FamilyEngine.of(near)
        return LinearEngine.of(near) if self.linear else DenseEngine.of(near)


class Fetched:
    """The examples of shards that were fetched.

    Parameters
    ----------
    shards : where the examples are.
    """

    def __init__(self, shards: Shards):
        self._shards = shards
        self._starts = np.concatenate([[0], np.cumsum(shards.sizes)])
        self._place = np.full(self._starts[-1], -1)  # of each example among those that are here
        self._here: Examples | None = None

    def part(self, shards: Shards, idx: np.ndarray) -> Fetched:
        """Return the same of shards of some of the examples."""
        smaller = Fetched(shards)
        smaller._place, smaller._here = self._place[idx], self._here
        return smaller

    def split(self, idx: np.ndarray) -> list[np.ndarray]:
        """Return which of its own examples each shard has among some, which are sorted."""
        ends = np.searchsorted(idx, self._starts)
        bounds = zip(ends[:-1], ends[1:], self._starts[:-1], strict=True)
        return [idx[a:b] - start for a, b, start in bounds]

    def take(self, idx: np.ndarray, needed: np.ndarray) -> Examples:
        """Return some examples, in any order; `needed` are those that will be asked for again."""
        missing = np.unique(idx[self._place[idx] < 0])
        if len(missing):
            self._forget(np.union1d(needed, idx))
            parts = [(part,) if len(part) else None for part in self.split(missing)]
            found = self._shards.ask(Shard.take, (), parts)
            first = 0 if self._here is None else self._here.n
            self._place[missing] = first + np.arange(len(missing))
            self._here = joined([*([self._here] if self._here else []), *found])
        assert self._here is not None
        return self._here.take(self._place[idx])

    def _forget(self, needed: np.ndarray) -> None:
        """Drop examples that are not needed, where they are many."""
        if self._here is None or self._here.n <= max(SPARE * len(needed), FEW):
            return
        kept = needed[self._place[needed] >= 0]
        self._here = self._here.take(self._place[kept]) if len(kept) else None
        self._place[:] = -1
        self._place[kept] = np.arange(len(kept))
