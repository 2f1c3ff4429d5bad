"""Sums of rows and sums through a weight store: where each wins, one core."""

from __future__ import annotations

import numpy as np

from kernelweave.core import _core
from kernelweave.kernels import CompiledKernels, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings
from .strings_timing import cpu_seconds

QUICK = False
COUNTS = (3, 10, 30, 100, 300, 1000, 3000)
COLUMNS = ("kernel", "examples summed up", "rows ms", "store ms", "chosen ms")
NOTE = (
    "Outputs of 20,000 sequences of 141 letters after some examples have changed. `chosen` is what "
    "the cost model of the core takes."
)


def run(settings: Settings) -> Table:
    """Time both ways for growing numbers of examples."""
    rng = np.random.default_rng(0)
    n = settings.size(20_000, 500)
    X = Sequences.from_codes(rng.integers(0, 4, (n, 141)))
    table = Table("Rows or a store", COLUMNS, notes=[NOTE])
    for kernel in (WeightedDegree(20), WeightedDegreeShift(20, 3)):
        compiled = CompiledKernels((kernel.resolve(X),))
        engine = _core.Engine(compiled.program, compiled.training(X).side, 0, 1)
        for count in settings.size(COUNTS, (3, 30)):
            idx = np.sort(rng.choice(n, count, replace=False))
            seconds = [add_seconds(engine, idx, policy, settings.repeats) for policy in POLICIES]
            table.add(compiled.names[0], count, *(1e3 * second for second in seconds))
    _core.use_store("auto")
    return table


POLICIES = ("never", "always", "auto")


def add_seconds(engine: _core.Engine, idx: np.ndarray, policy: str, repeats: int) -> float:
    """Return how long it takes to sum up the examples idx."""
    _core.use_store(policy)
    return cpu_seconds(lambda: engine.add(idx, np.ones(len(idx))), repeats)
