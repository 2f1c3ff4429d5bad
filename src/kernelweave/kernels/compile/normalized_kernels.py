"""Normalised kernels, and the statistics of the training examples that they need.

The statistics are means over examples and over pairs, diagonals k(x, x), variances in feature
space, and whether a kernel is constant on the training data. One `Kernel` object can be a family of
M members, such as RBF kernels with M widths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.polynomial import chebyshev

from kernelweave.common.core import _core
from kernelweave.kernels.base import Kernel, TransformedKernel
from kernelweave.kernels.compile.examples import Examples, Reader, Subset
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import Multiple
from kernelweave.kernels.vector.base import ExponentialOfDistance
from kernelweave.model.files.registry import registered

Same = TypeVar("Same", bound="FromMean")

# Largest squared distance in feature space, relative to the largest squared norm, that counts as
# 0: about 450 roundings.
CONSTANT = 1e-13
MOST_EXAMPLES = 5000  # examples over which means are taken: 25 million pairs
FAMILY = 8  # smallest family that the core tabulates as functions of one quantity
MOST_ROWS = 500  # members with row means in memory at a time (20 MB for 5,000 examples)
HALVED = 512  # number of examples above which pairs are evaluated once instead of twice
# Interpolation of variances between values of gamma, for families with more than MANY_WIDTHS
# members. Polynomials of degree DEGREE on intervals of length PIECE in log(gamma) have a relative
# error of about 1e-12.
MANY_WIDTHS = 500
PIECE, DEGREE = 2.0, 24


@dataclass(frozen=True, eq=False)
class Sample:
    """A kernel and the training examples over which its means are taken.

    Attributes
    ----------
    compiled : the compiled kernel, with M members
    examples : the n encoded examples: all training examples, or evenly spaced ones
    shares : array of shape (n,)
        Weight of each example in means; they sum to 1.
    n_jobs : int
        Number of threads.
    """

    compiled: CompiledKernels
    examples: Examples
    shares: np.ndarray
    n_jobs: int

    @classmethod
    def of(cls, kernel: Kernel, reading: Reader) -> Sample:
        """Return the sample of a kernel on the training examples."""
        compiled = CompiledKernels((kernel,))
        examples, shares = compiled.read(reading), reading.shares
        if examples.n > MOST_EXAMPLES:
            chosen = np.linspace(0, examples.n - 1, MOST_EXAMPLES).astype(np.int64)
            examples, shares = examples.take(chosen), shares[chosen] / shares[chosen].sum()
        return cls(compiled, examples, shares, reading.n_jobs)

    def means_with(self, examples: Examples) -> np.ndarray:
        """Return the mean of k_m(x_i, x) over the sample x_i, shape (M, n), for n examples x."""
        program, side = self.compiled.program, self.examples.side
        sums = _core.sum_each(program, side, examples.side, self.shares[None], self.n_jobs)
        return np.asarray(sums[0])

    def mean_of_pairs(self) -> np.ndarray:
        """Return the mean of k_m over all pairs of the sample, shape (M,)."""
        program, examples = self.compiled.program, self.examples
        if self.compiled.n_kernels >= FAMILY and _core.Mixture.serves(program):
            # All members are functions of one quantity: the cost of a pair is independent of M.
            family = _core.Mixture(program, examples.side, 0, self.n_jobs)
            return family.quadratic(np.arange(examples.n), self.shares)
        if _core.LinearEngine.serves(program, examples.side):  # explicit features, no pairs
            engine = _core.LinearEngine(program, examples.side, 0, self.n_jobs)
            return engine.products(keep=False).quadratic(self.shares)
        if self.compiled.n_kernels > MOST_ROWS:  # pair by pair, without row means
            return _core.quadratic(program, examples.side, self.shares)
        return self._mean_by_halves()

    def _mean_by_halves(self) -> np.ndarray:
        """Return the mean of k_m over all pairs, shape (M,), evaluating each pair once."""
        n = self.examples.n
        if n < HALVED:
            return self.means_with(self.examples) @ self.shares
        # Pairs across the two halves are evaluated once and counted twice.
        left, right = (self._part(some) for some in np.split(np.arange(n), [n // 2]))
        across = left.means_with(right.examples) @ right.shares
        return left._mean_by_halves() + right._mean_by_halves() + 2 * across

    def _part(self, index: np.ndarray) -> Sample:
        return replace(self, examples=self.examples.take(index), shares=self.shares[index])


def mean_over_pairs(kernel: Kernel, sample: Sample, reading: Reader) -> np.ndarray:
    """Return the mean of each member over all pairs of training examples, shape (M,).

    If examples without values are left out (`Subset`), the means of k_m(x_i, .) are needed later,
    too. Then these are computed and cached, and the result is their mean.
    """
    if not isinstance(reading, Subset) or sample.examples.n < reading.n:
        return sample.mean_of_pairs()
    return kernel.row_means(reading) @ sample.shares


@dataclass(frozen=True)
class FromMean(TransformedKernel):
    """Base class of kernels that need the mean of the training examples in feature space.

    They store reference examples, and evaluate the kernel between every example and them.

    Attributes
    ----------
    totals : tuple of M floats
        Mean of k over all pairs of reference examples.
    reference : Examples
        The training examples, or evenly spaced ones.
    shares : array of shape (n,)
        Weight of each reference example in means; they sum to 1.
    instruction : str
        Name of the instruction of the core that uses the means.
    """

    totals: tuple[float, ...]
    reference: Examples = field(repr=False, compare=False)
    shares: np.ndarray = field(repr=False, compare=False)

    instruction: ClassVar[str]

    @classmethod
    def of(cls: type[Same], kernel: Kernel, reading: Reader) -> Same:
        """Return the kernel with the means of the training examples."""
        sample = Sample.of(kernel, reading)
        totals = mean_over_pairs(kernel, sample, reading)
        reference = sample.examples.reference(np.arange(sample.examples.n))
        return cls(kernel, tuple(totals.tolist()), reference, sample.shares)

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), self.totals, strict=True)
        return [(*expression, (self.instruction, slot, total)) for expression, slot, total in pairs]

    def slot_vectors(self, reading: Reader) -> np.ndarray:
        """Return the mean of k_m(x, x_i) over the reference examples x_i, shape (M, n)."""
        if self in reading.vectors:
            return reading.vectors[self]
        compiled = CompiledKernels((self.kernel,))
        sample = Sample(compiled, self.reference, self.shares, reading.n_jobs)
        return sample.means_with(compiled.read(reading))


@registered("Centered")
@dataclass(frozen=True)
class Centered(FromMean):
    """A centred kernel: the reference examples have mean 0 in feature space."""

    instruction = "center"


@registered("Rescaled")
@dataclass(frozen=True)
class Rescaled(Multiple):
    """A family whose members are multiplied by different factors.

    Attributes
    ----------
    factors : tuple of M floats
        The factor of each member.
    """

    factors: tuple[float, ...]

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), self.factors, strict=True)
        return [(*expression, ("scale", factor)) for expression, factor in pairs]

    def row_means(self, reading: Reader) -> np.ndarray:
        return np.array(self.factors)[:, None] * self.kernel.row_means(reading)


@registered("Unit")
@dataclass(frozen=True)
class Unit(TransformedKernel):
    """A kernel divided by sqrt(k(x, x) k(y, y)), or 0 if k(x, x) or k(y, y) is 0."""

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), strict=True)
        return [(*expression, ("unit", slot)) for expression, slot in pairs]

    def slot_vectors(self, reading: Reader) -> np.ndarray:
        """Return 1 / sqrt(k(x, x)), or 0 if k(x, x) = 0, shape (M, n)."""
        squares = diagonal(self.kernel, reading)
        return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)

    @property
    def unit_diagonal(self) -> bool:
        return True


def set_to_zero(kernel: Kernel, constant: np.ndarray) -> Kernel:
    """Return a kernel whose constant members, given by a mask of shape (M,), are set to 0."""
    return Rescaled(kernel, tuple((1.0 - constant).tolist())) if constant.any() else kernel


def weighted(compiled: CompiledKernels, theta: np.ndarray) -> CompiledKernels:
    """Return M kernels multiplied by weights theta, shape (M,), for the same encoded examples."""
    sizes = [len(kernel.labels) for kernel in compiled.kernels]
    parts = np.split(theta, np.cumsum(sizes)[:-1])
    pairs = zip(compiled.kernels, parts, strict=True)
    return CompiledKernels(tuple(Rescaled(kernel, tuple(part.tolist())) for kernel, part in pairs))


def diagonal(kernel: Kernel, reading: Reader) -> np.ndarray:
    """Return k_m(x, x), shape (M, n), or (1, n) if it is 1 for all members."""
    compiled = CompiledKernels((kernel,))
    return _finite_diagonal(compiled, compiled.read(reading))


def _finite_diagonal(compiled: CompiledKernels, examples: Examples) -> np.ndarray:
    """Return k_m(x, x), shaped as by `diagonal`; raise ValueError if a value overflows.

    By the Cauchy-Schwarz inequality, |k(x, y)|^2 <= k(x, x) k(y, y), all values of a positive
    semidefinite kernel are finite if its diagonal is.
    """
    listing = compiled.listing
    if compiled.kernels[0].unit_diagonal:
        listing = listing.part(np.array([0]))  # the diagonals of all members are equal
        examples = examples.part(compiled.listing.read_by(listing))
    values = _core.diagonal(listing.program, examples.side)
    bad = np.argwhere(~(values <= np.finfo(float).max / (4 * max(examples.n, 1))))
    if len(bad):
        member, example = bad[0].tolist()
        raise ValueError(
            f"X: kernel {compiled.names[member]!r} overflows, k(x, x) = "
            f"{values[member, example]:.3g} for example {example}; scale X down, for example with "
            "sklearn.preprocessing.StandardScaler, or take smaller parameters"
        )
    return values


def is_constant(kernel: Kernel, reading: Reader) -> np.ndarray:
    """Return a mask of the members that are constant on the training examples, shape (M,)."""
    if isinstance(kernel, ExponentialOfDistance) and isinstance(kernel.gamma, tuple):
        widest = replace(kernel, gamma=min(kernel.gamma))
        if not is_constant(widest, reading).any():  # then no other member is constant either
            return np.zeros(len(kernel.gamma), dtype=bool)
    compiled = CompiledKernels((kernel,))
    examples = compiled.read(reading)
    diagonal = _finite_diagonal(compiled, examples)
    first = examples.take(np.array([0]))
    values = _core.evaluate(compiled.program, first.side, examples.side, reading.n_jobs)[:, 0]
    half_distances = 0.5 * diagonal + 0.5 * diagonal[:, :1] - values  # halves of squared distances
    return half_distances.max(axis=1) <= 0.5 * CONSTANT * diagonal.max(axis=1)


def variances(kernel: Kernel, reading: Reader) -> np.ndarray:
    """Return the variance of the training examples in the feature space of each member, (M,)."""
    if isinstance(kernel, ExponentialOfDistance):
        family, gammas = kernel, kernel.gamma
        if isinstance(gammas, tuple) and len(gammas) > MANY_WIDTHS:
            return by_width(
                lambda some: variances(replace(family, gamma=some), reading), np.array(gammas)
            )
    sample = Sample.of(kernel, reading)
    squares = _core.diagonal(sample.compiled.program, sample.examples.side) @ sample.shares
    return squares - mean_over_pairs(kernel, sample, reading)


def by_width(variances: Callable[[np.ndarray], np.ndarray], gammas: np.ndarray) -> np.ndarray:
    """Return variances, shape (M,), of exp(-gamma distance) for many gammas, by interpolation.

    The variance divided by gamma is an analytic function of log(gamma) in a strip of half-width
    pi / 2. Piecewise interpolation at Chebyshev nodes therefore converges exponentially.

    Parameters
    ----------
    variances : function that returns the variances for an array of gammas
    gammas : array of shape (M,)
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
