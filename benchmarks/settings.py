"""What a run of the benchmarks is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """How large and how often.

    Attributes
    ----------
    tiny : bool
        Small sizes that only show that a benchmark works; their numbers mean nothing.
    repeats : int
        How often each side is timed.
    peers : bool
        Whether peers that take minutes are run.
    """

    tiny: bool = False
    repeats: int = 3
    peers: bool = True

    def size(self, full: T, tiny: T) -> T:
        """Return the size to use: `full`, or `tiny` in a tiny run."""
        return tiny if self.tiny else full
