"""Means of kernels over examples and over pairs of them, as normalisations need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.polynomial import chebyshev

from kernelweave.core import _core
from kernelweave.kernels.base import Kernel, Wrapper
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.vectors import Exponential
from kernelweave.stored import stored

Same = TypeVar("Same", bound="FromMean")

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
