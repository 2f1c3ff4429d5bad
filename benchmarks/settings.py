"""Options of a run of the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """Sizes and repeats of the measurements.

    Attributes
    ----------
    tiny : bool
        Small sizes that only show that a benchmark works; their numbers mean nothing.
    reduced : bool
        Sizes that suit a comparison of two versions: a table takes a minute at most.
    repeats : int
        How often each side is timed.
    peers : bool
        Whether peers that take minutes are run.
    sizes : tuple of int
        Numbers of examples, in place of those that a table has of its own; empty for these.
    jobs : int
        Threads of our fits, in tables of growing sizes.
    """

    tiny: bool = False
    reduced: bool = False
    repeats: int = 3
    peers: bool = True
    sizes: tuple[int, ...] = ()
    jobs: int = 1

    def size(self, full: T, tiny: T, reduced: T | None = None) -> T:
        """Return the size to use: `full`, or in such runs `tiny`, or `reduced` if there is one."""
        if self.tiny:
            return tiny
        return full if reduced is None or not self.reduced else reduced
