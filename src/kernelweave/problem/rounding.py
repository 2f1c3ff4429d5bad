"""Bounds on the rounding errors of kernels, outputs and squared block norms.

The relative error of a floating point operation is at most UNIT. Errors of many operations are
assumed to be independent (Higham and Mary, 2019). So a sum of N terms has an error of about
sqrt(N) UNIT, not N UNIT, times the sum of their absolute values. The error of a sum of N inexact
values is the root of the sum of their squared errors. Bounds are `SURE` times these errors.

Errors are propagated through the expression of a kernel. The result is a number e(i) for each
example i, such that the error of k(x_i, x_j) is below (e(i) + e(j)) / 2. Errors of outputs follow
from the accumulated update of each alpha since outputs were computed from scratch. Errors of
s_m = alpha' K_m alpha, the squared block norms, follow from the alphas.

These errors are negligible with three exceptions: RBF kernels so wide that kernel values of
different examples differ in the last decimals only, data far from the origin, and alphas so large
that outputs are small differences of large numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..common.cached_property import cached_property
from ..common.core import _core
from ..common.types import Numbers
from ..engines import TrainingSet
from ..kernels.compile.examples import Dense, Examples, Sparse
from ..kernels.compile.program import Expression, Listing, chains, stacked

UNIT = float(np.finfo(float).eps) / 2
CUT = 2.0**-47  # the core rounds squared distances below this fraction of ||x||^2 to 0
SURE = 4.0  # ratio of bounds to root mean squared errors
# Examples whose k(x, x) is computed for quantities other than those of vectors, such as string
# kernels; the largest of them is assumed to bound those of all examples.
SAMPLED = 100
MOST_KERNELS = 5000  # above this number, only kernels of nonzero weight are analysed
MOST_NUMBERS = 10**5  # largest size of an array for kernels that are analysed together
MOST_DIFFERENCES = 10**9  # largest number of subtractions for finding nearest neighbours

# Bounds on |values| and on errors of k kernels: numbers, or arrays of shape (k, n).
Bounds = tuple[Numbers, Numbers]


class Plane(NamedTuple):
    """Bounds on a plane: a quantity of two examples, such as their squared distance.

    Several kernels can be functions of one plane. Bounds are numbers, or arrays of shape (n,) with
    a bound for each example.

    Attributes
    ----------
    size, error
        Bounds on the absolute value of the quantity and on its rounding error.
    least
        Lower bound on the quantity between an example and any other one.
    relative : float
        Relative error of distances that are sums of absolute differences; 0 for others.
    """

    size: Numbers
    error: Numbers
    least: Numbers = 0.0
    relative: float = 0.0


def gap_rounding(alpha: np.ndarray, theta: np.ndarray, sizes: np.ndarray, scale: float) -> float:
    """Return a rough estimate of the rounding error of a relative duality gap.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Dual variables.
    theta : ndarray of shape (M,)
        Kernel weights.
    sizes : ndarray of shape (M,)
        Largest value of each kernel.
    scale : float
        The denominator of the relative gap.

    Returns
    -------
    float
    """
    pairs = np.abs(alpha).sum() * np.sqrt(alpha @ alpha)
    with np.errstate(over="ignore"):
        share = pairs / max(scale, np.finfo(float).tiny)
        return float(2 * UNIT * (theta @ sizes) * share)


@dataclass(frozen=True, eq=False)
class RoundingBounds:
    """Rounding bounds of M kernels on n examples.

    Parameters
    ----------
    kernels : Listing
        The expressions of the M kernels.
    examples : Examples
        The n examples, encoded for the kernels.
    precision : float
        Accuracy of kernel evaluations by the engine, relative to the largest values.
    neighbours : bool
        Whether to find the nearest neighbour of each example, if that takes little time. This
        gives sharper bounds for narrow kernels, whose values between distant examples are 0 even
        if the distance is inaccurate.
    """

    kernels: Listing
    examples: Examples
    precision: float = UNIT
    neighbours: bool = False

    def part(self, rows: np.ndarray) -> RoundingBounds:
        """Return the bounds for the examples at q positions, shape (q,)."""
        return replace(self, examples=self.examples.take(rows))

    def errors(
        self, theta: np.ndarray, alpha: np.ndarray, accumulated_update: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds on the errors of combined outputs and squared block norms.

        Parameters
        ----------
        theta : ndarray of shape (M,), or (1,) if the sum of all kernels is one kernel
            Kernel weights.
        alpha : ndarray of shape (outputs, n)
            Dual variables of each output (decision function).
        accumulated_update : ndarray of shape (outputs, n)
            Sum of |changes| of each alpha since outputs were computed from scratch.

        Returns
        -------
        combined : ndarray of shape (outputs, n)
            Bounds for the combined outputs.
        block_norms : ndarray with the shape of theta
            Bounds for alpha' K_m alpha. If there are very many kernels, kernels of weight 0 get the
            largest bound of the kernels of nonzero weight.
        """
        weights = np.broadcast_to(theta, self.kernels.n_kernels)
        combined, block_norms = np.zeros_like(alpha), np.zeros(len(weights))
        few = len(weights) <= MOST_KERNELS
        chosen = np.arange(len(weights)) if few else np.flatnonzero(weights)
        with np.errstate(over="ignore", invalid="ignore"):  # bounds are infinite or NaN then
            for alike in self.kernels.alike(chosen, max(1, MOST_NUMBERS // alpha.size)):
                outputs = self._outputs(alike, accumulated_update)
                combined += np.tensordot(weights[alike], outputs, axes=1)
                block_norms[alike] = root_of_squares(alpha * outputs, axis=(1, 2))
        if len(theta) < len(weights):
            return combined, block_norms.sum(keepdims=True)
        if not few:
            block_norms = np.where(weights != 0, block_norms, block_norms.max())
        return combined, block_norms

    def _outputs(self, alike: np.ndarray, update: np.ndarray) -> np.ndarray:
        """Return bounds on the errors of the outputs of k kernels, shape (k, outputs, n).

        `update`, shape (outputs, n), is the accumulated update.
        """
        shape = len(alike), self.examples.n
        size, error = (np.broadcast_to(part, shape)[:, None] for part in self.bounds(alike))
        return _of_outputs((size, error), update, _sums)

    def bounds(self, alike: np.ndarray) -> Bounds:
        """Return bounds on the values of k kernels, and the e(i) that bound their errors.

        Parameters
        ----------
        alike : ndarray of shape (k,)
            Indices of kernels with expressions of the same form (`Listing.alike`).

        Returns
        -------
        size, error
            Bounds on |k(x_i, .)| and the e(i); both can be broadcast to shape (k, n).
        """
        expression = stacked([self.kernels.expressions[m] for m in alike])
        size, error = _propagated(expression, self._planes, self.examples.vectors)
        squared = 2.0 ** self._squarings[alike, None]
        return size, error + (self.precision + squared * UNIT) * size

    @cached_property
    def _squarings(self) -> np.ndarray:
        """Number of squarings by which each kernel is computed from another one, shape (M,).

        Each squaring of an exponential doubles its relative error.
        """
        runs = chains(self.kernels.expressions)
        return np.concatenate([np.arange(len(run)) for run in runs])

    @cached_property
    def _planes(self) -> dict[int, Plane]:
        """Bounds of all planes (quantities that kernels share), by their numbers in `Layout`."""
        layout, found = self.kernels.layout, dict[int, Plane]()
        ends = [*layout.sources.values(), layout.n_planes][1:]
        tables = [self.examples.tables[position] for position in self.examples.sources]
        starts = zip(layout.sources.items(), ends, tables, strict=True)
        for ((kind, _), first), end, table in starts:
            if isinstance(table, Dense | Sparse):
                found[first] = _of_vectors(str(kind), table, self.neighbours)
            else:
                found.update(zip(range(first, end), self._on_diagonal(first, end), strict=True))
        return found

    def _on_diagonal(self, first: int, end: int) -> list[Plane]:
        """Return bounds of planes first to end - 1, from a sample of their values at (x, x)."""
        copies: list[Expression] = [(("copy", plane),) for plane in range(first, end)]
        some = np.unique(np.linspace(0, self.examples.n - 1, SAMPLED).astype(np.int64))
        whole = TrainingSet(Listing(self.kernels.layout, copies), self.examples.take(some))
        part = whole.part(np.arange(end - first))
        largest = _core.diagonal(part.kernels.program, part.examples.side).max(axis=1)
        return [Plane(size, UNIT * size) for size in largest]


@dataclass(frozen=True, eq=False)
class PairRounding(RoundingBounds):
    """Rounding bounds of several outputs, each on some of the examples.

    Parameters
    ----------
    rows : list of ndarrays
        Positions of the examples of each output, such as a pair of classes.
    """

    rows: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def of(cls, rounding: RoundingBounds, rows: list[np.ndarray]) -> PairRounding:
        """Return bounds for outputs on the examples `rows`, from those for all examples."""
        known = rounding.kernels, rounding.examples, rounding.precision, rounding.neighbours
        return cls(*known, rows=rows)

    def errors(
        self, theta: np.ndarray, alpha: np.ndarray, accumulated_update: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds on the errors of combined outputs and squared block norms.

        As `RoundingBounds.errors`, for arrays of shape (1, n): one output after the other.
        """
        combined, each = self.of_outputs(theta, alpha[0], accumulated_update[0])
        return combined[None], np.asarray(root_of_squares(each, axis=(0,)))

    def of_outputs(
        self, theta: np.ndarray, alpha: np.ndarray, update: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds for the combined outputs, (n,), and squared block norms, (outputs, M).

        `alpha` and `update`, the accumulated update, have shape (n,).
        """
        weights = np.broadcast_to(theta, self.kernels.n_kernels)
        lengths = [len(rows) for rows in self.rows]
        starts, every = np.append(0, np.cumsum(lengths)[:-1]), np.concatenate(self.rows)

        def sums(values: np.ndarray) -> np.ndarray:
            """Return, for each example, the sum over the examples of the same output."""
            return np.repeat(np.add.reduceat(values, starts, axis=-1), lengths, axis=-1)

        combined, block_norms = np.zeros_like(alpha), np.zeros((len(lengths), len(weights)))
        with np.errstate(over="ignore", invalid="ignore"):  # bounds are infinite or NaN then
            for m in range(len(weights)):
                found = self.bounds(np.array([m]))
                size, error = (
                    np.broadcast_to(part, (1, self.examples.n))[0, every] for part in found
                )
                errors = _of_outputs((size, error), update, sums)
                combined += weights[m] * errors
                block_norms[:, m] = np.sqrt(np.add.reduceat((alpha * errors) ** 2, starts))
        if len(theta) < len(weights):
            return combined, block_norms.sum(axis=1, keepdims=True)
        return combined, block_norms


def _of_outputs(
    values: Bounds, update: np.ndarray, sums: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return bounds on the errors of outputs, with the shape of the bounds on kernel values.

    Parameters
    ----------
    values : (size, error)
        Bounds on kernel values and on their errors.
    update : ndarray
        Accumulated update of each alpha, the examples on its last axis.
    sums : callable
        Sums over the examples of an output.
    """
    size, error = values
    squares = sums(update**2) * error**2 + sums((update * error) ** 2)
    sizes = sums(update) * size + sums(update * size)
    growth = (1 + np.sqrt(sums((update != 0).astype(float)))) * UNIT
    return SURE * np.sqrt(0.5 * squares) + growth * 0.5 * sizes


def root_of_squares(errors: np.ndarray, axis: tuple[int, ...] | None = None) -> Numbers:
    """Return the root of the sum of squares: the bound for a sum of independent errors."""
    return np.sqrt(np.sum(errors**2, axis=axis))


def _sums(values: np.ndarray) -> np.ndarray:
    """Return sums over the examples, shape (..., 1)."""
    return values.sum(axis=-1, keepdims=True)


def _of_vectors(kind: str, table: Dense | Sparse, neighbours: bool) -> Plane:
    """Return bounds, each of shape (n,), of a quantity `kind` of two vectors, such as "dot"."""
    squares, terms = _squared_norms(table)
    growth = (
        1 + min(terms, SURE * np.sqrt(terms))
    ) * UNIT  # a few errors may all have the same sign
    if kind == "dot":
        return Plane(squares, growth * squares)
    if kind == "sqdist":  # ||x||^2 + ||y||^2 - 2 x . y
        error = (growth * 4 + CUT) * squares
        nearest = _nearest(table) if neighbours else 0.0
        with np.errstate(invalid="ignore"):  # distances that overflow
            least = np.where(np.isinf(nearest), np.inf, np.maximum(nearest - error, 0.0))
        return Plane(4 * squares, error, least)
    sums = 2 * np.sqrt(terms * squares)  # at least sum |x_f| + sum |y_f|, by Cauchy-Schwarz
    return Plane(sums, growth * sums, relative=growth if kind in ("l1", "chi2") else 0.0)


def _nearest(table: Dense | Sparse) -> Numbers:
    """Return the squared distance of each vector to its nearest neighbour, shape (n,).

    If the vectors are sparse or too many, return 0: a lower bound that needs no search.
    """
    if isinstance(table, Sparse) or len(table.values) * table.values.size > MOST_DIFFERENCES:
        return 0.0
    return cKDTree(table.values).query(table.values, k=2)[0][:, 1] ** 2


def _squared_norms(table: Dense | Sparse) -> tuple[np.ndarray, int]:
    """Return the squared norms of vectors, shape (n,), and their largest number of entries."""
    if isinstance(table, Dense):
        return np.einsum("ij,ij->i", table.values, table.values), table.values.shape[1]
    values = table.to_csr()
    most = int(np.diff(table.indptr).max(initial=0))
    return np.asarray(values.multiply(values).sum(axis=1)).ravel(), most


def _propagated(expression: Expression, planes: dict[int, Plane], vectors: np.ndarray) -> Bounds:
    """Return bounds of the value of an expression, given those of its planes by their numbers.

    `vectors`, shape (slots, n), are the numbers of single examples, such as norms.
    """
    stack: list[Bounds] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for name, *arguments in expression:
            if name in _READERS:
                stack.append(_READERS[name](planes[arguments[0]], *arguments[1:]))
            elif name in _BINARY:
                right, left = stack.pop(), stack.pop()
                stack.append(_BINARY[name](left, right))
            elif name == "absent":
                stack.append(_absent(stack.pop(), np.isnan(vectors[arguments[0].ravel()])))
            elif name == "multiply":
                stack.append(_multiplied(stack.pop(), vectors[arguments[0].ravel()] * arguments[1]))
            else:
                stack.append(_UNARY[name](stack.pop(), *arguments))
    return stack[0]


def _exponential(plane: Plane, gamma: Numbers) -> Bounds:
    """Return bounds of exp(-gamma q), where q is the quantity of the plane."""
    if plane.relative:  # t exp(-t) < 1
        return 1.0, plane.relative + UNIT
    return 1.0, np.minimum(gamma * plane.error, 1.0) * np.exp(-gamma * plane.least) + UNIT


def _power(plane: Plane, gamma: Numbers, coef0: Numbers, degree: Numbers) -> Bounds:
    """Return bounds of (gamma q + coef0)^degree, where q is the quantity of the plane."""
    base = gamma * plane.size + coef0
    slope = degree * np.power(base, degree - 1.0)
    return np.power(base, 1.0 * degree), slope * (gamma * plane.error + 2 * UNIT * base)


def _product(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] * right[0]
    return size, left[0] * right[1] + left[1] * right[0] + UNIT * size


def _sum(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] + right[0]
    return size, left[1] + right[1] + UNIT * size


def _unit(value: Bounds, slot: object) -> Bounds:
    """Return bounds of k(x, y) / sqrt(k(x, x) k(y, y)).

    `slot` is the position of the factors 1 / sqrt(k(x, x)), which the bounds do not depend on.
    """
    size = np.maximum(value[0], np.finfo(float).tiny)
    return 1.0, value[1] / size + 4 * UNIT


def _centred(value: Bounds, slot: object, total: object) -> Bounds:
    """Return bounds of the kernel centred in feature space.

    Centring subtracts the means of k(x, .) and k(., y) from k(x, y), and adds the mean over all
    pairs. The bounds depend neither on `slot`, the position of the means of each example, nor on
    `total`, the mean over all pairs.
    """
    size, error = (2 * (bound + _largest(bound)) for bound in value)
    return size, error + 4 * UNIT * size


def _absent(value: Bounds, absent: np.ndarray) -> Bounds:
    """Return bounds in which absent examples get the largest bound of the present ones.

    The kernel values of absent examples, a mask of shape (k, n), are means over present examples.
    """
    present = (np.where(absent, 0.0, bound) for bound in value)
    size, error = (np.where(absent, _largest(bound), bound) for bound in present)
    return size, error + 2 * UNIT * size


def _largest(bound: Numbers) -> np.ndarray:
    """Return the largest bound of any example, shape (k, 1) or (1,)."""
    return np.max(np.atleast_1d(bound), axis=-1, keepdims=True)


def _multiplied(value: Bounds, factors: np.ndarray) -> Bounds:
    """Return bounds of value(x, y) a(x) a(y), with a factor a for each example.

    `factors`, shape (k, n), are bounds on a(x) a(y) for each x.
    """
    size, error = value[0] * factors, value[1] * factors
    return size, error + 2 * UNIT * size


def _radial(value: Bounds, gamma: Numbers) -> Bounds:
    """Return bounds of exp(gamma (k - 1)) for a value k <= 1."""
    return 1.0, np.minimum(gamma * value[1], 1.0) + (1 + gamma) * UNIT


_READERS: dict[str, Callable[..., Bounds]] = {
    "copy": lambda plane: (plane.size, plane.error),
    "exp": _exponential,
    "power": _power,
}
_BINARY: dict[str, Callable[..., Bounds]] = {"mul": _product, "add": _sum}
_UNARY: dict[str, Callable[..., Bounds]] = {
    "scale": lambda value, factor: (abs(factor) * value[0], abs(factor) * value[1]),
    "unit": _unit,
    "center": _centred,
    "exponential": _radial,
}
