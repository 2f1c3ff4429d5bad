"""Comparable pairs of censored times, and sums over some of them without listing them.

A pair (j, i) is comparable if j is an event, and i is later: its time is larger, or equal and
censored. The pairs with F_j - 1 < F_i are the active ones. Sums over them are counts of dominated
points in two dimensions, time and output. A binary tree over the times splits them into log n
levels of sums over ranges (Lee and Lin, 2014, and Poelsterl et al., 2015, use search trees).
All levels are arrays: O(n log^2 n) to sort them once for F, O(n log n) for every sum. For a few
hundred examples a matrix of all pairs is faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..common.cached_property import cached_property

FEW_PLACES = 1000  # events plus examples up to which a matrix of pairs is faster than a tree


@dataclass(frozen=True, eq=False)
class ComparablePairs:
    """The comparable pairs of n examples, as one sequence of L positions.

    Every example that counts has a position as the later one of its pairs. An event has a second
    position, as the earlier one. The sequence is sorted so that the pairs of an event are all
    "later" positions after its "earlier" position.

    Attributes
    ----------
    example : ndarray of shape (L,)
        The example at each position.
    earlier : ndarray of bool, shape (L,)
        Whether the position belongs to an event as the earlier one of its pairs.
    """

    example: np.ndarray
    earlier: np.ndarray

    @classmethod
    def of(cls, time: np.ndarray, event: np.ndarray, counts: np.ndarray) -> ComparablePairs:
        """Return the pairs of the examples with a True in `counts`; arrays have shape (n,)."""
        later, first = np.flatnonzero(counts), np.flatnonzero(counts & event)
        example = np.concatenate([later, first])
        earlier = np.repeat([False, True], [len(later), len(first)])
        # At one time: events as later ones, then as earlier ones, then censored examples.
        rank = np.where(earlier, 1, np.where(event[example], 0, 2))
        order = np.lexsort((rank, time[example]))
        return cls(example[order], earlier[order])

    def number(self) -> int:
        """Return the number of comparable pairs."""
        return int(np.sum(np.cumsum(~self.earlier[::-1])[::-1][self.earlier]))

    @cached_property
    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        """The events that count, shape (q,), and which examples are later, shape (q, n)."""
        events = self.example[self.earlier]
        later = np.zeros((len(events), int(self.example.max(initial=-1)) + 1), dtype=bool)
        for row, place in enumerate(np.flatnonzero(self.earlier)):
            after = self.example[place:]
            later[row, after[~self.earlier[place:]]] = True
        return events, later

    def active(self, F: np.ndarray) -> ActivePairs:
        """Return the active pairs of outputs F, shape (n,)."""
        return MatrixOfPairs(self, F) if len(self.example) <= FEW_PLACES else TreeOfPairs(self, F)


class ActivePairs(ABC):
    """The pairs with F_j - 1 < F_i, ready for sums."""

    @abstractmethod
    def over_later(self, values: np.ndarray) -> np.ndarray:
        """Return for each earlier event the sum of values, shape (n,), of its active later ones."""

    @abstractmethod
    def over_earlier(self, values: np.ndarray) -> np.ndarray:
        """Return for each example the sum of values, shape (n,), of its active earlier events."""


class MatrixOfPairs(ActivePairs):
    """Active pairs as a matrix.

    Parameters
    ----------
    pairs : ComparablePairs
    F : ndarray of shape (n,)
    """

    def __init__(self, pairs: ComparablePairs, F: np.ndarray):
        self._n, (self._events, later) = len(F), pairs.matrix
        self._known = later.shape[1]  # examples after these do not count
        close = F[self._events, None] - 1.0 < F[None, : self._known]
        self._active = (later & close).astype(float)

    def over_later(self, values: np.ndarray) -> np.ndarray:
        sums = np.zeros(self._n)
        sums[self._events] = self._active @ values[: self._known]
        return sums

    def over_earlier(self, values: np.ndarray) -> np.ndarray:
        sums = np.zeros(self._n)
        sums[: self._known] = values[self._events] @ self._active
        return sums


class TreeOfPairs(ActivePairs):
    """Active pairs as ranges of a binary tree over the times.

    Parameters
    ----------
    pairs : ComparablePairs
    F : ndarray of shape (n,)
    """

    def __init__(self, pairs: ComparablePairs, F: np.ndarray):
        self._pairs, self._n = pairs, len(F)
        places = len(pairs.example)
        by_key = np.argsort(F[pairs.example] - pairs.earlier, kind="stable")
        self._levels = []
        width = 1
        while width < places:
            half = by_key // width
            # Earlier ones in left halves meet later ones in right halves of the same node.
            meets = (half % 2 == 0) == pairs.earlier[by_key]
            chosen, node = by_key[meets], half[meets] // 2
            order = np.argsort(node, kind="stable")
            self._levels.append(_Level.of(chosen[order], node[order], pairs))
            width *= 2

    def over_later(self, values: np.ndarray) -> np.ndarray:
        sums = np.zeros(self._n)
        for level in self._levels:
            total = _cumulated(np.where(level.earlier, 0.0, values[level.example]))
            at = level.earlier
            found = total[level.end[at]] - total[np.flatnonzero(at)]
            np.add.at(sums, level.example[at], found)
        return sums

    def over_earlier(self, values: np.ndarray) -> np.ndarray:
        sums = np.zeros(self._n)
        for level in self._levels:
            total = _cumulated(np.where(level.earlier, values[level.example], 0.0))
            at = ~level.earlier
            found = total[np.flatnonzero(at)] - total[level.start[at]]
            np.add.at(sums, level.example[at], found)
        return sums


@dataclass(frozen=True, eq=False)
class _Level:
    """Positions of one level of the tree, sorted by node, then by output.

    Attributes
    ----------
    example : ndarray of shape (k,)
    earlier : ndarray of bool, shape (k,)
    start, end : ndarrays of shape (k,)
        First position of the node to which each position belongs, and the one after its last.
    """

    example: np.ndarray
    earlier: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, place: np.ndarray, node: np.ndarray, pairs: ComparablePairs) -> _Level:
        """Return the level with these positions and their nodes, both of shape (k,)."""
        start = np.searchsorted(node, node, side="left")
        end = np.searchsorted(node, node, side="right")
        return cls(pairs.example[place], pairs.earlier[place], start, end)


def _cumulated(values: np.ndarray) -> np.ndarray:
    """Return the sums of the first 0, 1, ..., k values."""
    return np.concatenate([[0.0], np.cumsum(values)])
