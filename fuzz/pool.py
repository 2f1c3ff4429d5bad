"""A worker process that runs inputs under limits, and is replaced when it dies or hangs."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from .verdicts import Verdict, judged

SECONDS = 60.0  # of CPU time; longer is a hang
WAITING = 600.0  # seconds without an answer and without CPU time; longer is a hang
MEMORY = 3 << 30  # bytes of address space on top of what the process starts with
LIFE = 5000  # inputs after which a worker is replaced, so that leaks cannot hide behind its limit


class Worker:
    """Runs inputs of one target in a child process."""

    def __init__(self, run: Callable[[bytes], None]):
        self.run = run
        self._start()

    def judge(self, inputs: list[bytes]) -> Iterator[tuple[Verdict, float]]:
        """Run inputs in order, and give the verdict and the CPU seconds of each.

        All inputs are sent at once: on a busy machine, waiting for one answer after the other
        takes longer than most inputs. After a crash or a hang a new child runs the rest.
        """
        left = list(inputs)
        while left:
            if self._answered >= LIFE:
                self.close()
                self._start()
            try:
                self._pipe.send(left)
                while left:
                    answer = self._answer()
                    left.pop(0)
                    self._answered += 1
                    yield answer
            except TimeoutError as error:
                left.pop(0)
                yield Verdict("hang", str(error)), SECONDS
            except (EOFError, OSError):
                self._child.join()
                left.pop(0)
                yield Verdict("crash", _ending(self._child.exitcode)), SECONDS
            else:
                continue
            self.close()
            self._start()

    def _answer(self) -> tuple[Verdict, float]:
        """Return the next answer of the child, or raise a TimeoutError if it hangs."""
        before = last = self.cpu_seconds
        end = time.monotonic() + WAITING
        while not self._pipe.poll(1.0):
            used = self.cpu_seconds
            if used - before > SECONDS:
                os.kill(self._child.pid, signal.SIGUSR1)  # it prints where it is
                time.sleep(1.0)
                raise TimeoutError(f"no answer after {SECONDS:g} s of CPU time")
            if used > last:  # on a busy machine a process may wait for minutes
                last, end = used, time.monotonic() + WAITING
            if time.monotonic() > end:
                raise TimeoutError(f"no CPU time for {WAITING:g} s")
        return self._pipe.recv()

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
        ends = (theirs, self._pipe)
        self._child = context.Process(target=_serve, args=(self.run, *ends), daemon=True)
        self._child.start()
        theirs.close()
        self._answered = 0


def _serve(run: Callable[[bytes], None], pipe: Connection, parents: Connection) -> None:
    parents.close()  # else the worker would not notice that its parent was killed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1)
    limit = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            for data in pipe.recv():
                before = time.process_time()
                verdict = judged(run, data)
                pipe.send((verdict, time.process_time() - before))
        except (EOFError, OSError):  # the parent has ended
            os._exit(0)


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit status {code}"
