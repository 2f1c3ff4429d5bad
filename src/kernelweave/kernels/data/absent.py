"""Views that are absent for some examples.

A kernel has nothing to say of an example whose columns are all missing. Such an example is taken at
the mean of the present training examples in the feature space of the kernel, phi(absent) = mean_i
phi(x_i), so that

    k(absent, x) = mean_i k(x_i, x)   and   k(absent, absent) = mean_ij k(x_i, x_j).

These are inner products like all others: kernel matrices stay positive semidefinite, and a duality
gap certifies what it always does. This is what a kernel by itself gives (`at_mean`).

Kernels that are learned with are centred, too, so that an absent one adds nothing to the decision
value. And the others make up for it (`extrapolated`): where an example has a part r of the views,
its features are multiplied by 1 / r, and what is there stands for what is not. Otherwise decisions
would be drawn towards the intercept, the more, the less is known of an example. One class is told
from the origin, where centred kernels have its mean: there absent examples are at the mean only.

Kernels are normalised on the examples that are present. A sum or product of kernels is absent where
one of its parts is; the members of a list of kernels are on their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernelweave.kernels.base import Kernel, Wrapper
from kernelweave.kernels.compile.examples import PartOfReading, Reading, columns_of
from kernelweave.kernels.compile.normalized_kernels import Centered, FromMean
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import Named
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.data.views import Views
from kernelweave.model.files.registry import stored


@stored("Absent")
@dataclass(frozen=True)
class Absent(FromMean):
    """Each member with absent examples at the mean of the present training examples."""

    instruction = "absent"

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return the mean of k(x, reference examples), shape (M, n); NaN for absent examples."""
        means = super().slot_vectors(reading)
        absent = absent_of_one(self.kernel, reading)
        return means if absent is None else np.where(absent, np.nan, means)


@stored("Presence")
@dataclass(frozen=True)
class Presence:
    """What part of all views an example has. Views count the same, and so do kernels of a view.

    Attributes
    ----------
    parts : a share of all views, and the columns whose kernels make it up, (share, columns).
    """

    parts: tuple[tuple[float, tuple[Columns, ...]], ...]

    @classmethod
    def of(cls, compiled: CompiledKernels) -> Presence:
        """Return that of all views that kernels stand for."""
        parts: Counter[tuple[Columns, ...]] = Counter()
        shares = iter(shares_of_views(compiled.views).tolist())
        for kernel in compiled.kernels:
            for one in singles(kernel):
                parts[columns_read(one)] += sum(next(shares) for _ in range(one.n_kernels))
        return cls(tuple((share, columns) for columns, share in parts.items()))

    @property
    def most(self) -> float:
        """The largest factor that there can be."""
        return 1.0 / min(share for share, _ in self.parts)

    def factors(self, reading: Reading) -> np.ndarray:
        """Return 1 over the part that each example has, shape (n,); 0 where it has none."""
        there = np.zeros(reading.n)
        for share, columns in self.parts:
            absent = absent_in(columns, reading)
            there += share if absent is None else np.where(absent, 0.0, share)
        return extrapolation(there)


