"""Shards as tasks of Dask: each is a result that stays on a worker, and answers where it is."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future

from ..engines.shard import Shard
from ..engines.shards import Told
from .cluster import Cluster, Lost

AGAIN = 5  # times that a question is asked whose message was lost


@dataclass(frozen=True, eq=False)
class DaskShards:
    """Shards on the workers of a cluster.

    Attributes
    ----------
    cluster : where they are.
    futures : the shards.
    sizes : number of examples of each, (shards,).
    """

    cluster: Cluster
    futures: Sequence[Future]
    sizes: np.ndarray

    def ask(
        self, question: Callable[..., Any], shared: Told = (), each: Sequence[Told | None] = ()
    ) -> list[Any]:
        for _ in range(AGAIN):
            try:
                return self._ask(question, shared, each or [()] * len(self.futures))
            except Lost as error:
                lost = error
        raise lost

    def _ask(
        self, question: Callable[..., Any], shared: Told, each: Sequence[Told | None]
    ) -> list[Any]:
        pairs = zip(self.futures, each, strict=True)
        asked = [(one, pickle.dumps(own)) for one, own in pairs if own is not None]
        message = self.cluster.share(shared, len(asked), lasting=False)
        name = question.__name__.replace("_", "-")
        tasks = [self.cluster.submit(name, answer, question, *one, message) for one in asked]
        packed = self.cluster.gather(tasks)
        self.cluster.sent += sum(len(own) for _, own in asked)
        self.cluster.received += sum(map(len, packed))
        return [pickle.loads(one) for one in packed]

    def parts(self, each: Sequence[np.ndarray]) -> DaskShards:
        chosen = [(one, idx) for one, idx in zip(self.futures, each, strict=True) if len(idx)]
        self.cluster.sent += sum(idx.nbytes for _, idx in chosen)
        futures = [self.cluster.submit("part", Shard.part, one, idx) for one, idx in chosen]
        return DaskShards(self.cluster, futures, np.array([len(idx) for _, idx in chosen]))


def answer(question: Callable[..., Any], shard: Shard, own: bytes, message: bytes) -> bytes:
    """Return what a shard says to a question, packed."""
    found = question(shard, *pickle.loads(message), *pickle.loads(own))
    return pickle.dumps(found, protocol=5)
