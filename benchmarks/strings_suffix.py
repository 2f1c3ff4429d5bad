"""Suffix arrays of growing texts: time to build and to look up, and memory, one core."""

from __future__ import annotations

import time

import numpy as np

from kernelweave.kernels import Spectrum
from kernelweave.sequences import Sequences
from kernelweave.sequences.alphabets import as_alphabet
from kernelweave.sequences.weight_stores import WeightStore

from .report import Table
from .settings import Settings

QUICK = False
ORDER, LENGTH, NEW = 64, 1000, 200
CASES = (
    (10**6, "dna"),
    (10**6, "protein"),
    (10**6, "bytes"),
    (10**7, "dna"),
    (10**7, "protein"),
    (10**7, "bytes"),
    (10**8, "dna"),
)
NOTE = (
    f"Random sequences of {LENGTH:,} letters, words of {ORDER} letters, which are all different: "
    "the worst case for memory. Known: sequences of the store; new: other random ones."
)


def run(settings: Settings) -> Table:
    """Build stores of growing texts, and look up sequences."""
    columns = ("letters", "alphabet", "CPU s to build", "GB", "ns a known letter", "ns a new one")
    table = Table("Suffix arrays", columns, notes=[NOTE])
    for letters, alphabet in settings.size(CASES, ((10**4, "dna"),), CASES[:4]):
        table.add(letters, alphabet, *measured(letters, alphabet))
    return table


def measured(letters: int, alphabet: str) -> tuple[float, ...]:
    """Return CPU seconds, gigabytes, and nanoseconds for each letter looked up."""
    rng, size = np.random.default_rng(0), len(as_alphabet(alphabet).letters)
    X = Sequences.from_codes(
        rng.integers(0, size, (letters // LENGTH, LENGTH), dtype=np.uint8), alphabet=alphabet
    )
    new = Sequences.from_codes(rng.integers(0, size, (NEW, LENGTH)), alphabet=alphabet)
    store = WeightStore(Spectrum(ORDER, alphabet=alphabet, store="suffix"))
    started = time.process_time()
    store.add(X, np.ones(X.n))
    store.lookup(X[:1])
    seconds = time.process_time() - started
    return seconds, store.nbytes / 1e9, nanoseconds(store, X[:NEW]), nanoseconds(store, new)


def nanoseconds(store: WeightStore, X: Sequences) -> float:
    """Return CPU time for each letter looked up."""
    started = time.process_time()
    store.lookup(X)
    return (time.process_time() - started) * 1e9 / float(X.lengths.sum())
