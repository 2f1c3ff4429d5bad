"""How much memory outputs take, and how much there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def check_memory(M: int, n: int) -> None:
    """Raise a readable error where the outputs of M kernels on n examples exceed free memory."""
    needed, free = 8 * M * n, free_memory()
    if needed > free:
        raise ValueError(
            f"{M:,} kernels on {n:,} examples need {needed / 2**30:.1f} GB for their outputs, but "
            f"{free / 2**30:.1f} GB are free; use fewer kernels or examples, or for p = 1 "
            "solver='skm' or 'mwu', which keep the outputs of some kernels at a time"
        )


def free_memory() -> float:
    """Return the bytes that programs can still have; infinity where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return np.inf
    sizes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * float(sizes[0]) if sizes else np.inf
