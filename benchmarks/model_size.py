"""A model file of a million support sequences: saved, loaded, and described by a report."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelweave import MKLRegressor, load, report
from kernelweave.datasets import make_splice
from kernelweave.kernels import WeightedDegree

from .report import Table
from .settings import Settings
from .timing import in_own_process

QUICK = False
COLUMNS = ("what", "wall s", "CPU s", "MB", "peak GB")
NOTE = (
    "`make_splice`, 1,000,000 sequences of 141 letters, WeightedDegree(20), squared loss, "
    "tol = 0.05, where every example is a support example. Each row is a process of its own; its "
    "time is without imports. MB is the size of the file that was written."
)


def run(settings: Settings) -> Table:
    """Fit, save, load and report, each in a new process."""
    size = settings.size(1_000_000, 2_000)
    table = Table("A model of a million support sequences", COLUMNS, notes=[NOTE])
    with TemporaryDirectory() as folder:
        path = Path(folder)
        for name, work in {"fit and save": _fit, "load": _load, "load and report": _report}.items():
            wall, cpu, peak = in_own_process(_timed, work, path, size)
            file = {"fit and save": "model.kw", "load and report": "page.html"}.get(name)
            megabytes = (path / file).stat().st_size / 1e6 if file else None
            table.add(name, wall, cpu, megabytes, peak)
    return table


def _timed(work: Callable[[Path, int], None], folder: Path, size: int) -> tuple[float, ...]:
    """Return seconds by the clock, of the processor, and the peak of memory in GB."""
    wall, cpu = time.perf_counter(), time.process_time()
    work(folder, size)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return time.perf_counter() - wall, time.process_time() - cpu, peak


def _fit(folder: Path, size: int) -> None:
    X, y = make_splice(size)
    kernel = WeightedDegree(20)
    model = MKLRegressor(kernel, loss="squared", tol=0.05, n_jobs=os.cpu_count()).fit(X, y)
    assert len(model.support_) == size
    model.save(folder / "model.kw")


def _load(folder: Path, size: int) -> None:
    assert len(load(folder / "model.kw").support_) == size


def _report(folder: Path, size: int) -> None:
    report(load(folder / "model.kw"), folder / "page.html")
