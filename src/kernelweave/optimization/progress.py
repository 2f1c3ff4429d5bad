"""What a user sees while a solver runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from .log import Progress

Watch = Callable[[Progress], None]

SECONDS_BETWEEN = 1.0  # of lines in a log


@contextmanager
def live_line(title: str, more: Callable[[Progress], str] = lambda progress: "") -> Iterator[Watch]:
    """Give a function that shows the latest progress on one live line.

    Off a terminal it prints plain lines instead, at most one a second. `more` is what the line ends
    with.
    """
    from rich.console import Console
    from rich.status import Status

    console, turns, printed = Console(stderr=True), -1, -np.inf

    def line(progress: Progress) -> str:
        nonlocal turns
        turns += 1  # the first model is where a fit starts
        return (
            f"{title}: turn {turns}, {progress.seconds:.1f} s, {progress.phase}, "
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
