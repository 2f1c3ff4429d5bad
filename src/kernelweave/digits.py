"""How far rounding may move what kernels give: outputs, energies, and so a certificate.

An operation on floating point numbers errs by UNIT at most, relative to its result. A sum of N
terms errs by about sqrt(N) UNIT times the sum of their sizes: the worst case, N instead of sqrt(N),
does not happen unless errors conspire (Higham and Mary, 2019). Followed through the expression of
a kernel this gives, for each example i, a bound e(i) such that k(x_i, x_j) errs by less than
(e(i) + e(j)) / 2. With the way that each alpha has gone since outputs were computed anew it bounds
their errors, and with the alphas those of s.

All that is nothing unless examples differ in the last digits of k only, as they do where widths are
far above the scale of the data, where data are far from the origin, and where alphas are so large
that outputs are small differences of large numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cached_property import cached_property
from .core import _core
from .engines import TrainingSet
from .kernels.examples import Examples
from .kernels.program import Expression, Listing, chains
from .kernels.tables import Dense, Sparse

UNIT = float(np.finfo(float).eps) / 2
LOOKED_AT = 100  # strings whose similarity to themselves is taken for that of all

# The size of the values of a kernel, and of their errors: numbers, or of shape (n,).
Bounds = tuple[Any, Any]


def rounding(alpha: np.ndarray, theta: np.ndarray, sizes: np.ndarray, primal: float) -> float:
    """Return how far rounding is likely to move a relative gap, roughly.

    Parameters
    ----------
    alpha : array of shape (n,)
    theta, sizes : arrays of shape (M,)
        Weights, and largest values of the kernels.
    primal : what the gap is relative to.
    """
    pairs = np.abs(alpha).sum() * np.sqrt(alpha @ alpha)
    with np.errstate(over="ignore"):
        share = pairs / max(abs(primal), np.finfo(float).tiny)
        return float(2 * UNIT * (theta @ sizes) * share)


@dataclass(frozen=True, eq=False)
class Digits:
    """The rounding of M kernels on n examples.

    Parameters
    ----------
    kernels : the kernels.
    examples : the examples.
    precision : how exactly an engine evaluates kernels, relative to their largest values.
    """

    kernels: Listing
    examples: Examples
    precision: float = UNIT

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
        Arrays of shape (outputs, n) and the shape of theta. A kernel without weight is taken for
        the worst of those with one.
        """
        n, size = alpha.shape[1], np.abs(alpha)
        weights = np.broadcast_to(theta, self.kernels.n_kernels)
        errors, energies = np.zeros(n), np.zeros(len(weights))
        way, sizes = travel.sum(axis=1), size.sum(axis=1)
        for m in np.flatnonzero(weights):
            error = np.broadcast_to(self.errors(m), n)
            errors += weights[m] * error
            energies[m] = 0.5 * float((size @ error) @ way + sizes @ (travel @ error))
        outputs = 0.5 * (np.outer(way, errors) + (travel @ errors)[:, None])
        if len(theta) < len(weights):
            return outputs, energies.sum(keepdims=True)
        return outputs, np.where(weights != 0, energies, energies.max())

    def errors(self, m: int) -> Any:
        """Return by how much values of kernel m may be wrong once they are added up, e(i)."""
        size, error = _followed(self.kernels.expressions[m], self._planes)
        squared = 2.0 ** self._squarings[m] * UNIT
        added = (1 + np.sqrt(self.examples.n)) * UNIT
        return error + (self.precision + squared + added) * size

    @cached_property
    def _squarings(self) -> list[int]:
        """How often an exponential was squared for each kernel: the error doubles each time."""
        return [step for chain in chains(self.kernels.expressions) for step in range(len(chain))]

    @cached_property
    def _planes(self) -> dict[int, Bounds]:
        """The bounds of the shared quantities, by the number of their plane."""
        layout, found = self.kernels.layout, {}
        ends = [*layout.sources.values(), layout.n_planes][1:]
        tables = [self.examples.tables[position] for position in self.examples.sources]
        starts = zip(layout.sources.items(), ends, tables, strict=True)
        for ((kind, _), first), end, table in starts:
            if isinstance(table, Dense | Sparse):
                found[first] = _of_vectors(str(kind), table)
            else:
                found.update(zip(range(first, end), self._on_diagonal(first, end), strict=True))
        return found

    def _on_diagonal(self, first: int, end: int) -> list[Bounds]:
        """Return bounds of planes from the similarity of examples to themselves."""
        copies: list[Expression] = [(("copy", plane),) for plane in range(first, end)]
        some = np.unique(np.linspace(0, self.examples.n - 1, LOOKED_AT).astype(np.int64))
        whole = TrainingSet(Listing(self.kernels.layout, copies), self.examples.take(some))
        part = whole.part(np.arange(end - first))
        largest = _core.diagonal(part.kernels.program, part.examples.side).max(axis=1)
        return [(size, UNIT * size) for size in largest]


