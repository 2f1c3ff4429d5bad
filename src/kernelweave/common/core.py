"""The compiled core, made ready: BLAS handed over, SIMD level chosen; and its work, counted."""

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
    """BLAS on one thread, as long as some thread of Python asks for it.

    The number of threads belongs to the whole process: it is lowered for the first that asks, and
    put back after the last one.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal may fork inside
        self.inside: Counter[int] = Counter()  # how often each thread has asked
        self.limiter: Any = None
        # A fork waits for the lock, and the child forgets the threads that it does not have.
        os.register_at_fork(
            before=self.lock.acquire, after_in_parent=self.lock.release, after_in_child=self._start
        )

    def _start(self) -> None:
        me = threading.get_ident()
        self.inside = Counter({me: self.inside[me]})
        self._settle()
        self.lock.release()

    def _settle(self) -> None:
        wanted = self.inside.total() > 0
        if wanted and self.limiter is None:
            _let_this_thread_decide()
            self.limiter = _controller().limit(limits=1, user_api="blas")
        elif not wanted and self.limiter is not None:
            _let_this_thread_decide()
            self.limiter.restore_original_limits()
            self.limiter = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        me = threading.get_ident()
        with self.lock:
            self.inside[me] += 1
            self._settle()
        try:
            yield
        finally:
            with self.lock:
                self.inside[me] -= 1
                self.inside += Counter()  # forgets those that are outside
                self._settle()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def _let_this_thread_decide() -> None:
    """Let the present thread set the number of threads of BLAS.

    From version 3.8 on threadpoolctl listens to the thread that was the first to set it, and
    ignores all others. Here a lock sees to it that they do not get in each other's way.
    """
    controller: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)


_limit = _BlasLimit()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Return a context in which BLAS uses one thread: the core brings its own threads."""
    return _limit()


class Work:
    """What an engine and its subsets have evaluated in the core so far, by what it was for.

    Attributes
    ----------
    pairs, seconds : dicts from a kind of work to the pairs of examples, and the time, that it took.
    """

    def __init__(self) -> None:
        self.pairs: defaultdict[str, int] = defaultdict(int)
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def on(self, kind: str, pairs: int) -> Iterator[None]:
        """Count what is done inside."""
        started = time.perf_counter()
        yield
        self.pairs[kind] += pairs
        self.seconds[kind] += time.perf_counter() - started

    def clear(self) -> None:
        """Begin anew."""
        self.pairs.clear()
        self.seconds.clear()

    def __str__(self) -> str:
        counts = self.pairs.items()
        return "; ".join(f"{of} {n:.3g} pairs in {self.seconds[of]:.3g} s" for of, n in counts)
