"""Rows of the weighted degree kernel: nanoseconds a pair at every SIMD level, one core."""

from __future__ import annotations

from functools import partial

import numpy as np

from kernelweave import _core
from kernelweave.kernels import CompiledKernels, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import Sequences

from .report import Table
from .settings import Settings
from .strings_timing import cpu_seconds

QUICK = False
GOALS = {"baseline": 60.0, "avx2": 15.0, "avx512": 6.0}
KERNELS = {
    "degree 20": WeightedDegree(20),
    "degree 20, split": WeightedDegree(20, split="degree"),
    "degree 20, shift 3": WeightedDegreeShift(20, 3),
}
NOTE = "141 letters, random DNA. Goals for degree 20: 60 ns baseline, 15 ns AVX2, 6 ns AVX-512."


def run(settings: Settings) -> Table:
    """Time whole blocks of pairs."""
    rng = np.random.default_rng(0)
    rows, columns = 256, settings.size(8192, 512)
    X = Sequences.from_codes(rng.integers(0, 4, (columns, 141)))
    table = Table("Weighted degree rows", ("kernel", "SIMD", "ns per pair"), notes=[NOTE])
    before = _core.simd_level()
    for name, kernel in KERNELS.items():
        compiled = CompiledKernels((kernel.resolve(X),))
        a, b = compiled.training(X[:rows]).side, compiled.training(X).side
        for level in _core.simd_levels():
            _core.use_simd(level)
            work = partial(_core.evaluate, compiled.program, a, b, 1)
            seconds = cpu_seconds(work, settings.repeats)
            table.add(name, level, seconds / (rows * columns) * 1e9)
    _core.use_simd(before)
    return table
