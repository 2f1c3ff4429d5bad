"""Timing: the sides of a comparison alternate, so that other load affects all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Timing:
    """The seconds of every repeat, and what the last one returned."""

    seconds: tuple[float, ...]
    result: Any = None

    @property
    def best(self) -> float:
        """The shortest time, which other load disturbs least."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.seconds)


Clock = Callable[[], float]

default_clock: Clock = time.perf_counter  # `python -m benchmarks --cpu` sets another one


def timed(work: Callable[[], Any], clock: Clock | None = None) -> Timing:
    """Call `work` once. Where all is done in one thread, `time.process_time` is less disturbed."""
    gc.collect()
    clock = clock or default_clock
    started = clock()
    result = work()
    return Timing((clock() - started,), result)


def alternate(
    sides: Mapping[str, Callable[[], Any]], repeats: int, clock: Clock | None = None
) -> dict[str, Timing]:
    """Time all sides `repeats` times, alternately."""
    rounds = [{name: timed(work, clock) for name, work in sides.items()} for _ in range(repeats)]
    return {
        name: Timing(sum((one[name].seconds for one in rounds), ()), rounds[-1][name].result)
        for name in sides
    }


def in_own_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of a module returns in a new process, whose peak memory is its own."""
    # Not a pool of multiprocessing: its workers may not have several threads, says joblib.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def blas_threads(count: int) -> threadpool_limits:
    """Return a context in which BLAS uses `count` threads on all sides."""
    return threadpool_limits(limits=count, user_api="blas")
