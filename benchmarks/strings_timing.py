"""CPU seconds of one thread, which other load changes little."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def cpu_seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the fewest CPU seconds that `work` took."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best
