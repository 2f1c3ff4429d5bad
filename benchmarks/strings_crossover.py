"""Sums of rows, row by row and through weight stores: the faster one by size, one core."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelweave import _core
from kernelweave.kernels import CompiledKernels, Spectrum, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings
from .strings_timing import cpu_seconds

QUICK = False
COUNTS = (3, 10, 30, 100, 300, 1000, 3000)
LENGTH = 141
KERNELS = (WeightedDegree(20), WeightedDegreeShift(20, 3), Spectrum(8))
NOTE = (
    "Outputs of 20,000 sequences of 141 letters after some examples have changed. `chosen` is what "
    "the cost model of the core takes."
)


def sequences(n: int) -> Sequences:
    """Return random DNA."""
    return Sequences.from_codes(np.random.default_rng(0).integers(0, 4, (n, LENGTH)))


def run(settings: Settings) -> Table:
    """Time both ways for growing numbers of examples."""
    columns = ("kernel", "examples summed up", "rows ms", "store ms", "chosen ms")
    table = Table("Rows or a store", columns, notes=[NOTE])
    rng = np.random.default_rng(1)
    X = sequences(settings.size(20_000, 500))
    for kernel in KERNELS:
        store = "table" if isinstance(kernel, Spectrum) else "trie"
        engines = [engine(replace(kernel, store=how), X) for how in ("rows", store, "auto")]
        for count in settings.size(COUNTS, (3, 30)):
            idx = np.sort(rng.choice(X.n, count, replace=False))
            seconds = [add_seconds(each, idx, settings.repeats) for each in engines]
            table.add(kernel.resolve(X).names[0], count, *(1e3 * second for second in seconds))
    return table


def engine(kernel: Any, X: Sequences) -> _core.Engine:
    """Return an engine without a cache."""
    compiled = CompiledKernels((kernel.resolve(X),))
    return _core.Engine(compiled.program, compiled.training(X).side, 0, 1)


def add_seconds(engine: _core.Engine, idx: np.ndarray, repeats: int) -> float:
    """Return the CPU seconds to sum up the examples idx."""
    return cpu_seconds(lambda: engine.add(idx, np.ones(len(idx))), repeats)
