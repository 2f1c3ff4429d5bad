"""Shards as Dask futures: results that stay on the workers, on which functions are evaluated."""

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

ATTEMPTS = 5  # number of times that tasks are submitted if their message is lost


@dataclass(frozen=True, eq=False)
class DaskShards:
    """Shards on the workers of a cluster.

    Attributes
    ----------
    cluster : Cluster
    futures : sequence of futures
        The shards.
    sizes : array of shape (shards,)
        Number of examples of each shard.
    """

    cluster: Cluster
    futures: Sequence[Future]
    sizes: np.ndarray

    def ask(
        self, question: Callable[..., Any], shared: Told = (), each: Sequence[Told | None] = ()
    ) -> list[Any]:
        for _ in range(ATTEMPTS):
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
    """Return the pickled result of a function of a shard with pickled arguments."""
    found = question(shard, *pickle.loads(message), *pickle.loads(own))
    return pickle.dumps(found, protocol=5)
