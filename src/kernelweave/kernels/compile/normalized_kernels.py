"""Normalised kernels, and what they take from the training examples.

Means over examples and over pairs of them, self-similarities, and whether a kernel is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.polynomial import chebyshev

from kernelweave.common.core import _core
from kernelweave.kernels.base import Kernel, Wrapper
from kernelweave.kernels.compile.examples import Examples, Reading
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import Multiple
from kernelweave.kernels.vector.rbf import Exponential
from kernelweave.model.files.registry import stored

Same = TypeVar("Same", bound="FromMean")

CONSTANT = 1e-13  # squared distance in feature space, relative to squared norms, taken for zero
MOST_EXAMPLES = 5000
FAMILY = 8  # kernels from which on they are tabulated as functions of their shared quantity
MOST_ROWS = 500  # kernels whose means of rows are held at a time
MANY_WIDTHS = 500  # of a family, from which on variances are interpolated between some of them:
PIECE, DEGREE = 2.0, 24  # polynomials on pieces of log(gamma) so long, to about 1e-12


@dataclass(frozen=True, eq=False)
class Sample:
    """A kernel on the training examples over which means are taken: all, or evenly spaced ones.

    Attributes
    ----------
    compiled : the kernel, with M members.
    examples : n examples.
    shares : how much each of them counts in means, shape (n,); the sum is 1.
    n_jobs : number of threads.
    """

    compiled: CompiledKernels
    examples: Examples
    shares: np.ndarray
    n_jobs: int

    @classmethod
    def of(cls, kernel: Kernel, reading: Reading) -> Sample:
        """Return the sample of a kernel's training examples."""
        compiled = CompiledKernels((kernel,))
        examples, shares = compiled.read(reading), reading.shares
        if examples.n > MOST_EXAMPLES:
            chosen = np.linspace(0, examples.n - 1, MOST_EXAMPLES).astype(np.int64)
            examples, shares = examples.take(chosen), shares[chosen] / shares[chosen].sum()
        return cls(compiled, examples, shares, reading.n_jobs)

    def means_with(self, examples: Examples) -> np.ndarray:
        """Return the mean of k_m(x_i, x) over the sample for m = 1, ..., M and x, shape (M, n)."""
        program, side = self.compiled.program, self.examples.side
        return _core.sum_each(program, side, examples.side, self.shares, self.n_jobs)

    def mean_of_pairs(self) -> np.ndarray:
        """Return the mean of k_m over all pairs of the sample, shape (M,)."""
        program, examples = self.compiled.program, self.examples
        if self.compiled.n_kernels >= FAMILY and _core.Mixture.serves(program):
            # Families of functions of one quantity: the cost of a pair does not grow with M.
            family = _core.Mixture(program, examples.side, 0, self.n_jobs)
            sums: np.ndarray = family.quadratic(np.arange(examples.n), self.shares)
            return sums
        if _core.LinearEngine.serves(program, examples.side):  # families of string kernels
            engine = _core.LinearEngine(program, examples.side, 0, self.n_jobs)
            return engine.products(keep=False).quadratic(self.shares)
        if self.compiled.n_kernels > MOST_ROWS:  # the means of all rows would take much memory
            return _core.quadratic(program, examples.side, self.shares)
        return self._mean_by_halves()

    def _mean_by_halves(self) -> np.ndarray:
        """Return the same for few kernels, from the means of rows."""
        half = self.examples.n // 2
        if half < 256:
            total: np.ndarray = self.means_with(self.examples) @ self.shares
            return total
        # Pairs with one example in each half count twice and are evaluated once.
        left, right = (self._part(some) for some in np.split(np.arange(self.examples.n), [half]))
        across = left.means_with(right.examples) @ right.shares
        sums: np.ndarray = left._mean_by_halves() + right._mean_by_halves() + 2 * across
        return sums

    def _part(self, index: np.ndarray) -> Sample:
        return replace(self, examples=self.examples.take(index), shares=self.shares[index])


def mean_over_pairs(kernel: Kernel, sample: Sample, reading: Reading) -> np.ndarray:
    """Return the mean of each member over all pairs of training examples, shape (M,).

    Where some examples are absent elsewhere, row means are needed as well, and are kept.
    """
    if not reading.is_part or sample.examples.n < reading.n:
        return sample.mean_of_pairs()
    means: np.ndarray = kernel.row_means(reading) @ sample.shares
    return means


@dataclass(frozen=True)
class FromMean(Wrapper):
    """A kernel that knows the mean of the training examples in the feature space of each member.

    Attributes
    ----------
    totals : (M,) mean of k over all pairs of reference examples.
    reference : the training examples, or evenly spaced ones of them.
    shares : (n,) how much each of them counts in means; the sum is 1.
    """

    totals: tuple[float, ...]
    reference: Examples = field(repr=False, compare=False)
    shares: np.ndarray = field(repr=False, compare=False)

    instruction: ClassVar[str]

    @classmethod
    def of(cls: type[Same], kernel: Kernel, reading: Reading) -> Same:
        """Return it for a kernel on its training examples."""
        sample = Sample.of(kernel, reading)
        totals = mean_over_pairs(kernel, sample, reading)
        reference = sample.examples.reference(np.arange(sample.examples.n))
        return cls(kernel, tuple(totals.tolist()), reference, sample.shares)

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), self.totals, strict=True)
        return [(*expression, (self.instruction, slot, total)) for expression, slot, total in pairs]

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return the mean of k(x, reference examples), shape (M, n)."""
        if self in reading.slots:
            return reading.slots[self]
        compiled = CompiledKernels((self.kernel,))
        sample = Sample(compiled, self.reference, self.shares, reading.n_jobs)
        return sample.means_with(compiled.read(reading))


@stored("Centered")
@dataclass(frozen=True)
class Centered(FromMean):
    """Each member with the mean of the reference examples moved to the origin."""

    instruction = "center"


@stored("Rescaled")
@dataclass(frozen=True)
class Rescaled(Multiple):
    """Each member of a family times a factor of its own."""

    factors: tuple[float, ...]

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), self.factors, strict=True)
        return [(*expression, ("scale", factor)) for expression, factor in pairs]

    def row_means(self, reading: Reading) -> np.ndarray:
        means: np.ndarray = np.array(self.factors)[:, None] * self.kernel.row_means(reading)
        return means


@stored("Unit")
@dataclass(frozen=True)
class Unit(Wrapper):
    """Each member with k(x, x) = 1; an example with k(x, x) = 0 is similar to nothing."""

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), strict=True)
        return [(*expression, ("unit", slot)) for expression, slot in pairs]

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return 1 / sqrt(k(x, x)), shape (M, n)."""
        squares = diagonal(self.kernel, reading)
        factors: np.ndarray = np.divide(
            1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0
        )
        return factors

    @property
    def unit_diagonal(self) -> bool:
        return True


