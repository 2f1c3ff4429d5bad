"""Progress lines and bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .log import Progress, Watch

SECONDS_BETWEEN = 1.0  # between two lines if the output is not a terminal


@contextmanager
def live_line(title: str, more: Callable[[Progress], str] = lambda progress: "") -> Iterator[Watch]:
    """Yield a function that displays the latest progress on one live line.

    If the output is not a terminal, it prints at most one line per second.

    Parameters
    ----------
    title : str
        Start of the line.
    more : callable
        Returns the end of the line.
    """
    from rich.console import Console
    from rich.status import Status

    console, iterations, printed = Console(stderr=True), -1, time.monotonic()

    def line(progress: Progress) -> str:
        nonlocal iterations
        iterations += 1  # the first model is the start of the fit, iteration 0
        return (
            f"{title}: iteration {iterations}, {progress.seconds:.1f} s, {progress.phase}, "
            f"objective {progress.primal:.6g}, duality gap {progress.gap:.2e}{more(progress)}"
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


@contextmanager
def progress_bar(title: str, total: int, verbose: int) -> Iterator[Callable[[], None]]:
    """Yield a function that counts one of `total` tasks as done and displays the time left."""
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
    """Yield a function that adds to a count; the count and its rate per second are displayed."""
    if not verbose:
        yield lambda more: None
        return
    from rich.console import Console
    from rich.status import Status

    total, started = 0, time.perf_counter()
    with Status(title, console=Console(stderr=True)) as status:

        def add(more: int) -> None:
            nonlocal total
            total += more
            rate = total / max(time.perf_counter() - started, 1e-9)
            status.update(f"{total:,} {title}, {rate:,.0f} per second")

        yield add
