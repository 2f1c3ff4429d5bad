"""The KKT system of free alphas, and the ratio test of interior point methods.

    (K + diag(d)) x + b = right,      sum x = total

These are the linearised KKT conditions of alphas with a fixed sum; b is the bias. Without an
intercept b is 0, and the second equation is absent.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

RIDGES = 1e-14, 1e-12, 1e-10, 1e-8  # tried in this order, relative to the mean diagonal
HESSIAN_RIDGE = 1e-10  # relative to the mean diagonal: keeps the system of the Hessian regular


class KKTSystem:
    """The Cholesky factorisation of a KKT system.

    Parameters
    ----------
    kernel : ndarray of shape (q, q)
        K.
    diagonal : ndarray of shape (q,)
        d.

    Raises
    ------
    scipy.linalg.LinAlgError
        If K + diag(d) is not positive definite.
    """

    def __init__(self, kernel: np.ndarray, diagonal: np.ndarray):
        q = len(kernel)
        system = kernel.copy()
        system.flat[:: q + 1] += diagonal
        # LAPACK needs Fortran order; a symmetric matrix is its own transpose. Called directly,
        # since the overhead of `cho_factor` doubles the time for a few hundred rows.
        self._factor, failed = dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise LinAlgError("the system is not positive definite")
        self._solved_ones = self._solve(np.ones(q))

    @classmethod
    def definite(cls, kernel: np.ndarray, diagonal: np.ndarray) -> KKTSystem:
        """Return the system with the smallest ridge that makes it numerically positive definite.

        Raises
        ------
        scipy.linalg.LinAlgError
            If the system is not positive definite even with the largest ridge.
        """
        size = np.trace(kernel) / len(kernel)
        for ridge in RIDGES:
            try:
                return cls(kernel, diagonal + ridge * size)
            except LinAlgError:
                continue
        raise LinAlgError("the kernel has negative eigenvalues")

    def solve(self, right: np.ndarray, total: float | None = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return x and b for one right-hand side, shape (q,), or for k of them, (q, k).

        The sum of each x is `total`; b has shape () or (k,). If `total` is None, the sum of x is
        not fixed, and b is 0.
        """
        x = self._solve(right)
        if total is None:
            return x, np.zeros(right.shape[1:])
        b = (x.sum(axis=0) - total) / self._solved_ones.sum()
        return x - np.multiply.outer(self._solved_ones, b), b

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """Return (K + diag(d))^-1 right."""
        return dpotrs(self._factor, right, lower=1)[0]


def longest_step(x: np.ndarray, dx: np.ndarray, most: float = np.inf) -> float:
    """Return the largest step <= `most` with x + step dx >= 0 (ratio test)."""
    falling = dx < 0
    return float(np.min(-x[falling] / dx[falling], initial=most))


def value_hessian(
    kernel: np.ndarray, curvature: np.ndarray, outputs: np.ndarray, *, fixed_sum: bool = True
) -> np.ndarray:
    """Return the Hessian of J(theta), shape (M, M), from the f free examples.

    J is the optimal value of the inner problem with weights theta. The free alphas, those strictly
    between their bounds, satisfy conj'(alpha) + sum_m theta_m g_m + b = 0, where conj is the
    conjugate of the loss, g_m = K_m alpha, and b the bias. Differentiating this in theta gives
    their derivatives and, since dJ/dtheta_m = -1/2 alpha' K_m alpha, the Hessian of Chapelle and
    Rakotomamonjy (2008), here for every loss.

    Parameters
    ----------
    kernel : ndarray of shape (f, f)
        Combined kernel matrix of the free examples.
    curvature : ndarray of shape (f,)
        Second derivatives of the conjugates of their losses.
    outputs : ndarray of shape (M, f)
        Their outputs g_m under each kernel.
    fixed_sum : bool
        Whether the sum of the alphas is fixed; False without an intercept.
    """
    M, f = outputs.shape
    if f < (2 if fixed_sum else 1):
        return np.zeros((M, M))
    system = KKTSystem(kernel, curvature + HESSIAN_RIDGE * np.trace(kernel) / f)
    derivatives, _ = system.solve(outputs.T, 0.0 if fixed_sum else None)
    hessian = outputs @ derivatives
    return np.asarray(0.5 * (hessian + hessian.T))
