"""What a pass over all shards costs: bytes and seconds, by sizes, machines and network.

A pass tells every worker q examples and their alphas, and brings back a number for each of n. It is
what a fit on a cluster mostly waits for; docs/scale.md has measured constants and plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PER_MESSAGE, PER_ANSWER = 600, 130  # bytes around numbers


@dataclass(frozen=True)
class Machines:
    """Workers and their network.

    Attributes
    ----------
    workers : number of them.
    threads : of each worker.
    bandwidth : bytes per second between two machines.
    latency : seconds that a question and its answer take, however short they are.
    """

    workers: int
    threads: int = 1
    bandwidth: float = 1.25e9
    latency: float = 0.015


@dataclass(frozen=True)
class Pass:
    """A pass over all shards.

    Attributes
    ----------
    n : number of examples.
    q : number of examples whose alphas are told.
    example_bytes : of one example, as kernels read it: 8 for a number, 16 for 64 letters of DNA.
    pair_seconds : of one kernel value in one thread; 0 where `lookup_seconds` says it all.
    lookup_seconds : of one example of a shard, whatever q is: string kernels look words up.
    """

    n: float
    q: float
    example_bytes: float
    pair_seconds: float = 0.0
    lookup_seconds: float = 0.0

    def sent(self, shards: int) -> float:
        """Return the bytes that all shards are told: examples, alphas, and what wraps them."""
        return shards * (self.q * (self.example_bytes + 8) + PER_MESSAGE)

    def received(self, shards: int) -> float:
        """Return the bytes of all answers."""
        return 8 * self.n + shards * PER_ANSWER

    def seconds(self, machines: Machines) -> float:
        """Return how long the pass takes.

        The message goes from worker to worker, twice as many at each step; answers share the way
        to the client.
        """
        steps = 1 + math.ceil(math.log2(machines.workers)) if machines.workers > 1 else 1
        message = self.sent(1) / machines.bandwidth * steps
        work = self.n * (self.q * self.pair_seconds + self.lookup_seconds)
        threads = machines.workers * machines.threads
        answers = self.received(machines.workers) / machines.bandwidth
        return machines.latency + message + work / threads + answers


def client_bytes(n: float, support: float, example_bytes: float) -> float:
    """Return the memory of the client: numbers of all examples, and the examples it has fetched.

    Alpha, outputs, targets, costs, bounds and what is made of them meanwhile are some 20 arrays.
    """
    return 20 * 8 * n + 4 * support * (example_bytes + 8)
