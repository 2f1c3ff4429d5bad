"""Counts of what engines evaluate."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Work:
    """What an engine and its subsets have evaluated so far.

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
