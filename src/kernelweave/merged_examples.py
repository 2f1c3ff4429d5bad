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

from .core import _core
from .kernels import CompiledKernels, Kernel
from .kernels.tables import Dense, Sparse
from .problem import Problem


def mergeable(kernels: Sequence[Kernel], X: Any) -> bool:
    """Return whether equal rows of X are equal examples: numbers, but not similarities."""
    numbers = sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")
    return numbers and "given" not in CompiledKernels(tuple(kernels)).kinds


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
        side = _core.Side(X.shape[0])
        (Sparse.of(X) if sp.issparse(X) else Dense(np.ascontiguousarray(X))).add_to(side)
        prints = side.fingerprints()
        order = np.lexsort((targets, prints[:, 1], prints[:, 0]))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (prints[order[1:]] != prints[order[:-1]]).any(axis=1)
        new[1:] |= targets[order[1:]] != targets[order[:-1]]
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
        return replace(problem, y=problem.y[self.chosen], C=total)

    def expand(self, alpha: np.ndarray) -> np.ndarray:
        """Return the alphas of all examples: equal ones divide theirs by their costs.

        Examples are the last axis of both, k and n long.
        """
        return alpha[..., self.kind] * self.shares
