"""What a user sees while a solver runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from .training.history import Progress

SECONDS_BETWEEN = 1.0  # of lines in a log


@contextmanager
def live_line(title: str, tol: float) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows the latest progress on one live line, and about the time left.

    Off a terminal it prints plain lines instead, at most one a second.
    """
    from rich.console import Console
    from rich.status import Status

    console, turns, printed = Console(stderr=True), 0, -np.inf
    seen: list[tuple[float, float]] = []

    def line(progress: Progress) -> str:
        nonlocal turns
        turns += 1
        if seen and progress.seconds < seen[-1][0]:  # another output, with a clock of its own
            seen.clear()
        seen.append((progress.seconds, progress.gap))
        return (
            f"{title}: turn {turns}, {progress.seconds:.1f} s, {progress.phase}, "
            f"objective {progress.primal:.6g}, duality gap {progress.gap:.2e}{_left(seen, tol)}"
        )

    def write(progress: Progress) -> None:
        nonlocal printed
        text = line(progress)
        if time.monotonic() - printed >= SECONDS_BETWEEN:
            print(text, file=sys.stderr, flush=True)
            printed = time.monotonic()

    if not console.is_terminal:
        yield write
        return
    with Status(f"{title}: reading the data and normalising kernels", console=console) as status:
        yield lambda progress: status.update(line(progress))


def _left(seen: list[tuple[float, float]], tol: float) -> str:
    """Return about how long a gap takes to reach tol, as text.

    It is taken to fall by the same factor each second as in the later half of what was seen.
    """
    (before, first), (now, gap) = seen[len(seen) // 2], seen[-1]
    if not 0 < tol < gap < first:
        return ""
    seconds = (now - before) * np.log(gap / tol) / np.log(first / gap)
    return f", about {seconds:.0f} s left"


@contextmanager
def progress_bar(title: str, total: int, verbose: int) -> Iterator[Callable[[], None]]:
    """Give a function that counts one of `total` tasks as done and shows the time left."""
    if not verbose:
        yield lambda: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def counter(title: str, *, verbose: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that adds to a number shown with its rate per second."""
    if not verbose:
        yield lambda more: None
        return
    from rich.console import Console
    from rich.status import Status

    total, started = 0, time.perf_counter()
    with Status(title, console=Console(stderr=True)) as status:

        def show(more: int) -> None:
            nonlocal total
            total += more
            rate = total / max(time.perf_counter() - started, 1e-9)
            status.update(f"{total:,} {title}, {rate:,.0f} per second")

        yield show
