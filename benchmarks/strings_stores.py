"""The stores of spectrum kernels: time and memory by k, one core."""

from __future__ import annotations

import numpy as np

from kernelweave.kernels import Spectrum
from kernelweave.sequences import Sequences
from kernelweave.sequences.weight_stores import WeightStore

from .report import Table
from .settings import Settings
from .strings_crossover import sequences
from .strings_timing import cpu_seconds

QUICK = False
LENGTHS = (2, 4, 6, 8, 10, 12, 16, 20, 31)
KINDS = ("table", "sorted", "hash", "suffix")
MOST_PLACES = 4**12  # a table of 134 MB
NOTE = (
    "1,000 sequences of 141 letters are added, 20,000 others looked up: microseconds for each "
    "sequence added (clearing included) and looked up, and bytes. The `*` is what store='auto' "
    "takes."
)


def run(settings: Settings) -> Table:
    """Time all stores for growing k."""
    columns = ("k", "store", "us per sequence added", "us per look-up", "MB")
    table = Table("Stores of k-mers", columns, notes=[NOTE])
    added, new = sequences(settings.size(1000, 50)), sequences(settings.size(20_000, 500))
    for k in settings.size(LENGTHS, (3, 12)):
        chosen = filled(WeightStore(Spectrum(k)), added).kind
        for kind in KINDS:
            if kind != "table" or 4**k <= MOST_PLACES:
                name = kind + (" *" if kind == chosen else "")
                table.add(k, name, *measured(Spectrum(k, store=kind), added, new, settings.repeats))
    return table


def filled(store: WeightStore, X: Sequences) -> WeightStore:
    """Add sequences to an empty store, up to the point at which it can be looked up."""
    store.clear()
    store.add(X, np.ones(X.n))
    store.lookup(X[:1])
    return store


def measured(kernel: Spectrum, X: Sequences, new: Sequences, repeats: int) -> tuple[float, ...]:
    """Return microseconds per sequence added and looked up, and megabytes."""
    store = filled(WeightStore(kernel), X)
    adding = cpu_seconds(lambda: filled(store, X), repeats)
    looking = cpu_seconds(lambda: store.lookup(new), repeats)
    return 1e6 * adding / X.n, 1e6 * looking / new.n, store.nbytes / 1e6
