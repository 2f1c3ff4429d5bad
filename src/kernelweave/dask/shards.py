"""Shards (encoded partitions) as Dask futures. They stay on workers, which evaluate functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future

from ..engines.shard import Shard
from ..engines.shards import Arguments, Value
from .cluster import Cluster, Lost

ATTEMPTS = 5  # number of times that tasks are submitted if their message is lost


@dataclass(frozen=True, eq=False)
class DaskShards:
    """Shards on the workers of a cluster.

    Attributes
    ----------
    cluster : Cluster
        Submits the tasks, and counts transferred bytes.
    futures : sequence of futures
        The shards.
    sizes : array of shape (shards,)
        Number of examples of each shard.
    """

    cluster: Cluster
    futures: Sequence[Future]
    sizes: np.ndarray

    def call(
        self,
        method: Callable[..., Value],
        shared: Arguments = (),
        each: Sequence[Arguments | None] = (),
    ) -> list[Value]:
        for _ in range(ATTEMPTS):
            try:
                return self._call(method, shared, each or [()] * len(self.futures))
            except Lost as error:
                lost = error
        raise lost

    def _call(
        self, method: Callable[..., Value], shared: Arguments, each: Sequence[Arguments | None]
    ) -> list[Value]:
        pairs = zip(self.futures, each, strict=True)
        called = [(one, pickle.dumps(own)) for one, own in pairs if own is not None]
        message = self.cluster.share(shared, len(called), lasting=False)
        name = method.__name__.replace("_", "-")
        tasks = [self.cluster.submit(name, evaluate, method, *one, message) for one in called]
        packed = self.cluster.gather(tasks)
        self.cluster.sent += sum(len(own) for _, own in called)
        self.cluster.received += sum(map(len, packed))
        return [pickle.loads(one) for one in packed]

    def parts(self, each: Sequence[np.ndarray]) -> DaskShards:
        chosen = [(one, idx) for one, idx in zip(self.futures, each, strict=True) if len(idx)]
        self.cluster.sent += sum(idx.nbytes for _, idx in chosen)
        futures = [self.cluster.submit("part", Shard.part, one, idx) for one, idx in chosen]
        return DaskShards(self.cluster, futures, np.array([len(idx) for _, idx in chosen]))


def evaluate(method: Callable[..., object], shard: Shard, own: bytes, message: bytes) -> bytes:
    """Return the pickled result of a method of a shard.

    Its pickled arguments are `message`, the same for all shards, followed by `own`.
    """
    found = method(shard, *pickle.loads(message), *pickle.loads(own))
    return pickle.dumps(found, protocol=5)
