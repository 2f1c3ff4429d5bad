"""The KKT system of alphas between their bounds, and the ratio test of interior point methods.

    (K + diag(d)) x + b = right,      sum x = total

Alphas whose conditions of optimality are linearised obey it: their sum is fixed, and b is the bias.

Hessians of M weights from f examples, f < M, have low rank: the product of two factors has fewer
numbers than the matrix, and steps that move few weights need few of its elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

# Ridges that are tried in turn until rounding leaves the system positive definite,
RIDGES = 1e-14, 1e-12, 1e-10, 1e-8  # relative to the mean diagonal

HESSIAN_RIDGE = 1e-10  # relative to it, too: keeps the system of the Hessian solvable
MANY = 1000  # rows up to which a matrix is made in any case


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


@dataclass(frozen=True, eq=False)
class LowRank:
    """The symmetric part of left @ right, shape (M, M), known by its factors.

    Attributes
    ----------
    left : array of shape (M, f)
    right : array of shape (f, M)
    """

    left: np.ndarray
    right: np.ndarray

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        """Return the product with a vector, shape (M,)."""
        ahead = self.left @ (self.right @ vector)
        product: np.ndarray = 0.5 * (ahead + self.right.T @ (self.left.T @ vector))
        return product

    def __mul__(self, factor: float) -> LowRank:
        return LowRank(self.left, factor * self.right)

    @property
    def made(self) -> np.ndarray:
        """The matrix itself."""
        product = self.left @ self.right
        symmetric: np.ndarray = 0.5 * (product + product.T)
        return symmetric

    def __getitem__(self, index: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the elements of some rows and columns, which `np.ix_` gives."""
        rows, columns = (part.ravel() for part in index)
        elements: np.ndarray = 0.5 * (
            self.left[rows] @ self.right[:, columns] + (self.left[columns] @ self.right[:, rows]).T
        )
        return elements

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(np.einsum("mf,fm->", self.left, self.right))


Symmetric = np.ndarray | LowRank


def symmetric_product(left: np.ndarray, right: np.ndarray) -> Symmetric:
    """Return the symmetric part of the product of (M, f) and (f, M): as factors if that is less."""
    (M, f), factors = left.shape, LowRank(left, right)
    return factors if M > MANY and 2 * f < M else factors.made


def total(parts: list[Symmetric]) -> Symmetric:
    """Return the sum of matrices of one shape, (M, M): as factors if all are known by these."""
    factors = [part for part in parts if isinstance(part, LowRank)]
    if len(factors) < len(parts):
        made = [one.made if isinstance(one, LowRank) else one for one in parts]
        return np.asarray(np.sum(made, axis=0))
    return symmetric_product(
        np.hstack([one.left for one in factors]), np.vstack([one.right for one in factors])
    )


def value_hessian(kernel: np.ndarray, curvature: np.ndarray, outputs: np.ndarray) -> Symmetric:
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
        return symmetric_product(np.zeros((M, 0)), np.zeros((0, M)))
    system = KKTSystem(kernel, curvature + HESSIAN_RIDGE * np.trace(kernel) / f)
    rates, _ = system.solve(outputs.T)
    return symmetric_product(outputs, rates)
