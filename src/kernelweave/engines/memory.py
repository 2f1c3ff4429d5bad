"""Memory of outputs, and free memory of this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

LITTLE = 2**20  # bytes below which free memory is not checked; a check takes as long as a small fit
# For each version of Linux control groups: the files with the memory limit and the memory in use,
# and the field of memory.stat with the page cache that can be reclaimed.
CONTROLS = {
    "v2": ("memory.max", "memory.current", "inactive_file"),
    "v1": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def check_memory(M: int, n: int) -> None:
    """Raise ValueError if the outputs of M kernels on n examples exceed the free memory."""
    needed = 8 * M * n
    if needed > LITTLE and needed > (free := free_memory()):
        raise ValueError(
            f"{M:,} kernels on {n:,} examples need {needed / 2**30:.1f} GB for their outputs, but "
            f"{free / 2**30:.1f} GB are free; use fewer kernels or examples, or for p = 1 "
            "solver='auto', which caches the outputs of some kernels at a time"
        )


def free_memory(root: Path = Path("/")) -> float:
    """Return the memory that this process can still allocate, in bytes.

    This is the available memory of the computer, or less if a control group (a container, a batch
    job) has a lower limit.

    Parameters
    ----------
    root : Path
        The directory that contains ``proc`` and ``sys``.

    Returns
    -------
    float
        Infinite if the operating system does not report it.
    """
    left = [_left_in(folder, version) for folder, version in _control_groups(root)]
    return min([_left_on_machine(root), *left])


def _left_on_machine(root: Path) -> float:
    sizes = _numbers(root / "proc/meminfo")
    return 1024.0 * sizes.get("MemAvailable:", np.inf)


def _control_groups(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the directories of the control groups of this process and of their parents."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            top, version = root / "sys/fs/cgroup", "v2"
        elif "memory" in controllers.split(","):
            top, version = root / "sys/fs/cgroup/memory", "v1"
        else:
            continue
        inner = Path(path.lstrip("/"))
        for part in (inner, *inner.parents):  # a container may see its own group as the top
            yield top / part, version


def _left_in(folder: Path, version: str) -> float:
    most, used, files = CONTROLS[version]
    limit, usage = _text(folder / most).strip(), _text(folder / used).strip()
    if not (limit.isdecimal() and usage.isdecimal()):  # no such group, or "max"
        return np.inf
    idle = _numbers(folder / "memory.stat").get(files, 0.0)
    return max(0.0, float(limit) - (float(usage) - idle))


def _numbers(path: Path) -> dict[str, float]:
    """Return the numbers in a file with lines of the form "name number ..."."""
    fields = [line.split() for line in _text(path).splitlines()]
    return {line[0]: float(line[1]) for line in fields if len(line) > 1 and line[1].isdecimal()}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
