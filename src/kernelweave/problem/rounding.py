"""How far rounding may move what kernels give: outputs, energies, and so a certificate.

An operation on floating point numbers errs by UNIT at most, relative to its result. Errors of many
operations do not conspire: a sum of N terms errs by about sqrt(N) UNIT times the sum of their
sizes, not by N UNIT (Higham and Mary, 2019), and a sum of N values that have errors of their own by
the root of the sum of their squares. `SURE` times that is taken for a bound. Followed through the
expression of a kernel it gives, for each example i, an e(i) such that k(x_i, x_j) errs by less than
(e(i) + e(j)) / 2. With the way that each alpha has gone since outputs were computed anew it bounds
their errors, and with the alphas those of s.

All that is nothing unless examples differ in the last digits of k only, as they do where widths are
far above the scale of the data, where data are far from the origin, and where alphas are so large
that outputs are small differences of large numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..common.cached_property import cached_property
from ..common.core import _core
from ..engines import TrainingSet
from ..kernels.compile.examples import Dense, Examples, Sparse
from ..kernels.compile.program import Expression, Listing, chains, stacked

UNIT = float(np.finfo(float).eps) / 2
CUT = 2.0**-47  # the core takes squared distances below this part of ||x||^2 or ||y||^2 for 0
SURE = 4.0  # standard deviations that an error stays below
LOOKED_AT = 100  # strings whose similarity to themselves is taken for that of all
MOST_KERNELS = 5000  # that are looked at one by one whether they have weight or not
MOST_NUMBERS = 10**5  # of an array for kernels that are looked at together
MOST_DIFFERENCES = 10**9  # numbers that are subtracted to find nearest neighbours, at most

# The size of the values of k kernels, and of their errors: numbers, or arrays of shape (k, n).
Bounds = tuple[Any, Any]


class Plane(NamedTuple):
    """The same of a shared quantity.

    Attributes
    ----------
    least : its least value between an example and any other one.
    relative : the error relative to the value, for distances that are sums of differences; or 0.
    """

    size: Any
    error: Any
    least: Any = 0.0
    relative: float = 0.0


def rounding(alpha: np.ndarray, theta: np.ndarray, sizes: np.ndarray, scale: float) -> float:
    """Return how far rounding is likely to move a relative gap, roughly.

    Parameters
    ----------
    alpha : array of shape (n,)
    theta, sizes : arrays of shape (M,)
        Weights, and largest values of the kernels.
    scale : what the gap is relative to.
    """
    pairs = np.abs(alpha).sum() * np.sqrt(alpha @ alpha)
    with np.errstate(over="ignore"):
        share = pairs / max(scale, np.finfo(float).tiny)
        return float(2 * UNIT * (theta @ sizes) * share)


@dataclass(frozen=True, eq=False)
class Digits:
    """The rounding of M kernels on n examples.

    Parameters
    ----------
    kernels, examples : what they are.
    precision : how exactly an engine evaluates kernels, relative to their largest values.
    neighbours : whether to look for nearest neighbours, where that takes little time. A narrow
        kernel is 0 between examples that are far from each other, whatever becomes of the digits
        of their distance.
    """

    kernels: Listing
    examples: Examples
    precision: float = UNIT
    neighbours: bool = False

    def moves(
        self, theta: np.ndarray, alpha: np.ndarray, travel: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how far rounding may move combined outputs and s.

        Parameters
        ----------
        theta : weights, shape (M,), or (1,) where the sum of the kernels is one.
        alpha : shape (outputs, n).
        travel : the way that each alpha has gone since outputs were computed anew, (outputs, n).

        Returns
        -------
        Arrays of shape (outputs, n) and the shape of theta. Of very many kernels, those without
        weight are taken for the worst of those with one.
        """
        weights = np.broadcast_to(theta, self.kernels.n_kernels)
        combined, energies = np.zeros_like(alpha), np.zeros(len(weights))
        few = len(weights) <= MOST_KERNELS
        looked_at = np.arange(len(weights)) if few else np.flatnonzero(weights)
        with np.errstate(over="ignore", invalid="ignore"):  # nothing is known then
            for alike in self.kernels.alike(looked_at, max(1, MOST_NUMBERS // alpha.size)):
                outputs = self._outputs(alike, travel)
                combined += np.tensordot(weights[alike], outputs, axes=1)
                energies[alike] = root_of_squares(alpha * outputs, axis=(1, 2))
        if len(theta) < len(weights):
            return combined, energies.sum(keepdims=True)
        return combined, energies if few else np.where(weights != 0, energies, energies.max())

    def _outputs(self, alike: np.ndarray, travel: np.ndarray) -> np.ndarray:
        """Return how far rounding may move the outputs of k kernels, shape (k, outputs, n)."""
        shape = len(alike), self.examples.n
        size, error = (np.broadcast_to(part, shape)[:, None] for part in self.bounds(alike))
        squares = _sums(travel**2) * error**2 + _sums((travel * error) ** 2)
        sizes = _sums(travel) * size + _sums(travel * size)
        growth = (1 + np.sqrt(np.count_nonzero(travel, axis=1, keepdims=True))) * UNIT
        moves: np.ndarray = SURE * np.sqrt(0.5 * squares) + growth * 0.5 * sizes
        return moves

    def bounds(self, alike: np.ndarray) -> Bounds:
        """Return by how much values of k kernels may be wrong once they are added up, e(i).

        They are alike (`Listing.alike`). What is returned can be broadcast to shape (k, n).
        """
        expression = stacked([self.kernels.expressions[m] for m in alike])
        size, error = _followed(expression, self._planes, self.examples.vectors)
        squared = 2.0 ** self._squarings[alike, None]
        return size, error + (self.precision + squared * UNIT) * size

    @cached_property
    def _squarings(self) -> np.ndarray:
        """How often an exponential was squared for each kernel: the error doubles each time."""
        runs = chains(self.kernels.expressions)
        return np.concatenate([np.arange(len(run)) for run in runs])

    @cached_property
    def _planes(self) -> dict[int, Plane]:
        """The bounds of the shared quantities, by the number of their plane."""
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
        """Return bounds of planes from the similarity of examples to themselves."""
        copies: list[Expression] = [(("copy", plane),) for plane in range(first, end)]
        some = np.unique(np.linspace(0, self.examples.n - 1, LOOKED_AT).astype(np.int64))
        whole = TrainingSet(Listing(self.kernels.layout, copies), self.examples.take(some))
        part = whole.part(np.arange(end - first))
        largest = _core.diagonal(part.kernels.program, part.examples.side).max(axis=1)
        return [Plane(size, UNIT * size) for size in largest]


def root_of_squares(errors: np.ndarray, axis: tuple[int, ...] | None = None) -> Any:
    """Return the bound of a sum of errors, over all axes or some, that do not conspire."""
    return np.sqrt(np.sum(errors**2, axis=axis))


def _sums(values: np.ndarray) -> Any:
    """Return sums over the examples, shape (..., 1)."""
    return values.sum(axis=-1, keepdims=True)


def _of_vectors(kind: str, table: Dense | Sparse, neighbours: bool) -> Plane:
    """Return bounds of a shared quantity of vectors, each of shape (n,)."""
    squares, terms = _squared_norms(table)
    growth = (1 + min(terms, SURE * np.sqrt(terms))) * UNIT  # a few errors may well conspire
    if kind == "dot":
        return Plane(squares, growth * squares)
    if kind == "sqdist":  # ||x||^2 + ||y||^2 - 2 x . y
        error = (growth * 4 + CUT) * squares
        nearest = _nearest(table) if neighbours else 0.0
        with np.errstate(invalid="ignore"):  # distances that no number holds are far
            least = np.where(np.isinf(nearest), np.inf, np.maximum(nearest - error, 0.0))
        return Plane(4 * squares, error, least)
    sums = 2 * np.sqrt(terms * squares)  # no less than sum |x_f| + sum |y_f|, taken together
    return Plane(sums, growth * sums, relative=growth if kind in ("l1", "chi2") else 0.0)


def _nearest(table: Dense | Sparse) -> Any:
    """Return the squared distance of each vector to the nearest other one, (n,), or 0."""
    if isinstance(table, Sparse) or len(table.values) * table.values.size > MOST_DIFFERENCES:
        return 0.0
    return cKDTree(table.values).query(table.values, k=2)[0][:, 1] ** 2


def _squared_norms(table: Dense | Sparse) -> tuple[np.ndarray, int]:
    """Return the squared norms of vectors, shape (n,), and how many numbers they hold at most."""
    if isinstance(table, Dense):
        return np.einsum("ij,ij->i", table.values, table.values), table.values.shape[1]
    values = table.to_csr()
    most = int(np.diff(table.indptr).max(initial=0))
    return np.asarray(values.multiply(values).sum(axis=1)).ravel(), most


def _followed(expression: Expression, planes: dict[int, Plane], vectors: np.ndarray) -> Bounds:
    """Return the bounds of what an expression gives, from those of the planes that it reads."""
    stack: list[Bounds] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for name, *arguments in expression:
            if name in _READ:
                stack.append(_READ[name](planes[arguments[0]], *arguments[1:]))
            elif name in _JOINED:
                right, left = stack.pop(), stack.pop()
                stack.append(_JOINED[name](left, right))
            elif name == "absent":
                stack.append(_absent(stack.pop(), np.isnan(vectors[arguments[0].ravel()])))
            elif name == "multiply":
                stack.append(_multiplied(stack.pop(), vectors[arguments[0].ravel()] * arguments[1]))
            else:
                stack.append(_CHANGED[name](stack.pop(), *arguments))
    return stack[0]


def _exponential(plane: Plane, gamma: Any) -> Bounds:
    if plane.relative:  # t exp(-t) < 1
        return 1.0, plane.relative + UNIT
    return 1.0, np.minimum(gamma * plane.error, 1.0) * np.exp(-gamma * plane.least) + UNIT


def _power(plane: Plane, gamma: Any, coef0: Any, degree: Any) -> Bounds:
    base = gamma * plane.size + coef0
    slope = degree * np.power(base, degree - 1.0)
    return np.power(base, 1.0 * degree), slope * (gamma * plane.error + 2 * UNIT * base)


def _product(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] * right[0]
    return size, left[0] * right[1] + left[1] * right[0] + UNIT * size


def _sum(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] + right[0]
    return size, left[1] + right[1] + UNIT * size


def _unit(value: Bounds, slot: Any) -> Bounds:
    """Both are relative to sqrt(k(x, x) k(y, y)), which a positive size is."""
    size = np.maximum(value[0], np.finfo(float).tiny)
    return 1.0, value[1] / size + 4 * UNIT


def _centred(value: Bounds, slot: Any, total: Any) -> Bounds:
    """Three means are taken away or added, over examples of any size."""
    size, error = (2 * (bound + _largest(bound)) for bound in value)
    return size, error + 4 * UNIT * size


def _absent(value: Bounds, absent: np.ndarray) -> Bounds:
    """Examples that are absent, (k, n), are means of others: no worse than the worst of them."""
    present = (np.where(absent, 0.0, bound) for bound in value)
    size, error = (np.where(absent, _largest(bound), bound) for bound in present)
    return size, error + 2 * UNIT * size


def _largest(bound: Any) -> Any:
    """Return the largest of the examples, shape (k, 1) or (1,)."""
    return np.max(np.atleast_1d(bound), axis=-1, keepdims=True)


def _multiplied(value: Bounds, factors: np.ndarray) -> Bounds:
    """Both examples of a pair have a factor: theirs, (k, n), are given times the largest of all."""
    size, error = value[0] * factors, value[1] * factors
    return size, error + 2 * UNIT * size


def _radial(value: Bounds, gamma: Any) -> Bounds:
    """exp(gamma (k - 1)) of a value up to 1."""
    return 1.0, np.minimum(gamma * value[1], 1.0) + (1 + gamma) * UNIT


_READ: dict[str, Callable[..., Bounds]] = {
    "copy": lambda plane: (plane.size, plane.error),
    "exp": _exponential,
    "power": _power,
}
_JOINED: dict[str, Callable[..., Bounds]] = {"mul": _product, "add": _sum}
_CHANGED: dict[str, Callable[..., Bounds]] = {
    "scale": lambda value, factor: (abs(factor) * value[0], abs(factor) * value[1]),
    "unit": _unit,
    "center": _centred,
    "exponential": _radial,
}
