"""Kernels of views that are absent for some examples.

A kernel is *absent* for an example whose columns are all missing. The example is then placed at the
mean of the present training examples in feature space, phi(absent) = mean_i phi(x_i), so that

    k(absent, x) = mean_i k(x_i, x)   and   k(absent, absent) = mean_ij k(x_i, x_j).

These are inner products in feature space: kernel matrices stay positive semidefinite, and duality
gaps remain valid. With more than 5,000 present examples, the means of nonlinear kernels are over
5,000 evenly spaced ones. `at_mean` does this for a single kernel.

For learning, kernels are also centred, so that an absent kernel contributes 0 to the decision
value. `extrapolated` then rescales the others: the features of an example that has a fraction r of
the views are multiplied by 1 / r. Without this, the decision values of examples with few views
would shrink towards the intercept. One-class problems separate the examples from the origin, which
is their mean in centred kernels; they use `all_at_mean` instead.

Kernels are normalised on the examples that are present. A sum or product of kernels is absent if
one of its parts is; the kernels of a list are independent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernelweave.kernels.base import Kernel, TransformedKernel
from kernelweave.kernels.compile.examples import Reader, Reading, Subset, columns_of
from kernelweave.kernels.compile.normalized_kernels import Centered, FromMean
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import Named
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.data.views import Views
from kernelweave.model.files.registry import registered


@registered("Absent")
@dataclass(frozen=True)
class Absent(FromMean):
    """A kernel with absent examples placed at the mean of the present training examples.

    The parameters are those of the base class `FromMean`, whose means are over present examples.
    """

    instruction = "absent"

    def slot_vectors(self, reading: Reader) -> np.ndarray:
        """Return the mean of k_m(x, x_i) over the present training examples x_i, shape (M, n).

        It is NaN for examples x without any value in the columns that the kernel reads.
        """
        means = super().slot_vectors(reading)
        absent = absent_of_one(self.kernel, reading)
        return means if absent is None else np.where(absent, np.nan, means)


@registered("Presence")
@dataclass(frozen=True)
class Presence:
    """Computes the fraction of all views that an example has.

    All views have the same share of the total 1. The kernels of a view divide its share equally.

    Attributes
    ----------
    parts : tuple of (share, columns)
        The total share of the kernels that read the same columns. The shares sum to 1.
    """

    parts: tuple[tuple[float, tuple[Columns, ...]], ...]

    @classmethod
    def of(cls, compiled: CompiledKernels) -> Presence:
        """Return a `Presence` with the shares of the views that given kernels read."""
        parts: Counter[tuple[Columns, ...]] = Counter()
        shares = iter(shares_of_views(compiled.views).tolist())
        for kernel in compiled.kernels:
            for one in independent_parts(kernel):
                parts[columns_read(one)] += sum(next(shares) for _ in range(one.n_kernels))
        return cls(tuple((share, columns) for columns, share in parts.items()))

    @property
    def most(self) -> float:
        """Upper bound of `factors`: its value for an example with only the smallest share."""
        return 1.0 / min(share for share, _ in self.parts)

    def factors(self, reading: Reader) -> np.ndarray:
        """Return 1 / (fraction of the views that an example has), or 0 without views, (n,)."""
        fractions = np.zeros(reading.n)
        for share, columns in self.parts:
            absent = absent_in(columns, reading)
            fractions += share if absent is None else np.where(absent, 0.0, share)
        return extrapolation(fractions)


@registered("Extrapolated")
@dataclass(frozen=True)
class Extrapolated(TransformedKernel):
    """A kernel that is 0 for absent examples, and scaled up for examples without some other views.

    Attributes
    ----------
    kernel : Kernel
        Centred on the present training examples; its values for absent examples are not used.
    presence : Presence
        Computes the scaling factor of each example, from the views of all kernels of the model.
    """

    presence: Presence

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), strict=True)
        most = self.presence.most
        return [(*expression, ("multiply", slot, most)) for expression, slot in pairs]

    def slot_vectors(self, reading: Reader) -> np.ndarray:
        """Return the factors of the features of n examples, shape (M, n); 0 for absent examples."""
        if self.presence not in reading.vectors:  # all kernels of a model share it
            reading.vectors[self.presence] = self.presence.factors(reading)
        absent = absent_of_members(self.kernel, reading)
        return np.where(absent, 0.0, reading.vectors[self.presence])


def shares_of_views(views: tuple[str, ...]) -> np.ndarray:
    """Return the share of each kernel, shape (M,): equal for all views, and within each view."""
    members = Counter(views)
    return np.array([1.0 / (len(members) * members[view]) for view in views])


def extrapolation(fractions: np.ndarray) -> np.ndarray:
    """Return 1 / fraction, or 0 if the fraction is 0, shape (n,)."""
    return np.divide(1.0, fractions, out=np.zeros_like(fractions), where=fractions > 0)


def extrapolated(compiled: CompiledKernels, training: Reading) -> CompiledKernels:
    """Return centred kernels with the value 0 for absent examples, scaled up for the others.

    The result is a single family, so that memory and files contain the shared `Presence` once.
    """

    def centre(one: Kernel) -> Kernel:
        present = present_subset(one, training)
        centred = one.centred(present)
        return _from_mean(Centered, one, present) if centred is None else centred

    centred = tuple(with_each_part(kernel, centre) for kernel in compiled.kernels)
    family = centred[0] if len(centred) == 1 else Stack(centred)
    return CompiledKernels((Extrapolated(family, Presence.of(compiled)),))


def each_kernel(compiled: CompiledKernels) -> Iterator[Kernel]:
    """Yield the kernels of a model one by one, also if `extrapolated` has made them one family."""
    for kernel in compiled.kernels:
        if isinstance(kernel, Extrapolated) and isinstance(kernel.kernel, Stack):
            yield from (replace(kernel, kernel=part) for part in kernel.kernel.kernels)
        else:
            yield kernel


def all_at_mean(compiled: CompiledKernels, training: Reading) -> CompiledKernels:
    """Return uncentred kernels with absent examples at the mean of the present ones."""
    return CompiledKernels(tuple(completed(one, training, training) for one in compiled.kernels))


def is_extrapolated(compiled: CompiledKernels) -> bool:
    """Return whether kernels were transformed by `extrapolated`."""
    return any(isinstance(kernel, Extrapolated) for kernel in compiled.kernels)


def is_at_mean(compiled: CompiledKernels) -> bool:
    """Return whether some kernel places absent examples at the mean."""
    each = (one for kernel in compiled.kernels for one in independent_parts(kernel))
    return any(isinstance(one, Absent) for one in each)


def at_mean(kernel: Kernel, present: Subset) -> Kernel:
    """Return a kernel with absent examples placed at the mean of the present training examples."""
    filled = kernel.filled(present)
    return _from_mean(Absent, kernel, present) if filled is None else filled


def _from_mean(kind: type[FromMean], kernel: Kernel, present: Subset) -> FromMean:
    """Return a kernel of class `kind` that stores the mean of the present examples.

    Its row means are cached in ``present.reading.vectors``, where `slot_vectors` finds them.
    """
    found = kind.of(kernel, present)
    vectors = np.zeros((kernel.n_kernels, present.reading.n))
    vectors[:, present.rows] = kernel.row_means(present)
    present.reading.vectors[found] = vectors
    return found


def present_subset(kernel: Kernel, training: Reading) -> Subset:
    """Return the training examples for which a kernel is not absent."""
    absent = absent_of_one(kernel, training)
    return training.subset(np.arange(training.n) if absent is None else np.flatnonzero(~absent))


def independent_parts(kernel: Kernel) -> Iterator[Kernel]:
    """Yield the parts of a kernel that are absent independently of each other."""
    if isinstance(kernel, Stack):
        for part in kernel.kernels:
            yield from independent_parts(part)
    elif isinstance(kernel, Named | Extrapolated):
        yield from independent_parts(kernel.kernel)
    else:
        yield kernel


def with_each_part(kernel: Kernel, change: Callable[[Kernel], Kernel]) -> Kernel:
    """Return a kernel with each of its `independent_parts` replaced by ``change(part)``."""
    if isinstance(kernel, Stack):
        parts = tuple(with_each_part(part, change) for part in kernel.kernels)
        return replace(kernel, kernels=parts)
    if isinstance(kernel, Named):
        return replace(kernel, kernel=with_each_part(kernel.kernel, change))
    return change(kernel)


def columns_read(kernel: Kernel) -> tuple[Columns, ...]:
    """Return the columns that a kernel reads."""
    views = dict.fromkeys(view for _, view in CompiledKernels((kernel,)).listing.layout.sources)
    return tuple(columns for view in views if (columns := columns_of(view)) is not None)


def absent_in(columns: tuple[Columns, ...], reading: Reader) -> np.ndarray | None:
    """Return a mask of the examples without values in one of several `Columns`; None if none."""
    found = [absent for one in columns if (absent := reading.absent(one)) is not None]
    return np.logical_or.reduce(found) if found else None


def absent_of_one(kernel: Kernel, reading: Reader) -> np.ndarray | None:
    """Return a mask of the examples for which a kernel is absent, (n,); None if none."""
    return None if reading.is_complete else absent_in(columns_read(kernel), reading)


def absent_of_members(kernel: Kernel, reading: Reader) -> np.ndarray:
    """Return a mask for each member of a kernel: examples for which it is absent, shape (M, n)."""
    rows = []
    for one in independent_parts(kernel):
        absent = absent_of_one(one, reading)
        row = np.zeros(reading.n, dtype=bool) if absent is None else absent
        rows.append(np.repeat(row[None], one.n_kernels, axis=0))
    return np.concatenate(rows)


def absent_of_all(compiled: CompiledKernels, reading: Reading) -> np.ndarray | None:
    """Return a mask for each of M kernels: examples for which it is absent, (M, n); None if none.

    Raises
    ------
    ValueError
        If all kernels are absent for an example, unless X is `Views`, which may have views that
        the kernels do not read.
    """
    views = dict.fromkeys(view for _, view in compiled.listing.layout.sources)
    missing = [reading.missing(view) for view in views]
    if all(one is None for one in missing):
        return None
    nowhere = np.flatnonzero(np.all([one for one in missing if one is not None], axis=0))
    known = isinstance(reading.X, Views) or any(one is None for one in missing)
    if len(nowhere) and not known:
        raise ValueError(
            f"Input X contains NaN or None for example {nowhere[0]} in all columns that the "
            'kernels read; impute its values (a missing text by ""), or leave the example out'
        )
    return np.concatenate([absent_of_members(one, reading) for one in compiled.kernels])


def patterns(absent: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each set of absent kernels that occurs, (M,), and the positions of its examples.

    Parameters
    ----------
    absent : boolean array of shape (M, n)
        Whether each kernel is absent for each example.
    """
    found, which = np.unique(absent, axis=1, return_inverse=True)
    for number, missing in enumerate(found.T):
        yield missing, np.flatnonzero(which.ravel() == number)


def completed(kernel: Kernel, training: Reading, new: Reading) -> Kernel:
    """Return a resolved kernel that is also defined for examples whose columns are all missing.

    These are placed at the mean of the other training examples, as the module describes. Without
    such examples in `training` and `new` the kernel is returned unchanged.
    """

    def filled(one: Kernel) -> Kernel:
        known = isinstance(one, Absent) or all(
            absent_of_one(one, reading) is None for reading in (training, new)
        )
        return one if known else at_mean(one, present_subset(one, training))

    return kernel if isinstance(kernel, Extrapolated) else with_each_part(kernel, filled)
