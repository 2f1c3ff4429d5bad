"""The linear system behind every method that moves alphas between their bounds.

    (K + diag(d)) x + b = right,      sum x = total

Alphas whose conditions of optimality are linearised obey it: their sum is fixed, and b is the bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve


class Saddle:
    """The system with a kernel K, shape (q, q), and a diagonal d, (q,), factorised.

    Raises
    ------
    scipy.linalg.LinAlgError : where K + diag(d) is not positive definite.
    """

    def __init__(self, kernel: np.ndarray, diagonal: np.ndarray):
        q = len(kernel)
        system = kernel.copy()
        system.flat[:: q + 1] += diagonal
        self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        self._level = self._solve(np.ones(q))

    def solve(self, right: np.ndarray, total: float = 0.0) -> tuple[np.ndarray, Any]:
        """Return x and b for one right side, shape (q,), or for k of them, (q, k)."""
        x = self._solve(right)
        b = (x.sum(axis=0) - total) / self._level.sum()
        return x - np.multiply.outer(self._level, b), b

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return cho_solve(self._factor, right, check_finite=False)
