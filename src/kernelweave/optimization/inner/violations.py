"""KKT violations, and the selection of working sets."""

from __future__ import annotations

import numpy as np

from ...losses import DualTerm

HIGH_FRACTION = 0.6  # fraction of support vectors above which classes are taken to overlap


class Violations:
    """KKT violations of n examples.

    Increasing alpha_i changes the negative dual value at the rate up_i, decreasing it at the rate
    -down_i. If the sum of all alphas is fixed, alpha is optimal if no down exceeds an up. Without
    an intercept the sum is not fixed, and alpha is optimal if no down is positive and no up is
    negative.

    Parameters
    ----------
    term : DualTerm
        Convex conjugates of the losses of the examples.
    alpha, F : ndarrays of shape (n,)
        Dual variables and combined outputs without the bias.
    fixed_sum : bool
        Whether the sum of all alphas is fixed.

    Attributes
    ----------
    up, down : ndarrays of shape (n,)
        Right and left derivatives of the negative dual value in alpha.
    size : float
        The largest violation, max down - min up; both include 0 if the sum is not fixed.
    middle : float
        Midpoint of max down and min up; minus the bias at the optimum.
    correction : float
        Smallest change of the outputs with which alpha is optimal.
    """

    def __init__(self, term: DualTerm, alpha: np.ndarray, F: np.ndarray, *, fixed_sum: bool = True):
        down, up = term.slopes(alpha)
        self.down, self.up = down + F, up + F
        highest, lowest = float(self.down.max()), float(self.up.min())
        if fixed_sum:
            self.size = highest - lowest
            self.middle = 0.5 * (highest + lowest)
            self.correction = max(0.0, 0.5 * self.size)
        else:
            highest, lowest = max(highest, 0.0), min(lowest, 0.0)
            self.size, self.middle = highest - lowest, 0.0
            self.correction = max(highest, -lowest)
        if not np.isfinite(self.middle):
            self.middle = 0.0

    def select(self, q: int, keep: np.ndarray) -> np.ndarray:
        """Return a working set of at most q examples, sorted: those with the largest violations.

        It includes examples whose alpha should rise and examples whose alpha should fall, always
        the worst of both. Up to half of it comes from `keep`, the free examples of the last working
        set, whose alphas would otherwise oscillate.
        """
        most = min(q // 2, q - 2)
        keep = keep[np.argsort(-self.excess(keep), kind="stable")[:most]]
        rising = np.flatnonzero(self.up < self.middle)
        falling = np.flatnonzero(self.down > self.middle)
        for count in (q, q // 2, (q - len(keep)) // 2):  # first as many as fit
            rising = _first(rising, self.up, count)
            falling = _first(falling, -self.down, count)
            chosen = self._mask(keep, rising, falling)
            if np.count_nonzero(chosen) <= q:
                break
        return np.flatnonzero(chosen)

    def _mask(self, *members: np.ndarray) -> np.ndarray:
        """Return a mask, shape (n,), of the examples in any of some index arrays."""
        mask = np.zeros(len(self.up), dtype=bool)
        for some in members:
            mask[some] = True
        return mask

    def __len__(self) -> int:
        return len(self.up)

    def stay_bounded(self, slack: float) -> np.ndarray:
        """Return a mask of bounded examples that stay bounded if outputs change by `slack`."""
        low, high = np.isneginf(self.down), np.isposinf(self.up)
        return (low & (self.up > self.middle + slack)) | (high & (self.down < self.middle - slack))

    def excess(self, idx: np.ndarray) -> np.ndarray:
        """Return the KKT violation of the examples idx at the multiplier `middle`; < 0 if none."""
        return np.maximum(self.down[idx] - self.middle, self.middle - self.up[idx])


def strictly_inside(term: DualTerm, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return a mask of the free examples among idx: alpha is strictly between its bounds."""
    return (alpha[idx] > term.lo[idx]) & (alpha[idx] < term.hi[idx])


def every_kth(y: np.ndarray, k: int) -> np.ndarray:
    """Return every k-th example of each sign of the target, sorted.

    So a rare class has the same fraction of examples as the others.
    """
    kinds = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    return np.sort(np.concatenate([members[::k] for members in kinds]))


def mostly_support(alpha: np.ndarray) -> bool:
    """Return whether the fraction of support vectors is high: the classes overlap."""
    return bool(np.count_nonzero(alpha) > HIGH_FRACTION * len(alpha))


def _first(idx: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` members of idx with the smallest values."""
    if len(idx) <= count:
        return idx
    return idx[np.argpartition(values[idx], count)[:count]]
