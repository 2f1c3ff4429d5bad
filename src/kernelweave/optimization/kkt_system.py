"""The KKT system of alphas between their bounds, and the ratio test of interior point methods.

    (K + diag(d)) x + b = right,      sum x = total

Alphas whose conditions of optimality are linearised obey it: their sum is fixed, and b is the bias.

"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

# Ridges that are tried in turn until rounding leaves the system positive definite,
RIDGES = 1e-14, 1e-12, 1e-10, 1e-8  # relative to the mean diagonal

HESSIAN_RIDGE = 1e-10  # relative to it, too: keeps the system of the Hessian solvable


class KKTSystem:
    """The system with a kernel K, shape (q, q), and a diagonal d, (q,), factorised.

    Raises
    ------
    scipy.linalg.LinAlgError : where K + diag(d) is not positive definite.
    """

    def __init__(self, kernel: np.ndarray, diagonal: np.ndarray):
        q = len(kernel)
        system = kernel.copy()
        system.flat[:: q + 1] += diagonal
        # By columns, as LAPACK reads it: a symmetric matrix is its own transpose. Called by itself:
        # `cho_factor` and `cho_solve` take as long for a few hundred rows as what they do.
        self._factor, failed = dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise LinAlgError("the system is not positive definite")
        self._level = self._solve(np.ones(q))

    @classmethod
    def definite(cls, kernel: np.ndarray, diagonal: np.ndarray) -> KKTSystem:
        """Return the system with the smallest ridge with which rounding leaves it definite."""
        size = np.trace(kernel) / len(kernel)
        for ridge in RIDGES:
            try:
                return cls(kernel, diagonal + ridge * size)
            except LinAlgError:
                continue
        raise LinAlgError("the kernel has negative eigenvalues")

    def solve(self, right: np.ndarray, total: float = 0.0) -> tuple[np.ndarray, Any]:
        """Return x and b for one right side, shape (q,), or for k of them, (q, k)."""
        x = self._solve(right)
        b = (x.sum(axis=0) - total) / self._level.sum()
        return x - np.multiply.outer(self._level, b), b

    def _solve(self, right: np.ndarray) -> np.ndarray:
        solution: np.ndarray = dpotrs(self._factor, right, lower=1)[0]
        return solution


def longest_step(x: np.ndarray, dx: np.ndarray, most: float = np.inf) -> float:
    """Return the largest step, at most `most`, that leaves x + step dx >= 0: the ratio test."""
    falling = dx < 0
    return float(np.min(-x[falling] / dx[falling], initial=most))


def value_hessian(kernel: np.ndarray, curvature: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the Hessian of J(theta), shape (M, M), as far as f free examples make it.

    J is the optimal value of the inner problem with weights theta. The free alphas, those strictly
    between their bounds, satisfy conj'(alpha) + sum_m theta_m g_m + b = 0. Differentiating this in
    theta gives their rates and, since dJ/dtheta_m = -1/2 s_m, the Hessian of Chapelle and
    Rakotomamonjy (2008), here for every loss.

    Parameters
    ----------
    kernel : array of shape (f, f)
        The combined kernel of the free examples.
    curvature : array of shape (f,)
        The second derivatives of their dual terms.
    outputs : array of shape (M, f)
        Their outputs per kernel.
    """
    M, f = outputs.shape
    if f < 2:
        return np.zeros((M, M))
    system = KKTSystem(kernel, curvature + HESSIAN_RIDGE * np.trace(kernel) / f)
    rates, _ = system.solve(outputs.T)
    hessian = outputs @ rates
    return np.asarray(0.5 * (hessian + hessian.T))