def muted(kernel: Kernel, constant: np.ndarray) -> Kernel:
    """Return a kernel whose constant members have values of 0."""
    return Rescaled(kernel, tuple((1.0 - constant).tolist())) if constant.any() else kernel


def diagonal(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return k_m(x, x), shape (M, n), or (1, n) where it is 1 for all members."""
    compiled = CompiledKernels((kernel,))
    return _finite_diagonal(compiled, compiled.read(reading))


def _finite_diagonal(compiled: CompiledKernels, examples: Examples) -> np.ndarray:
    """Return k_m(x, x) as `diagonal` does; refuse values that are not finite.

    No other values of a positive semidefinite kernel are larger: |k(x, y)|^2 <= k(x, x) k(y, y).
    So where these are finite, all are. Sums of all of them must be, too.
    """
    listing = compiled.listing
    if compiled.kernels[0].unit_diagonal:
        listing = listing.part(np.array([0]))  # one of them tells whether it is finite
        examples = examples.part(compiled.listing.read_by(listing))
    values = _core.diagonal(listing.program, examples.side)
    bad = np.argwhere(~(values <= np.finfo(float).max / (4 * max(examples.n, 1))))
    if len(bad):
        member, example = bad[0].tolist()
        raise ValueError(
            f"kernel {compiled.names[member]!r} has no finite value k(x, x) for example {example}, "
            f"or one of which there is no finite sum, {values[member, example]:.3g}: "
            "the numbers in X, or parameters of the kernel, are too large; scale X down, such as "
            "with StandardScaler"
        )
    return values


def is_constant(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return for which members all training examples with a weight are one point, shape (M,)."""
    looked: list[Kernel] = [kernel]
    members = 0
    if isinstance(kernel, Exponential) and isinstance(kernel.gamma, tuple):
        looked.insert(0, replace(kernel, gamma=min(kernel.gamma)))  # the widest one
        members = len(kernel.gamma)
    for looked_at in looked:
        compiled = CompiledKernels((looked_at,))
        examples = compiled.read(reading)
        diagonal = _finite_diagonal(compiled, examples)
        first = examples.take(np.array([0]))
        values = _core.evaluate(compiled.program, first.side, examples.side, reading.n_jobs)[:, 0]
        halves = 0.5 * diagonal + 0.5 * diagonal[:, :1] - values  # of squared distances
        alike: np.ndarray = halves.max(axis=1) <= 0.5 * CONSTANT * diagonal.max(axis=1)
        if members and not alike.any():  # nor is any that is narrower
            return np.zeros(members, dtype=bool)
    return alike


def variances(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return the variance of the examples in the feature space of each member, shape (M,)."""
    gammas = kernel.gamma if isinstance(kernel, Exponential) else None
    if isinstance(gammas, tuple) and len(gammas) > MANY_WIDTHS:
        family: Any = kernel
        return by_width(
            lambda some: variances(replace(family, gamma=some), reading), np.array(gammas)
        )
    sample = Sample.of(kernel, reading)
    squares = _core.diagonal(sample.compiled.program, sample.examples.side) @ sample.shares
    found: np.ndarray = squares - mean_over_pairs(kernel, sample, reading)
    return found


def by_width(variances: Callable[[np.ndarray], np.ndarray], gammas: np.ndarray) -> np.ndarray:
    """Return the variances of exp(-gamma distance) for all gammas, shape (M,).

    Those of very many gammas are interpolated. The variance over gamma is an analytic function of
    log(gamma) in a strip of half-width pi / 2, so that polynomials on short pieces converge fast.

    Parameters
    ----------
    variances : gives them for some gammas.
    gammas : shape (M,).
    """
    logs = np.log(gammas)
    first, length = logs.min(), np.ptp(logs)
    pieces = max(1, int(np.ceil(length / PIECE)))
    half = max(length / pieces / 2, np.finfo(float).tiny)
    piece = np.minimum(((logs - first) / (2 * half)).astype(int), pieces - 1)
    values, nodes = np.empty(len(gammas)), chebyshev.chebpts1(DEGREE + 1)
    for k in np.unique(piece):
        middle, inside = first + (2 * k + 1) * half, piece == k

        some = np.exp(middle + half * nodes)
        polynomial = chebyshev.chebfit(nodes, variances(some) / some, DEGREE)
        scaled = (logs[inside] - middle) / half
        values[inside] = gammas[inside] * chebyshev.chebval(scaled, polynomial)
    return values
