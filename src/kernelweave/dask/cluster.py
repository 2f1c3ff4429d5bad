"""Named tasks on a Dask cluster, with error detection and counts of transferred bytes.

Tasks are pure functions of values in Dask's graph, so that Dask recomputes the results of a worker
that dies. Failures from which Dask cannot recover raise `ClusterError` instead of blocking: while
waiting for a result, the client checks that the scheduler responds and that there are workers.
"""

from __future__ import annotations

import asyncio
import pickle
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout  # TimeoutError from 3.11 on
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from distributed import Client, Future, KilledWorker, get_client
from distributed.client import ClosedClientError

POLL_SECONDS = 0.5  # seconds between two checks for a result
CHECK_SECONDS = 1.0  # seconds between two checks of the scheduler
# The scheduler must respond within RESPONSE_SECONDS, or within RESPONSE_FACTOR times its slowest
# response so far: on a busy machine all responses are slow.
RESPONSE_SECONDS = 7.5
RESPONSE_FACTOR = 10.0
WORKER_SECONDS = 60.0  # seconds without any worker after which a fit fails


class ClusterError(RuntimeError):
    """Raised if the scheduler or all workers of a cluster are lost.

    Examples
    --------
    >>> from kernelweave.dask import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class Lost(ClusterError):
    """Raised if a message was lost with the only worker that had it; the task can be repeated."""


class Cluster:
    """Named tasks on the workers of a client.

    Parameters
    ----------
    client : distributed.Client or None
        None for the current client.

    Attributes
    ----------
    sent : int
        Bytes sent to workers; a shared message counts once for every task that uses it.
    received : int
        Bytes received from workers.
    """

    def __init__(self, client: Client | None):
        self.client = _running(client)
        self.sent, self.received = 0, 0
        self._token, self._count = token_hex(4), 0
        self._loop = self.client.loop.asyncio_loop
        self._slowest = 0.0  # slowest response of the scheduler, in seconds

    def submit(self, name: str, function: Callable[..., object], *arguments: object) -> Future:
        """Start a task and return its future.

        Parameters
        ----------
        name : str
            Name of the task in the dashboard.
        function : callable
            Called on a worker.
        *arguments
            Arguments of the function; futures are replaced by their results.
        """
        self._count += 1
        key = f"kernelweave-{name}-{self._token}-{self._count}"
        with self._explained(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # data, which is sent once
            return self.client.submit(function, *arguments, key=key, pure=False)

    def compute(self, parts: Sequence[object]) -> list[Future]:
        """Start the computation of delayed values and return their futures."""
        with self._explained():
            return list(self.client.compute(list(parts)))

    def share(self, message: object, tasks: int, *, lasting: bool = True) -> Future:
        """Return the future of a pickled message for several tasks; workers pass it to each other.

        Parameters
        ----------
        message : any picklable object
        tasks : int
            Number of tasks that use it, for the count of bytes.
        lasting : bool
            Whether the message is part of Dask's graph, so that it survives the loss of workers.
            Otherwise it is sent faster, and gathering its tasks may raise `Lost`.
        """
        packed = pickle.dumps(message, protocol=5)
        self.sent += tasks * len(packed)
        if lasting:
            return self.submit("message", bytes, packed)
        with self._explained():
            return self._awaited(lambda: self.client.scatter(packed, hash=False, asynchronous=True))

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Return the results of tasks.

        Raises
        ------
        ClusterError
            If the scheduler or all workers are lost.
        """
        with self._explained():
            found = self._awaited(lambda: self.client.gather(list(futures), asynchronous=True))
        return list(found)

    def _awaited(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of a coroutine in the client's loop; check the cluster meanwhile."""

        async def done() -> Any:
            return await work()

        waiting = asyncio.run_coroutine_threadsafe(done(), self._loop)
        checked = idle_since = time.monotonic()
        while True:
            try:
                return waiting.result(timeout=POLL_SECONDS)
            except FutureTimeout:
                if waiting.done():  # the task itself raised a timeout
                    raise
            if time.monotonic() - checked < CHECK_SECONDS:
                continue
            if self._workers():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > WORKER_SECONDS:
                raise ClusterError(
                    f"the cluster has had no workers for {WORKER_SECONDS:g} seconds; start workers "
                    "and fit again, from a checkpoint (checkpoint=) if there is one"
                )
            checked = time.monotonic()

    def _workers(self) -> dict[str, int]:
        """Return the number of threads of each worker, by its address."""

        async def query() -> dict[str, int]:
            return await self.client.scheduler.ncores()

        future, started = asyncio.run_coroutine_threadsafe(query(), self._loop), time.monotonic()
        limit = max(RESPONSE_SECONDS, RESPONSE_FACTOR * self._slowest)
        try:
            workers = future.result(timeout=limit)
        except FutureTimeout:
            future.cancel()
            raise ClusterError(
                f"the scheduler at {self._address} has not responded for {limit:.1f} seconds; "
                "check that it is running, and fit again (from a checkpoint, if there is one)"
            ) from None
        except OSError as error:  # before the client has noticed the failure
            raise ClusterError(f"the scheduler at {self._address} is lost: {error}") from error
        self._slowest = max(self._slowest, time.monotonic() - started)
        return workers

    @property
    def threads(self) -> int:
        """Total number of threads of all workers."""
        with self._explained():
            return sum(self._workers().values())

    @property
    def memory(self) -> float:
        """Smallest memory limit of a worker, in bytes; infinity if there is none."""
        with self._explained():
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((one["memory_limit"] or float("inf") for one in workers), default=float("inf"))

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "an unknown address"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Return a context that converts Dask's errors about lost clusters to `ClusterError`."""
        try:
            yield
        except (CancelledError, asyncio.CancelledError, ClosedClientError, OSError) as error:
            running = self.client.status == "running"
            from_dask = type(error).__module__.split(".")[0] == "distributed"
            if isinstance(error, OSError) and running and not from_dask:
                raise  # such as a missing file of a partition
            if running:
                raise Lost(f"tasks of this fit were cancelled: {error}") from error
            raise ClusterError(
                f"the scheduler at {self._address} is lost, or the client was closed: {error}"
            ) from error
        except KilledWorker as error:
            raise ClusterError(
                f"workers died repeatedly in the same task, usually for lack of memory: {error} "
                "Give workers more memory, or make partitions smaller (rechunk, repartition)"
            ) from error


def _running(client: Client | None) -> Client:
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "client: there is no current Dask client; start one, such as distributed.Client() "
                "for this machine or Client('tcp://address:8786') for a cluster, or pass client="
            ) from None
    if not isinstance(client, Client):
        raise ValueError(f"client must be a distributed.Client, got a {type(client).__name__}")
    if client.asynchronous:
        raise ValueError("client must be synchronous, got Client(asynchronous=True)")
    if client.status != "running":
        raise ClusterError(f"client must be running, but is {client.status}; start a new one")
    return client
