"""A model of the cost of a pass over all shards, in bytes and seconds.

A pass sends q examples and their dual variables to every worker and returns one number for each of
n examples. Passes take most of the time of a fit on a cluster; docs/scale.md lists measured
constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MESSAGE_OVERHEAD = 600  # bytes of a pickled message apart from its numbers
ANSWER_OVERHEAD = 130  # bytes of a pickled answer apart from its numbers
CLIENT_ARRAYS = 20  # arrays of n numbers on the client: alpha, outputs, targets, costs, bounds, ...
FETCHED_COPIES = 4  # allowance for caches and buffers, in copies of each fetched example


@dataclass(frozen=True)
class Machines:
    """The workers of a cluster and their network.

    Attributes
    ----------
    workers : int
        Number of workers.
    threads : int
        Threads of each worker.
    bandwidth : float
        Bytes per second between two machines.
    latency : float
        Seconds of a round trip.
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
    n : float
        Number of examples.
    q : float
        Number of examples that are sent to all workers.
    example_bytes : float
        Size of an encoded example: 8 bytes per number, 16 bytes per 64 letters of DNA.
    pair_seconds : float
        Time of one kernel evaluation in one thread.
    lookup_seconds : float
        Time per example that does not depend on q, such as the k-mer lookups of string kernels.
    """

    n: float
    q: float
    example_bytes: float
    pair_seconds: float = 0.0
    lookup_seconds: float = 0.0

    def sent(self, shards: int) -> float:
        """Return the bytes sent to all shards: examples, dual variables and overhead."""
        return shards * (self.q * (self.example_bytes + 8) + MESSAGE_OVERHEAD)

    def received(self, shards: int) -> float:
        """Return the bytes received from all shards."""
        return 8 * self.n + shards * ANSWER_OVERHEAD

    def seconds(self, machines: Machines) -> float:
        """Return the duration of the pass.

        Workers pass the message on in a binary tree; answers share the bandwidth of the client.
        """
        steps = 1 + math.ceil(math.log2(machines.workers)) if machines.workers > 1 else 1
        message = self.sent(1) / machines.bandwidth * steps
        work = self.n * (self.q * self.pair_seconds + self.lookup_seconds)
        threads = machines.workers * machines.threads
        answers = self.received(machines.workers) / machines.bandwidth
        return machines.latency + message + work / threads + answers


def client_bytes(n: float, support: float, example_bytes: float) -> float:
    """Return the memory of the client in bytes.

    Parameters
    ----------
    n : float
        Number of examples.
    support : float
        Number of support vectors, which the client fetches.
    example_bytes : float
        Size of an example.
    """
    return CLIENT_ARRAYS * 8 * n + FETCHED_COPIES * support * (example_bytes + 8)
