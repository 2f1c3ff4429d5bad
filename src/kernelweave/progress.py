"""What a user sees while a solver runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .problem import Progress


@contextmanager
def live_line(title: str, verbose: int) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows the latest progress on one live line; silent unless verbose.

    From verbose = 2 on every state has a line that stays.
    """
    if not verbose:
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.status import Status

    turns = 0
    with Status(title, console=Console(stderr=True)) as status:

        def show(progress: Progress) -> None:
            nonlocal turns
            turns += 1
            line = (
                f"{title}: turn {turns}, {progress.seconds:.1f} s, {progress.phase}, "
                f"objective {progress.primal:.6g}, duality gap {progress.gap:.2e}"
            )
            status.update(line)
            if verbose > 1:
                status.console.print(line)

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
