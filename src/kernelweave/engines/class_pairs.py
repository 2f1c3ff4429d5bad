"""The engine for pairs of classes (one against one): all pairs share kernels and examples."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core
from ..losses import DualTerm
from .base import Engine, TrainingSet
from .costs import EngineCosts
from .family import FamilyEngine

MOST_CACHE_MB = 100.0  # cache of kernel rows; half of it for rows inside a class
WORKING_SET = 512  # maximum number of examples in a working set
FRESH = 16  # maximum number of them whose kernel rows are not cached
MOST_SETS = 1000  # working sets after which a pair is given to another solver
LARGEST_PAIR = 20_000  # examples; larger two-class problems are better solved one by one


class ClassPairsEngine(Engine):
    """Engine for all pairs of classes: the examples of every pair, one pair after the other.

    Pair (a, b), a < b, consists of the examples of class a, then those of class b. Kernels between
    examples of different pairs are 0. The core evaluates the kernel rows of its working sets. Rows
    between examples of one class stay cached for the next pairs with this class.

    Parameters
    ----------
    training_set : TrainingSet
        The kernels and the n examples.
    codes : ndarray of shape (n,)
        Class of each example, from 0 to K - 1.
    n_classes : int
        K; at most one class has no examples.
    summed : bool
        Whether all kernels are treated as one kernel, their sum.

    Attributes
    ----------
    rows : list of ndarrays
        Positions of the examples of each pair among the n examples.
    """

    def __init__(
        self,
        training_set: TrainingSet,
        codes: np.ndarray,
        n_classes: int,
        *,
        summed: bool = False,
    ):
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=n_classes)
        members = np.split(order, np.cumsum(counts)[:-1])
        self.rows = [np.concatenate([members[a], members[b]]) for a, b in class_pairs(len(members))]
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        combine = FamilyEngine.serves(training_set)
        cache = int(min(training_set.cache_mb, MOST_CACHE_MB) * 2**20)
        kernels, examples = training_set.kernels, training_set.examples
        n = sum(len(rows) for rows in self.rows)
        super().__init__(n, 1 if summed else kernels.n_kernels)
        self._members, self._each = kernels.n_kernels, training_set
        if combine:
            self.precision = FamilyEngine.precision
        self._ends = np.cumsum(self.sizes)
        self._core = _core.ClassPairs(
            kernels.program, examples.take(order).side, starts, cache, training_set.n_jobs, combine
        )

    @staticmethod
    def serves(training_set: TrainingSet, codes: np.ndarray) -> bool:
        """Return whether kernels are not linear and pairs have at most `LARGEST_PAIR` examples.

        Parameters
        ----------
        training_set : TrainingSet
        codes : ndarray of shape (n,)
            Class of each example.

        Returns
        -------
        bool
        """
        largest = np.sort(np.bincount(codes))[-2:]
        return int(largest.sum()) <= LARGEST_PAIR and not training_set.kernels.is_linear

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(block=WORKING_SET, access="class pairs")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of examples of each pair."""
        return tuple(len(rows) for rows in self.rows)

    @cached_property
    def slices(self) -> list[slice]:
        """Positions of the examples of each pair in alpha."""
        ends = self._ends.tolist()
        return [slice(*both) for both in zip([0, *ends], ends, strict=False)]

    def solve(
        self,
        term: DualTerm,
        constants: np.ndarray,
        gap: float,
        theta: np.ndarray,
    ) -> np.ndarray:
        """Improve alpha of all pairs until their relative duality gaps are small.

        Parameters
        ----------
        term : DualTerm
            Convex conjugates of the losses of all pairs, quadratic on each side of 0.
        constants : ndarray of shape (n_pairs,)
            Primal value of the constant model of each pair.
        gap : float
            Relative duality gap at which a pair is solved.
        theta : ndarray of shape (M,)
            Kernel weights.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Relative duality gap of each pair, from outputs computed from scratch at the end.
        """
        self._weigh(theta)
        lin, eps, curv, ent, lo, hi = (np.ascontiguousarray(part) for part in term.arrays)
        self._combined = np.empty(self.n)
        gaps = self._core.solve(
            np.arange(len(self.rows)),
            lin,
            eps,
            curv,
            ent,
            lo,
            hi,
            constants,
            gap,
            WORKING_SET,
            FRESH,
            MOST_SETS,
            self._alpha,
            self._combined,
        )
        self._stale = False
        self.accumulated_update[:] = np.abs(self._alpha)
        return gaps

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._set(idx, values)
        self._stale = True

    def combined(self, theta: np.ndarray) -> np.ndarray:
        self._weigh(theta)
        if self._stale:
            self._combined = (
                self._core.outputs(self._alpha) if self._alpha.any() else np.zeros(self.n)
            )
            self.accumulated_update[:] = np.abs(self._alpha)
            self._stale = False
        return self._combined

    def _weigh(self, theta: np.ndarray) -> None:
        """Pass the kernel weights, shape (M,), to the core; new weights make outputs stale."""
        if not np.array_equal(theta, self._theta):
            self._core.weigh(np.ascontiguousarray(np.broadcast_to(theta, self._members)))
            self._theta, self._stale = theta.copy(), True

    def quadratic(self) -> np.ndarray:
        return self._each_kernel(np.asarray(self._core.quadratic(self._alpha)))

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        values = self.outputs_at(np.arange(self.n))
        return values if kernels is None else values[kernels]

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        values = np.empty((self._members, len(idx)))
        program, examples = self._each.kernels.program, self._each.examples
        for where, pair, some in self._split(idx):
            alpha = self._alpha[self.slices[pair]]
            support = np.flatnonzero(alpha)
            vectors, points = examples.take(self.rows[pair][support]), examples.take(some)
            coef, n_jobs = alpha[support][None], self._each.n_jobs
            values[:, where] = _core.sum_each(program, vectors.side, points.side, coef, n_jobs)[0]
        return self._each_kernel(values)

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        self._weigh(theta)
        values = np.zeros((len(idx), len(idx)))
        for where, pair, _ in self._split(idx):
            of_pair = idx[where] - self.slices[pair].start
            order = np.argsort(of_pair)
            where = where[order]
            values[np.ix_(where, where)] = self._core.block(pair, of_pair[order])
        return values

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        values = np.zeros((self._members, len(idx), len(idx)))
        for where, _, some in self._split(idx):
            side = self._each.examples.take(some).side
            each = _core.evaluate(self._each.kernels.program, side, side, self._each.n_jobs)
            values[:, where[:, None], where] = each
        return self._each_kernel(values)

    def _split(self, idx: np.ndarray) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Split positions in alpha by pair.

        Yield, for each pair: positions in `idx`, number of the pair, indices of its examples.
        """
        of_pair = np.searchsorted(self._ends, idx, side="right")
        for pair in np.unique(of_pair).tolist():
            where = np.flatnonzero(of_pair == pair)
            yield where, pair, self.rows[pair][idx[where] - self.slices[pair].start]

    def _each_kernel(self, values: np.ndarray) -> np.ndarray:
        """Return values, summed over axis 0 (the kernels) if the kernels are treated as one."""
        return values if len(values) == self.n_kernels else values.sum(axis=0, keepdims=True)

    def diagonal(self) -> np.ndarray:
        examples = self._each.examples
        each = _core.diagonal(self._each.kernels.program, examples.side)
        return self._each_kernel(np.concatenate([each[:, rows] for rows in self.rows], axis=1))

    @cached_property
    def largest_values(self) -> np.ndarray:
        """The largest k_m(x_i, x_i) of each kernel, shape (M,)."""
        return self._each_kernel(self._each.largest_values())


def pair_solver(engine: Engine) -> ClassPairsEngine:
    """Return the engine, typed as `ClassPairsEngine`; raise TypeError for other engines."""
    if not isinstance(engine, ClassPairsEngine):
        raise engine._cannot("solve pairs of classes")
    return engine


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return all pairs (a, b) of classes with a < b, in the order of the outputs.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    list of n_classes (n_classes - 1) / 2 pairs
    """
    return [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]


def n_classes_of(n_pairs: int) -> int:
    """Return the number K of classes with K (K - 1) / 2 = n_pairs pairs."""
    return (1 + math.isqrt(1 + 8 * n_pairs)) // 2
