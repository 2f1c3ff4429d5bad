"""Comparable pairs of censored times, and sums over some of them without listing them.

A pair (j, i) is comparable if j is an event and i is later: the time of i is larger, or equal and
censored. A pair is active if F_j - margin < F_i. Sums over active pairs are sums over dominated
points in two dimensions, time and output. A binary tree over the times splits them into log n
levels of sums over ranges (Lee and Lin, 2014, and Poelsterl et al., 2015, use search trees). The
levels are stored as arrays. Sorting them takes O(n log^2 n) once for each F; every sum then takes
O(n log n). For a few hundred examples a matrix of all pairs is faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..common.cached_property import cached_property

FEW_PLACES = 1000  # number of events plus examples up to which a matrix is faster than a tree


@dataclass(frozen=True, eq=False)
class ComparablePairs:
    """The comparable pairs of n examples, represented by one sorted sequence of L entries.

    Every example in use has an entry as the later example of pairs. An event has a second
    entry, as the earlier example. The order is such that the partners of an event are all "later"
    entries after its "earlier" entry.

    Attributes
    ----------
    example : ndarray of shape (L,)
        The example of each entry.
    earlier : ndarray of bool, shape (L,)
        Whether the entry is that of an event as the earlier example.
    """

    example: np.ndarray
    earlier: np.ndarray

    @classmethod
    def of(cls, time: np.ndarray, event: np.ndarray, counts: np.ndarray) -> ComparablePairs:
        """Return the pairs of the examples marked in the mask `counts`; arrays have shape (n,)."""
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
        """Indices of the q events, and a mask of the later examples of each, shape (q, k).

        k - 1 is the largest index of an example with an entry.
        """
        events = self.example[self.earlier]
        later = np.zeros((len(events), int(self.example.max(initial=-1)) + 1), dtype=bool)
        for row, place in enumerate(np.flatnonzero(self.earlier)):
            after = self.example[place:]
            later[row, after[~self.earlier[place:]]] = True
        return events, later

    def active(self, F: np.ndarray, margin: float = 1.0) -> ActivePairs:
        """Return the pairs (j, i), i later than j, with F_j - margin < F_i; F has shape (n,)."""
        kind = MatrixOfPairs if len(self.example) <= FEW_PLACES else TreeOfPairs
        return kind(self, F, margin)


class ActivePairs(ABC):
    """Pairs (j, i) of an event j and a later i with F_j - margin < F_i, and sums over them."""

    @abstractmethod
    def over_later(self, values: np.ndarray) -> np.ndarray:
        """Return for each event j the sum of values_i over active pairs (j, i), shape (n,).

        `values` has shape (n,). The sums of censored examples are 0.
        """

    @abstractmethod
    def over_earlier(self, values: np.ndarray) -> np.ndarray:
        """Return for each example i the sum of values_j over active pairs (j, i), shape (n,)."""


class MatrixOfPairs(ActivePairs):
    """Active pairs as a matrix of zeros and ones; for few examples.

    Parameters
    ----------
    pairs : ComparablePairs
        All comparable pairs.
    F : ndarray of shape (n,)
        Outputs.
    margin : float
        A pair (j, i) of an event j and a later i is active if F_j - margin < F_i.
    """

    def __init__(self, pairs: ComparablePairs, F: np.ndarray, margin: float = 1.0):
        self._n, (self._events, later) = len(F), pairs.matrix
        self._known = later.shape[1]  # examples from this index on are in no pair
        close = F[self._events, None] - margin < F[None, : self._known]
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

    Each node of the tree has a list of the earlier events in its left half and of the later
    examples in its right half, sorted by output. The partners of an earlier event are the later
    examples behind it in the list. The partners of a later example are the earlier events before
    it.

    Parameters
    ----------
    pairs : ComparablePairs
        All comparable pairs.
    F : ndarray of shape (n,)
        Outputs.
    margin : float
        A pair (j, i) of an event j and a later i is active if F_j - margin < F_i.
    """

    def __init__(self, pairs: ComparablePairs, F: np.ndarray, margin: float = 1.0):
        self._n = len(F)
        by_key = np.argsort(F[pairs.example] - margin * pairs.earlier, kind="stable")
        places, nodes, width, count = [], [], 1, 0
        while width < len(pairs.example):
            half = by_key // width
            meets = (half % 2 == 0) == pairs.earlier[by_key]
            chosen, node = by_key[meets], half[meets] // 2
            order = np.argsort(node, kind="stable")
            places.append(chosen[order])
            nodes.append(node[order] + count)  # all nodes of all levels have different numbers
            count += len(pairs.example) // (2 * width) + 1
            width *= 2
        place, node = (np.concatenate([*parts, np.empty(0, int)]) for parts in (places, nodes))
        earlier = pairs.earlier[place]
        self._earlier = _Partners.of(pairs.example[place], node, earlier, ahead=True)
        self._later = _Partners.of(pairs.example[place], node, ~earlier, ahead=False)

    def over_later(self, values: np.ndarray) -> np.ndarray:
        return self._earlier.sums(self._later, values, self._n)

    def over_earlier(self, values: np.ndarray) -> np.ndarray:
        return self._later.sums(self._earlier, values, self._n)


@dataclass(frozen=True, eq=False)
class _Partners:
    """Entries of one kind in the lists of a `TreeOfPairs`, each with the range of its partners.

    The two kinds are earlier events and later examples. The partners of an entry are consecutive
    entries of the other kind.

    Attributes
    ----------
    example : ndarray of shape (k,)
        Index of the example of each entry.
    start, end : ndarrays of shape (k,)
        Positions of the first partner, and behind the last one, among the other kind.
    """

    example: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(
        cls, example: np.ndarray, node: np.ndarray, mine: np.ndarray, *, ahead: bool
    ) -> _Partners:
        """Return the entries of one kind with their partners.

        Parameters
        ----------
        example, node : ndarrays of int
            Example and node of each entry of all lists.
        mine : ndarray of bool
            Whether an entry is of this kind.
        ahead : bool
            Whether its partners come after it in the list of its node, or before it.
        """
        others = np.concatenate([[0], np.cumsum(~mine)])  # number of the other kind before a place
        here = others[np.flatnonzero(mine)]
        limit = np.searchsorted(node, node[mine], side="right" if ahead else "left")
        start, end = (here, others[limit]) if ahead else (others[limit], here)
        return cls(example[mine], start, end)

    def sums(self, others: _Partners, values: np.ndarray, n: int) -> np.ndarray:
        """Return for each example the sum, shape (n,), of the values, (n,), of its partners."""
        total = np.concatenate([[0.0], np.cumsum(values[others.example])])
        return np.bincount(self.example, total[self.end] - total[self.start], minlength=n)
