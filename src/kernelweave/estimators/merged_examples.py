"""Merging of equal examples into one dual variable.

Equal rows with equal targets share one dual variable; its cost is the sum of their costs. Examples
with cost 0 are left out. Merging reduces the size of the problem. The merged examples are sorted,
so that the solution depends on the set of examples only: a weight of 2 is the same as two equal
examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.core import _core
from ..common.types import Data
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Dense, Sparse
from ..problem.problem import Problem

AT_A_TIME = 4096  # rows compared at a time


def mergeable(kernels: Sequence[Kernel], X: Data) -> bool:
    """Return whether equal rows of X are equal examples for all kernels.

    X must be numbers. Precomputed kernels and the identity are excluded, since they distinguish
    equal rows.
    """
    numbers = sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")
    return numbers and CompiledKernels(tuple(kernels)).kinds.isdisjoint({"given", "identity"})


def fingerprints(X: Any) -> np.ndarray:
    """Return two 64-bit hash values for each row, shape (n, 2)."""
    side = _core.Side(X.shape[0])
    (Sparse.of(X) if sp.issparse(X) else Dense(np.ascontiguousarray(X))).add_to(side)
    return side.fingerprints()


def resolve_collisions(X: Data, order: np.ndarray, new: np.ndarray) -> None:
    """Compare rows with equal hash values; correct `order` and `new` in place if rows differ.

    Parameters
    ----------
    X : array or CSR matrix with n rows
    order : ndarray of shape (n,)
        Indices of rows, sorted by hash values and targets.
    new : ndarray of shape (n,)
        Whether a row, in this order, differs from the one before.
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
        return np.diff(different.tocsr().indptr) > 0
    return different.any(axis=1)


def content(X: Any, i: int) -> bytes:
    """Return the content of row i as bytes, which are equal for equal rows only."""
    if not sp.issparse(X):
        return bytes((X[i] + 0.0).tobytes())  # turns -0.0 into 0.0
    row = X[[i]].tocsr()
    row.sum_duplicates()
    row.eliminate_zeros()
    return row.indices.astype(np.int64).tobytes() + row.data.tobytes()


@dataclass(frozen=True, eq=False)
class MergedExamples:
    """The k distinct examples of a data set.

    Attributes
    ----------
    chosen : ndarray of shape (k,)
        Index of one example of each group of equal ones.
    kind : ndarray of shape (n,)
        Group of each example.
    shares : ndarray of shape (n,)
        Cost of each example, as a fraction of the cost of its group.
    """

    chosen: np.ndarray
    kind: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, X: Data, targets: np.ndarray, costs: np.ndarray) -> MergedExamples | None:
        """Return the distinct examples, or None if all rows are distinct and have the same cost.

        Parameters
        ----------
        X : array or CSR matrix of numbers with n rows
        targets : ndarray of shape (n,)
            Rows with different targets are not merged.
        costs : ndarray of shape (n,), >= 0

        Returns
        -------
        MergedExamples or None
        """
        prints = fingerprints(X)
        order = np.lexsort((targets, prints[:, 1], prints[:, 0]))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (prints[order[1:]] != prints[order[:-1]]).any(axis=1)
        new[1:] |= targets[order[1:]] != targets[order[:-1]]
        resolve_collisions(X, order, new)
        if new.all() and np.all(costs == costs[0]):
            return None
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(new) - 1
        return cls._with_cost(order[new], kind, costs)

    @classmethod
    def _with_cost(cls, chosen: np.ndarray, kind: np.ndarray, costs: np.ndarray) -> MergedExamples:
        total = np.bincount(kind, costs)
        shares = np.divide(costs, total[kind], out=np.zeros_like(costs), where=costs > 0)
        group = np.cumsum(total > 0) - 1
        # Examples without cost get any group: their share is 0.
        return cls(chosen[total > 0], np.maximum(group, 0)[kind], shares)

    def merge(self, problem: Problem) -> Problem:
        """Return a problem of n examples, with all its outputs, on the distinct examples."""
        each = problem.C.reshape(problem.n_outputs, -1)
        first = each.shape[1] * np.arange(len(each))[:, None]  # position of an output in the risk
        idx, costs = (first + self.chosen).ravel(), np.concatenate([self.summed(C) for C in each])
        return replace(problem, risk=problem.risk.taken(idx, costs))

    def summed(self, costs: np.ndarray) -> np.ndarray:
        """Return the cost of each distinct example, shape (k,), from those of all, shape (n,)."""
        return np.bincount(self.kind, costs * (self.shares > 0), minlength=len(self.chosen))
