"""A cluster as one fit sees it: named tasks, answers that are waited for, bytes that are counted.

Tasks are pure functions of what is in Dask's graph. A worker that dies takes with it what Dask
computes again elsewhere. What Dask cannot mend is an error here and never a wait without end:
while an answer is waited for, the scheduler is asked whether it is there, and who works.
"""

from __future__ import annotations

import asyncio
import pickle
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as Unanswered  # the built-in one from 3.11 on
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from distributed import Client, Future, KilledWorker, get_client
from distributed.client import ClosedClientError

LOOK = 0.5  # seconds for which an answer is waited for before the clock is looked at,
ASK = 1.0  # between two questions to the scheduler,
ANSWER, SLOWER = 7.5, 10.0  # in which it has to answer one, or so many times its slowest answer:
# on a busy machine all take long,
WORKERS = 60.0  # and without any worker


class ClusterError(RuntimeError):
    """The cluster cannot go on: its scheduler is gone, or its workers are.

    Examples
    --------
    >>> from kernelweave.dask import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class Lost(ClusterError):
    """A message was lost with the only worker that had it; what was asked can be asked again."""


class Cluster:
    """Named tasks on the workers of a client.

    Parameters
    ----------
    client : a client of Dask; None for the current one.

    Attributes
    ----------
    sent, received : int
        Bytes that went to workers, each shared message once for every task that it is for, and
        that came back.
    """

    def __init__(self, client: Client | None):
        self.client = _running(client)
        self.sent, self.received = 0, 0
        self._token, self._count = token_hex(4), 0
        self._loop = self.client.loop.asyncio_loop
        self._slowest = 0.0  # answer of the scheduler, in seconds

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> Future:
        """Start a task, which the dashboard shows under a name; arguments may be futures."""
        self._count += 1
        key = f"kernelweave-{name}-{self._token}-{self._count}"
        with self._explained(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # they are data, sent once
            return self.client.submit(function, *arguments, key=key, pure=False)

    def compute(self, parts: Sequence[Any]) -> list[Future]:
        """Start what is delayed."""
        with self._explained():
            return list(self.client.compute(list(parts)))

    def share(self, message: Any, tasks: int, *, lasting: bool = True) -> Future:
        """Return a message to several tasks, which is sent once and passed on by workers.

        One that lasts is in Dask's graph, and outlives the workers that have it. Others are quicker
        to send, and may be `Lost`.
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
        ClusterError : where the scheduler or all workers are gone.
        """
        with self._explained():
            found = self._awaited(lambda: self.client.gather(list(futures), asynchronous=True))
        return list(found)

    def _awaited(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return what work in the client's loop gives, as long as the cluster is there."""

        async def done() -> Any:
            return await work()

        waiting = asyncio.run_coroutine_threadsafe(done(), self._loop)
        asked = idle_since = time.monotonic()
        while True:
            try:
                return waiting.result(timeout=LOOK)
            except Unanswered:
                if waiting.done():  # the task itself ran out of time
                    raise
            if time.monotonic() - asked < ASK:
                continue
            if self._workers():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > WORKERS:
                raise ClusterError(
                    f"no worker has been there for {WORKERS:g} seconds; start workers, and go on "
                    "from a checkpoint (checkpoint=) if there is one"
                )
            asked = time.monotonic()

    def _workers(self) -> dict[str, int]:
        """Return the workers and their threads, as the scheduler knows them."""

        async def ask() -> dict[str, int]:
            workers: dict[str, int] = await self.client.scheduler.ncores()
            return workers

        question, asked = asyncio.run_coroutine_threadsafe(ask(), self._loop), time.monotonic()
        patience = max(ANSWER, SLOWER * self._slowest)
        try:
            workers = question.result(timeout=patience)
        except Unanswered:
            question.cancel()
            raise ClusterError(
                f"the scheduler at {self._address} has not answered for {patience:.1f} seconds"
            ) from None
        except OSError as error:  # before the client itself has noticed it
            raise ClusterError(f"the scheduler at {self._address} is gone: {error}") from error
        self._slowest = max(self._slowest, time.monotonic() - asked)
        return workers

    @property
    def threads(self) -> int:
        """Number of threads of all workers."""
        with self._explained():
            return sum(self._workers().values())

    @property
    def memory(self) -> float:
        """The bytes that a worker may use, the least of all; infinity without a limit."""
        with self._explained():
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((one["memory_limit"] or float("inf") for one in workers), default=float("inf"))

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "an address that is unknown"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what Dask says of a cluster that is gone into one kind of error."""
        try:
            yield
        except (CancelledError, asyncio.CancelledError, ClosedClientError, OSError) as error:
            running = self.client.status == "running"
            theirs = type(error).__module__.split(".")[0] == "distributed"
            if isinstance(error, OSError) and running and not theirs:
                raise  # such as a file that a partition is read from
            if running:
                raise Lost(f"tasks of this fit were cancelled: {error}") from error
            raise ClusterError(
                f"the scheduler at {self._address} is gone, or the client was closed: {error}"
            ) from error
        except KilledWorker as error:
            raise ClusterError(
                f"workers died again and again at one task, for want of memory as a rule: {error} "
                "Give workers more memory, or make partitions smaller (rechunk, repartition)"
            ) from error


def _running(client: Client | None) -> Client:
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "there is no client of Dask: start one, such as distributed.Client() for this "
                "machine or Client('tcp://address:8786') for a cluster, or give client="
            ) from None
    if not isinstance(client, Client):
        raise ValueError(f"client must be a distributed.Client, not a {type(client).__name__}")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous")
    if client.status != "running":
        raise ClusterError(f"client is {client.status}: it must be running")
    return client