@stored("Extrapolated")
@dataclass(frozen=True)
class Extrapolated(Wrapper):
    """Each member 0 for absent examples, and larger where other views are absent.

    Attributes
    ----------
    kernel : centred on the present training examples, absent ones being anywhere.
    presence : what part of all views of a model an example has.
    """

    presence: Presence

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), strict=True)
        most = self.presence.most
        return [(*expression, ("multiply", slot, most)) for expression, slot in pairs]

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return what the features of n examples are multiplied by, shape (M, n)."""
        if self.presence not in reading.slots:  # which is that of all kernels of a model
            reading.slots[self.presence] = self.presence.factors(reading)
        absent = absent_of_members(self.kernel, reading)
        return np.where(absent, 0.0, reading.slots[self.presence])


def shares_of_views(views: tuple[str, ...]) -> np.ndarray:
    """Return the share of each kernel in all views, given the names of these, shape (M,)."""
    members = Counter(views)
    return np.array([1.0 / (len(members) * members[view]) for view in views])


def extrapolation(there: np.ndarray) -> np.ndarray:
    """Return by how much features grow of which some parts are there, shape (n,)."""
    factors: np.ndarray = np.divide(1.0, there, out=np.zeros_like(there), where=there > 0)
    return factors


def extrapolated(compiled: CompiledKernels, training: Reading) -> CompiledKernels:
    """Return kernels of which some are absent for some training examples, ready to learn with.

    They are one family: what they know of all views is there once, in memory and in files.
    """

    def moved(one: Kernel) -> Kernel:
        present = present_part(one, training)
        centred = one.centred(present)
        return _from_mean(Centered, one, present) if centred is None else centred

    centred = tuple(with_each_single(kernel, moved) for kernel in compiled.kernels)
    family = centred[0] if len(centred) == 1 else Stack(centred)
    return CompiledKernels((Extrapolated(family, Presence.of(compiled)),))


def each_kernel(compiled: CompiledKernels) -> Iterator[Kernel]:
    """Give kernels as they were listed, those of `extrapolated` one by one."""
    for kernel in compiled.kernels:
        if isinstance(kernel, Extrapolated) and isinstance(kernel.kernel, Stack):
            yield from (replace(kernel, kernel=part) for part in kernel.kernel.kernels)
        else:
            yield kernel


def all_at_mean(compiled: CompiledKernels, training: Reading) -> CompiledKernels:
    """Return kernels with absent examples at the mean of the present ones, not centred."""
    return CompiledKernels(tuple(completed(one, training, training) for one in compiled.kernels))


def is_extrapolated(compiled: CompiledKernels) -> bool:
    """Return whether kernels know what to do with absent views."""
    return any(isinstance(kernel, Extrapolated) for kernel in compiled.kernels)


def is_at_mean(compiled: CompiledKernels) -> bool:
    """Return whether some kernel has absent examples at the mean."""
    each = (one for kernel in compiled.kernels for one in singles(kernel))
    return any(isinstance(one, Absent) for one in each)


def at_mean(kernel: Kernel, present: PartOfReading) -> Kernel:
    """Return a kernel with absent examples at the mean of the present training examples."""
    filled = kernel.filled(present)
    return _from_mean(Absent, kernel, present) if filled is None else filled


def _from_mean(kind: type[FromMean], kernel: Kernel, present: PartOfReading) -> FromMean:
    """Return a kernel with the mean of its present examples, whose vectors are known now."""
    found = kind.of(kernel, present)
    vectors = np.zeros((kernel.n_kernels, present.whole.n))
    vectors[:, present.rows] = kernel.row_means(present)
    present.whole.slots[found] = vectors
    return found


def present_part(kernel: Kernel, training: Reading) -> PartOfReading:
    """Return the training examples for which a kernel is not absent."""
    absent = absent_of_one(kernel, training)
    return training.part(np.arange(training.n) if absent is None else np.flatnonzero(~absent))


def singles(kernel: Kernel) -> Iterator[Kernel]:
    """Give the kernels that one consists of whose members are absent together."""
    if isinstance(kernel, Stack):
        for part in kernel.kernels:
            yield from singles(part)
    elif isinstance(kernel, Named | Extrapolated):
        yield from singles(kernel.kernel)
    else:
        yield kernel


def with_each_single(kernel: Kernel, change: Callable[[Kernel], Kernel]) -> Kernel:
    """Return a kernel each of whose `singles` is changed."""
    if isinstance(kernel, Stack):
        parts = tuple(with_each_single(part, change) for part in kernel.kernels)
        return replace(kernel, kernels=parts)
    if isinstance(kernel, Named):
        return replace(kernel, kernel=with_each_single(kernel.kernel, change))
    return change(kernel)


def columns_read(kernel: Kernel) -> tuple[Columns, ...]:
    """Return the columns that a kernel reads."""
    views = dict.fromkeys(view for _, view in CompiledKernels((kernel,)).listing.layout.sources)
    return tuple(columns for view in views if (columns := columns_of(view)) is not None)


def absent_in(columns: tuple[Columns, ...], reading: Reading) -> np.ndarray | None:
    """Return for which examples some of the columns have nothing to show, (n,); None: for none."""
    found = [absent for one in columns if (absent := reading.absent(one)) is not None]
    return np.logical_or.reduce(found) if found else None


def absent_of_one(kernel: Kernel, reading: Reading) -> np.ndarray | None:
    """Return for which examples some view of a kernel is absent, (n,); None where for none."""
    return None if reading.is_complete else absent_in(columns_read(kernel), reading)


def absent_of_members(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return for which examples each member of a kernel is absent, shape (M, n)."""
    rows = []
    for one in singles(kernel):
        absent = absent_of_one(one, reading)
        row = np.zeros(reading.n, dtype=bool) if absent is None else absent
        rows.append(np.repeat(row[None], one.n_kernels, axis=0))
    return np.concatenate(rows)


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
            f"Input X contains NaN or None in all that the kernels read of example {nowhere[0]}: "
            'fill it (a missing text by "", one without words), or leave the example out; an '
            "example must be present in one view at least"
        )
    return np.concatenate([absent_of_members(one, reading) for one in compiled.kernels])


def patterns(absent: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give each combination of absent kernels, (M,), and the examples that have it.

    `absent` has shape (M, n).
    """
    found, which = np.unique(absent, axis=1, return_inverse=True)
    for number, missing in enumerate(found.T):
        yield missing, np.flatnonzero(which.ravel() == number)


def completed(kernel: Kernel, training: Reading, new: Reading) -> Kernel:
    """Return a resolved kernel that has values for absent examples too, if there are any."""

    def filled(one: Kernel) -> Kernel:
        known = isinstance(one, Absent) or all(
            absent_of_one(one, reading) is None for reading in (training, new)
        )
        return one if known else at_mean(one, present_part(one, training))

    return kernel if isinstance(kernel, Extrapolated) else with_each_single(kernel, filled)
