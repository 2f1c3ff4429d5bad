"""Cuts: affine lower bounds of J(theta), the optimal value of the inner problem.

J(theta) >= linear_t - 1/2 theta . s_t      for every feasible alpha_t, optimal or not

The bound is the dual value of alpha_t under weights theta: s_t are its squared block norms, and
linear_t is the part without them, minus the conjugate of the risk.
"""

from __future__ import annotations

import numpy as np

from ...norms import Norm
from .master import Master

PATIENCE = 30  # iterations after which an inactive cut is dropped
ACTIVE = 1e-6  # distance from the largest cut, in units of the scale, below which a cut is active


class Cuts:
    """T cuts linear_t - 1/2 theta . s_t: lower bounds of the inner optimal value at weights theta.

    Attributes
    ----------
    linear : ndarray of shape (T,)
        Values of the cuts at theta = 0.
    s : ndarray of shape (T, M)
        Squared block norms of each alpha.
    idle : ndarray of shape (T,)
        Iterations since each cut was active.
    """

    def __init__(self) -> None:
        self._largest = 0.0
        self.linear, self.s = np.empty(0), np.empty((0, 0))
        self.idle = np.empty(0, dtype=int)

    def add(self, linear: float, s: np.ndarray) -> None:
        """Add the cut of an alpha with squared block norms s, shape (M,)."""
        self._largest = self._largest or max(abs(linear), float(s.max()))
        self.linear = np.append(self.linear, linear)
        self.s = np.vstack([self.s.reshape(-1, len(s)), s])
        self.idle = np.append(self.idle, 0)

    @property
    def scale(self) -> float:
        """Size of the first nonzero cut, or 1: dividing by it makes coefficients about 1."""
        return self._largest or 1.0

    def retire(self, *points: np.ndarray) -> np.ndarray:
        """Drop the cuts that have been inactive for many iterations, and return their positions.

        Parameters
        ----------
        *points : ndarrays of shape (M,)
            Weights at which a cut may be active.
        """
        values = self.linear[:, None] - 0.5 * self.s @ np.transpose(points)
        active = np.any(values >= values.max(axis=0) - ACTIVE * self.scale, axis=1)
        self.idle = np.where(active, 0, self.idle + 1)
        keep = self.idle < PATIENCE
        self.linear, self.s, self.idle = self.linear[keep], self.s[keep], self.idle[keep]
        return np.flatnonzero(~keep)

    def lowest(self, norm: Norm) -> tuple[np.ndarray, float]:
        """Return the feasible weights that minimise the largest cut, and the minimum.

        Returns
        -------
        theta : ndarray of shape (M,)
        value : float
            A lower bound of the optimal value of the problem.
        """
        M = self.s.shape[1]
        rows, ends = self.rows(), -self.linear / self.scale
        rows = np.hstack([rows, np.full((len(rows), 1), -1.0)])
        lower = np.append(np.zeros(M), -np.inf)
        slope, start = np.append(np.zeros(M), 1.0), 0.9 * norm.start(M)
        master = Master(norm, 1e-13 * np.eye(M + 1), slope, lower, rows, ends)
        above = np.append(start, np.max(rows[:, :M] @ start - ends) + 0.1)
        v = master.minimise(above, start, np.arange(M))
        theta = v[:M] / norm.value(v[:M])
        return theta, float(np.max(self.linear - 0.5 * self.s @ theta))

    def rows(self) -> np.ndarray:
        """Return the slopes of the scaled cuts, shape (T, M)."""
        return -0.5 * self.s / self.scale
