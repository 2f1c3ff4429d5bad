"""The compiled core: setup of BLAS, LAPACK and SIMD level, BLAS threads, and work counters."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import threadpoolctl
from scipy.linalg import cython_blas, cython_lapack

from .. import _core

__all__ = ["Work", "_core", "single_threaded_blas"]

_core.use_blas(cython_blas.__pyx_capi__["dgemm"])
_core.use_lapack(cython_lapack.__pyx_capi__["dgesv"])
if level := os.environ.get("KERNELWEAVE_SIMD"):
    _core.use_simd(level)


class _BlasLimit:
    """A context in which BLAS uses one thread; it may be entered by several Python threads.

    The number of BLAS threads is a setting of the process. The first thread that enters lowers it,
    and the last thread that leaves restores it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # reentrant, since a signal handler may fork inside
        self.inside: Counter[int] = Counter()  # how often each thread has entered
        self.limiter: Any = None
        # A fork waits for the lock. The child resets the counts of threads that it does not have.
        os.register_at_fork(
            before=self.lock.acquire,
            after_in_parent=self.lock.release,
            after_in_child=self._reset_in_child,
        )

    def _reset_in_child(self) -> None:
        me = threading.get_ident()
        self.inside = Counter({me: self.inside[me]})
        self._update_limit()
        self.lock.release()

    def _update_limit(self) -> None:
        wanted = self.inside.total() > 0
        if wanted and self.limiter is None:
            _take_control()
            self.limiter = _controller().limit(limits=1, user_api="blas")
        elif not wanted and self.limiter is not None:
            _take_control()
            self.limiter.restore_original_limits()
            self.limiter = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        me = threading.get_ident()
        with self.lock:
            self.inside[me] += 1
            self._update_limit()
        try:
            yield
        finally:
            with self.lock:
                self.inside[me] -= 1
                self.inside += Counter()  # drops zero counts
                self._update_limit()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def _take_control() -> None:
    """Let the present thread set the number of BLAS threads.

    threadpoolctl >= 3.8 accepts changes only from the thread that made the first one. Here a lock
    serialises the changes, so that any thread may make them.
    """
    controller: object = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)


_limit = _BlasLimit()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Return a context manager in which BLAS uses one thread, since the core has its own threads.

    Returns
    -------
    context manager
    """
    return _limit()


class Work:
    """Counters of the kernel evaluations of an engine and its subsets, by named kinds of work.

    Attributes
    ----------
    pairs : dict
        Number of pairs of examples evaluated for each kind of work.
    seconds : dict
        Seconds spent on each kind of work.
    """

    def __init__(self) -> None:
        self.pairs: defaultdict[str, int] = defaultdict(int)
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def on(self, kind: str, pairs: int) -> Iterator[None]:
        """Count the evaluations in a with block.

        Parameters
        ----------
        kind : str
            Name under which they are counted, such as "blocks".
        pairs : int
            Number of pairs of examples that are evaluated.
        """
        started = time.perf_counter()
        yield
        self.pairs[kind] += pairs
        self.seconds[kind] += time.perf_counter() - started

    def clear(self) -> None:
        """Reset all counters."""
        self.pairs.clear()
        self.seconds.clear()

    def __str__(self) -> str:
        counts = self.pairs.items()
        return "; ".join(f"{of} {n:.3g} pairs in {self.seconds[of]:.3g} s" for of, n in counts)
