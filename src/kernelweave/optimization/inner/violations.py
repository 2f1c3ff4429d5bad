"""Which examples to work on next."""

from __future__ import annotations

import numpy as np

from ...losses import DualTerm

MOST_SUPPORT = 0.6  # part of the examples that is most of them


class Violations:
    """How far each alpha is from where it should be.

    Moving alpha_i up changes the (negative) dual value at the rate up_i, moving it down at the rate
    -down_i. The sum of all alphas is fixed, so alpha is optimal when no down exceeds an up.

    Parameters
    ----------
    term : the dual terms of n examples.
    alpha, F : arrays of shape (n,)
        The alphas and the combined outputs without the bias.
    """

    def __init__(self, term: DualTerm, alpha: np.ndarray, F: np.ndarray):
        down, up = term.slopes(alpha)
        self.down, self.up = down + F, up + F
        highest, lowest = float(self.down.max()), float(self.up.min())
        self.size = highest - lowest
        self.middle = 0.5 * (highest + lowest)
        if not np.isfinite(self.middle):
            self.middle = 0.0

    def select(self, q: int, keep: np.ndarray) -> np.ndarray:
        """Return at most q examples, sorted: those that want most to rise and to fall.

        Up to half of the room goes to `keep`, the examples of the last turn that are strictly
        between their bounds: dropping them lets them oscillate. The worst pair always has its room.
        """
        most = min(q // 2, q - 2)
        keep = keep[np.argsort(-self.excess(keep), kind="stable")[:most]]
        rising = np.flatnonzero(self.up < self.middle)
        falling = np.flatnonzero(self.down > self.middle)
        for count in (q, q // 2, (q - len(keep)) // 2):  # all of them, if there is room
            rising = _first(rising, self.up, count)
            falling = _first(falling, -self.down, count)
            chosen = self._mask(keep, rising, falling)
            if np.count_nonzero(chosen) <= q:
                break
        return np.flatnonzero(chosen)

    def _mask(self, *members: np.ndarray) -> np.ndarray:
        """Return which examples are among some, shape (n,)."""
        mask = np.zeros(len(self.up), dtype=bool)
        for some in members:
            mask[some] = True
        return mask

    def settled(self, slack: float) -> np.ndarray:
        """Return which examples sit at a bound and would stay there if outputs moved by `slack`."""
        low, high = np.isneginf(self.down), np.isposinf(self.up)
        settled: np.ndarray = (low & (self.up > self.middle + slack)) | (
            high & (self.down < self.middle - slack)
        )
        return settled

    def excess(self, idx: np.ndarray) -> np.ndarray:
        """Return how far examples are beyond the middle; negative for those that agree with it."""
        excess: np.ndarray = np.maximum(self.down[idx] - self.middle, self.middle - self.up[idx])
        return excess


def strictly_inside(term: DualTerm, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return which of the examples idx have their alpha strictly between its bounds."""
    inside: np.ndarray = (alpha[idx] > term.lo[idx]) & (alpha[idx] < term.hi[idx])
    return inside


def every_kth(y: np.ndarray, k: int) -> np.ndarray:
    """Return every k-th example of each kind, sorted.

    Kinds are told apart by the sign of the target, so that a rare class is not missed.
    """
    kinds = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    return np.sort(np.concatenate([members[::k] for members in kinds]))


def is_crowded(alpha: np.ndarray) -> bool:
    """Return whether most examples are support."""
    return bool(np.count_nonzero(alpha) > MOST_SUPPORT * len(alpha))


def _first(idx: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` members of idx with the smallest values."""
    if len(idx) <= count:
        return idx
    return idx[np.argpartition(values[idx], count)[:count]]
