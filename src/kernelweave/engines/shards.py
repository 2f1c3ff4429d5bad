"""The interface to shards, and shards in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from .shard import Shard

Arguments = tuple[object, ...]
Value = TypeVar("Value")


class Shards(Protocol):
    """A sequence of shards, in this process or on other machines."""

    @property
    def sizes(self) -> np.ndarray:
        """Number of examples of each shard, shape (shards,), all positive."""

    def call(
        self,
        method: Callable[..., Value],
        shared: Arguments = (),
        each: Sequence[Arguments | None] = (),
    ) -> list[Value]:
        """Call a method of the shards, and return the results in the order of the shards.

        Parameters
        ----------
        method : callable
            A method of `Shard`. Its arguments are `shared`, followed by those in `each`.
        shared : tuple
            Arguments for all shards.
        each : sequence of tuples, optional
            Further arguments for each shard; None skips a shard.

        Returns
        -------
        list
            One result for each shard that was not skipped.
        """

    def parts(self, each: Sequence[np.ndarray]) -> Shards:
        """Return shards with only some of the examples; shards left without examples are dropped.

        Parameters
        ----------
        each : sequence of ndarrays
            Indices of examples within each shard.
        """


@dataclass(frozen=True, eq=False)
class LocalShards:
    """Shards in this process, called one after the other."""

    shards: Sequence[Shard]

    @property
    def sizes(self) -> np.ndarray:
        return np.array([shard.n for shard in self.shards])

    def call(
        self,
        method: Callable[..., Value],
        shared: Arguments = (),
        each: Sequence[Arguments | None] = (),
    ) -> list[Value]:
        pairs = zip(self.shards, each or [()] * len(self.shards), strict=True)
        return [method(shard, *shared, *own) for shard, own in pairs if own is not None]

    def parts(self, each: Sequence[np.ndarray]) -> LocalShards:
        pairs = zip(self.shards, each, strict=True)
        return LocalShards([shard.part(idx) for shard, idx in pairs if len(idx)])
