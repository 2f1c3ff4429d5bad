"""What a user sees while a solver runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .problem import Progress


@contextmanager
def live_line(title: str) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows the latest progress on one live line."""
    from rich.console import Console
    from rich.status import Status

    turns = 0
    with Status(title, console=Console(stderr=True)) as status:

        def show(progress: Progress) -> None:
            nonlocal turns
            turns += 1
            status.update(
                f"{title}: turn {turns}, {progress.seconds:.1f} s, "
                f"objective {progress.primal:.6g}, duality gap {progress.gap:.2e}"
            )

        yield show


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
