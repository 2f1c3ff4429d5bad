"""Views that are absent for some examples.

A kernel has nothing to say of an example whose columns are all missing. Such an example is taken at
the mean of the present training examples in the feature space of the kernel, phi(absent) = mean_i
phi(x_i), so that

    k(absent, x) = mean_i k(x_i, x)   and   k(absent, absent) = mean_ij k(x_i, x_j).

These are inner products like all others: kernel matrices stay positive semidefinite, and a duality
gap certifies what it always does. The example is moved towards no other one, and what the kernel
adds to its decision value is what it adds on average.

Kernels are normalised on the examples that are present. A sum or product of kernels is absent where
one of its parts is; the members of a list of kernels are on their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelweave.kernels.algebra import Named
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.examples import PartOfReading, Reading
from kernelweave.kernels.means import FromMean
from kernelweave.kernels.per_feature import Stack
from kernelweave.kernels.program import CompiledKernels
from kernelweave.stored import stored
from kernelweave.views import Views


@stored("Absent")
@dataclass(frozen=True)
class Absent(FromMean):
    """Each member with absent examples at the mean of the present training examples."""

    instruction = "absent"

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return the mean of k(x, reference examples), shape (M, n); NaN for absent examples."""
        if self in reading.slots:
            return reading.slots[self]
        means = super().slot_vectors(reading)
        absent = absent_of_one(self.kernel, reading)
        if absent is not None:
            means[:, absent] = np.nan
        return means


def at_mean(kernel: Kernel, present: PartOfReading) -> Kernel:
    """Return a kernel with absent examples at the mean of the present training examples."""
    filled = kernel.filled(present)
    if filled is not None:
        return filled
    absent = Absent.of(kernel, present)
    vectors = np.full((kernel.n_kernels, present.whole.n), np.nan)
    vectors[:, present.rows] = kernel.row_means(present)
    present.whole.slots[absent] = vectors
    return absent


def absent_of_one(kernel: Kernel, reading: Reading) -> np.ndarray | None:
    """Return for which examples some view of a kernel is absent, (n,); None where for none."""
    if reading.is_complete:
        return None
    views = dict.fromkeys(view for _, view in CompiledKernels((kernel,)).listing.layout.sources)
    found = [absent for view in views if (absent := reading.absent(view)) is not None]
    return np.logical_or.reduce(found) if found else None


def absent_of_members(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return for which examples each member of a kernel is absent, shape (M, n)."""
    if isinstance(kernel, Stack):
        return np.concatenate([absent_of_members(part, reading) for part in kernel.kernels])
    if isinstance(kernel, Named):
        return absent_of_members(kernel.kernel, reading)
    absent = absent_of_one(kernel, reading)
    row = np.zeros(reading.n, dtype=bool) if absent is None else absent
    return np.repeat(row[None], kernel.n_kernels, axis=0)


def absent_of_all(compiled: CompiledKernels, reading: Reading) -> np.ndarray | None:
    """Return for which examples each of M kernels is absent, shape (M, n); None where none are.

    Raises
    ------
    ValueError : where all of them are absent for an example of one table; of `Views`, which may be
        more than these kernels read, it is taken at the mean in all of them.
    """
    views = dict.fromkeys(view for _, view in compiled.listing.layout.sources)
    missing = [reading.missing(view) for view in views]
    if all(one is None for one in missing):
        return None
    nowhere = np.flatnonzero(np.all([one for one in missing if one is not None], axis=0))
    known = isinstance(reading.X, Views) or any(one is None for one in missing)
    if len(nowhere) and not known:
        raise ValueError(
            f"Input X contains NaN in all that the kernels read of example {nowhere[0]}: an "
            "example must be present in one view at least"
        )
    return np.concatenate([absent_of_members(one, reading) for one in compiled.kernels])


def completed(kernel: Kernel, training: Reading, new: Reading) -> Kernel:
    """Return a resolved kernel that has values for absent examples too, if there are any."""
    if isinstance(kernel, Absent):
        return kernel
    if isinstance(kernel, Stack):
        parts = tuple(completed(part, training, new) for part in kernel.kernels)
        return replace(kernel, kernels=parts)
    if isinstance(kernel, Named):
        return replace(kernel, kernel=completed(kernel.kernel, training, new))
    absent = absent_of_one(kernel, training)
    if absent is None and absent_of_one(kernel, new) is None:
        return kernel
    rows = np.arange(training.n) if absent is None else np.flatnonzero(~absent)
    return at_mean(kernel, training.part(rows))
