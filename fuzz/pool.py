"""A worker process that runs inputs under limits, and is replaced when it dies or hangs."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from .verdicts import Verdict, judged

SECONDS = 60.0  # of CPU time; longer is a hang
WAITING = 600.0  # seconds without an answer and without CPU time; longer is a hang
MEMORY = 3 << 30  # bytes of address space on top of what the process starts with
LIFE = 5000  # inputs after which a worker is replaced, so that leaks cannot hide behind its limit


class Worker:
    """Runs inputs of one target in a child process.

    Attributes
    ----------
    seconds : float
        CPU time of the last input.
    """

    def __init__(self, run: Callable[[bytes], None]):
        self.run, self.seconds = run, 0.0
        self._start()

    def judge(self, data: bytes) -> Verdict:
        """Run an input and return its verdict."""
        if self._left == 0:
            self.close()
            self._start()
        self._left -= 1
        try:
            self._pipe.send_bytes(data)
            before = last = self.cpu_seconds
            end = time.monotonic() + WAITING
            while not self._pipe.poll(1.0):
                used = self.cpu_seconds
                if used - before > SECONDS:
                    return self._dead(Verdict("hang", f"no answer after {SECONDS:g} s of CPU time"))
                if used > last:  # on a busy machine a process may wait for minutes
                    last, end = used, time.monotonic() + WAITING
                if time.monotonic() > end:
                    return self._dead(Verdict("hang", f"no CPU time for {WAITING:g} s"))
            self.seconds = self.cpu_seconds - before
            return self._pipe.recv()
        except (EOFError, OSError):
            self._child.join()
            return self._dead(Verdict("crash", _ending(self._child.exitcode)))

    @property
    def cpu_seconds(self) -> float:
        """CPU time that the child process has used."""
        with open(f"/proc/{self._child.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the worker."""
        self._child.kill()
        self._child.join()
        self._pipe.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(target=_serve, args=(self.run, theirs), daemon=True)
        self._child.start()
        theirs.close()
        self._left = LIFE

    def _dead(self, verdict: Verdict) -> Verdict:
        self.seconds = SECONDS
        self.close()
        self._start()
        return verdict


def _serve(run: Callable[[bytes], None], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            data = pipe.recv_bytes()
        except EOFError:
            os._exit(0)
        pipe.send(judged(run, data))


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit status {code}"