def _of_vectors(kind: str, table: Dense | Sparse) -> Bounds:
    """Return bounds of a shared quantity of vectors, each of shape (n,)."""
    squares, terms = _squared_norms(table)
    growth = (1 + np.sqrt(terms)) * UNIT
    if kind == "dot":
        return squares, growth * squares
    if kind == "sqdist":  # ||x||^2 + ||y||^2 - 2 x . y
        return 4 * squares, growth * 4 * squares
    sums = 2 * np.sqrt(terms * squares)  # no less than sum |x_f| + sum |y_f|, taken together
    return sums, growth * sums


def _squared_norms(table: Dense | Sparse) -> tuple[np.ndarray, int]:
    """Return the squared norms of vectors, shape (n,), and how many numbers they hold at most."""
    if isinstance(table, Dense):
        return np.einsum("ij,ij->i", table.values, table.values), table.values.shape[1]
    values = table.to_csr()
    most = int(np.diff(table.indptr).max(initial=0))
    return np.asarray(values.multiply(values).sum(axis=1)).ravel(), most


def _followed(expression: Expression, planes: dict[int, Bounds]) -> Bounds:
    """Return the bounds of what an expression gives, from those of the planes that it reads."""
    stack: list[Bounds] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for name, *arguments in expression:
            if name in _READ:
                stack.append(_READ[name](planes[arguments[0]], *arguments[1:]))
            elif name in _JOINED:
                right, left = stack.pop(), stack.pop()
                stack.append(_JOINED[name](left, right))
            else:
                stack.append(_CHANGED[name](stack.pop(), *arguments))
    return stack[0]


def _exponential(plane: Bounds, gamma: float) -> Bounds:
    return 1.0, np.minimum(gamma * plane[1], 1.0) + UNIT


def _power(plane: Bounds, gamma: float, coef0: float, degree: int) -> Bounds:
    base = gamma * plane[0] + coef0
    slope = degree * np.power(base, degree - 1.0)
    return np.power(base, float(degree)), slope * (gamma * plane[1] + 2 * UNIT * base)


def _product(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] * right[0]
    return size, left[0] * right[1] + left[1] * right[0] + UNIT * size


def _sum(left: Bounds, right: Bounds) -> Bounds:
    size = left[0] + right[0]
    return size, left[1] + right[1] + UNIT * size


def _unit(value: Bounds, slot: int) -> Bounds:
    """Both are relative to sqrt(k(x, x) k(y, y)), which a positive size is."""
    size = np.maximum(value[0], np.finfo(float).tiny)
    return 1.0, value[1] / size + 4 * UNIT


def _centred(value: Bounds, slot: int, total: float) -> Bounds:
    """Three means are taken away or added, of values of the same size."""
    return 4 * value[0], 4 * value[1] + 4 * UNIT * value[0]


_READ: dict[str, Callable[..., Bounds]] = {
    "copy": lambda plane: plane,
    "exp": _exponential,
    "power": _power,
}
_JOINED: dict[str, Callable[..., Bounds]] = {"mul": _product, "add": _sum}
_CHANGED: dict[str, Callable[..., Bounds]] = {
    "scale": lambda value, factor: (abs(factor) * value[0], abs(factor) * value[1]),
    "unit": _unit,
    "center": _centred,
}
