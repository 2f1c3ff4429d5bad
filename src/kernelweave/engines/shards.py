"""Where shards are, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .shard import Shard

Told = tuple[Any, ...]


class Shards(Protocol):
    """Where shards are, and how they are asked."""

    @property
    def sizes(self) -> np.ndarray:
        """Number of examples of each shard, (shards,); none is empty."""

    def ask(
        self, question: Callable[..., Any], shared: Told = (), each: Sequence[Told | None] = ()
    ) -> list[Any]:
        """Return the answers of all shards that are asked, in their order.

        Parameters
        ----------
        question : a method of `Shard`, whose arguments are `shared`, then those of `each`.
        shared : what all shards are told.
        each : what each shard is told besides, None for one that is not asked; by default nothing.
        """

    def parts(self, each: Sequence[np.ndarray]) -> Shards:
        """Return shards of some of the examples of each; none where there are no such examples."""


@dataclass(frozen=True, eq=False)
class NearShards:
    """Shards in this process."""

    shards: Sequence[Shard]

    @property
    def sizes(self) -> np.ndarray:
        return np.array([shard.n for shard in self.shards])

    def ask(
        self, question: Callable[..., Any], shared: Told = (), each: Sequence[Told | None] = ()
    ) -> list[Any]:
        pairs = zip(self.shards, each or [()] * len(self.shards), strict=True)
        return [question(shard, *shared, *own) for shard, own in pairs if own is not None]

    def parts(self, each: Sequence[np.ndarray]) -> NearShards:
        pairs = zip(self.shards, each, strict=True)
        return NearShards([shard.part(idx) for shard, idx in pairs if len(idx)])
