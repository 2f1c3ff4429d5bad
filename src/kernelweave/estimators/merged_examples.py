"""Equal examples are one variable.

Equal rows with equal targets can share one alpha, whose cost is the sum of theirs; an example
without cost has none. Merging them makes a problem smaller, and giving the rest an order of their
own makes the solution depend on the set of examples alone: a weight of 2 is exactly an example that
occurs twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.core import _core
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Dense, Sparse
from ..problem.problem import Problem

AT_A_TIME = 4096  # rows that are compared


def mergeable(kernels: Sequence[Kernel], X: Any) -> bool:
    """Return whether equal rows of X are equal examples: numbers, but not similarities.

    A kernel may also tell equal rows apart.
    """
    numbers = sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")
    return numbers and CompiledKernels(tuple(kernels)).kinds.isdisjoint({"given", "identity"})


def fingerprints(X: Any) -> np.ndarray:
    """Return two 64-bit numbers for each row, (n, 2), that are equal for equal rows."""
    side = _core.Side(X.shape[0])
    (Sparse.of(X) if sp.issparse(X) else Dense(np.ascontiguousarray(X))).add_to(side)
    return side.fingerprints()


def tell_apart(X: Any, order: np.ndarray, new: np.ndarray) -> None:
    """Compare rows with equal fingerprints, and correct order and kinds where rows differ.

    Parameters
    ----------
    X : array or CSR matrix with n rows.
    order : (n,) rows, those with equal fingerprints and targets next to each other; changed.
    new : (n,) whether a row of that order is of another kind than the one before; changed.
    """
    alike = np.flatnonzero(~new)
    differ = np.concatenate(
        [
            rows_differ(X, order[some], order[some - 1])
            for some in np.array_split(alike, len(alike) // AT_A_TIME + 1)
        ]
    )
    if not differ.any():
        return
    starts, ends = np.flatnonzero(new), np.append(np.flatnonzero(new)[1:], len(new))
    for group in np.unique(np.searchsorted(starts, alike[differ], side="right") - 1):
        inside = slice(starts[group], ends[group])
        contents = sorted((content(X, i), i) for i in order[inside])
        order[inside] = [i for _, i in contents]
        pairs = zip(contents[1:], contents[:-1], strict=True)
        new[inside] = [True, *(one[0] != before[0] for one, before in pairs)]


def rows_differ(X: Any, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return whether row first[i] of X differs from row second[i], shape (len(first),)."""
    different = X[first] != X[second]
    if sp.issparse(X):
        rows: np.ndarray = np.diff(different.tocsr().indptr) > 0
        return rows
    unequal: np.ndarray = different.any(axis=1)
    return unequal


def content(X: Any, i: int) -> bytes:
    """Return bytes that are equal for equal rows, and only for those."""
    if not sp.issparse(X):
        return bytes((X[i] + 0.0).tobytes())  # zeros have no sign
    row = X[[i]].tocsr()
    row.sum_duplicates()
    row.eliminate_zeros()
    packed: bytes = row.indices.astype(np.int64).tobytes() + row.data.tobytes()
    return packed


@dataclass(frozen=True, eq=False)
class MergedExamples:
    """The distinct examples of a data set.

    Attributes
    ----------
    chosen : one example of each kind, shape (k,).
    kind : which of them each example is equal to, shape (n,).
    shares : the part of its kind's cost that each example has, shape (n,).
    """

    chosen: np.ndarray
    kind: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, X: Any, targets: np.ndarray, costs: np.ndarray) -> MergedExamples | None:
        """Find the distinct rows; None where each occurs once and costs the same.

        Parameters
        ----------
        X : array or CSR matrix of numbers with n rows.
        targets : what must be equal besides the rows, shape (n,).
        costs : shape (n,), at least 0.
        """
        prints = fingerprints(X)
        order = np.lexsort((targets, prints[:, 1], prints[:, 0]))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (prints[order[1:]] != prints[order[:-1]]).any(axis=1)
        new[1:] |= targets[order[1:]] != targets[order[:-1]]
        tell_apart(X, order, new)
        if new.all() and np.all(costs == costs[0]):
            return None
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(new) - 1
        return cls._with_cost(order[new], kind, costs)

    @classmethod
    def _with_cost(cls, chosen: np.ndarray, kind: np.ndarray, costs: np.ndarray) -> MergedExamples:
        total = np.bincount(kind, costs)
        shares = np.divide(costs, total[kind], out=np.zeros_like(costs), where=costs > 0)
        kept = np.cumsum(total > 0) - 1
        # An example without cost may point anywhere: its share is zero.
        return cls(chosen[total > 0], np.maximum(kept, 0)[kind], shares)

    def merge(self, problem: Problem) -> Problem:
        """Return the problem of the distinct examples."""
        total = np.bincount(self.kind, problem.C * (self.shares > 0), minlength=len(self.chosen))
        return replace(problem, risk=problem.risk.taken(self.chosen, total))
