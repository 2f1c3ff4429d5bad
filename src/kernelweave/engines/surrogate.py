"""A surrogate of a kernel matrix: cheap kernels, corrected by recorded products.

Kernels of a family are similar: string kernels on short words, whose tables are small, predict
those on long words. K is approximated by B = sum_m c_m K_m + sigma I over the cheap kernels, where
c >= 0 and sigma >= 0 fit the recorded products K Q with a matrix Q of orthonormal columns. Then the
BFGS formula corrects B on the span of Q,

    B - B Q (Q' B Q)^+ Q' B + K Q (Q' K Q)^+ Q' K,

which is positive semidefinite and agrees with K there. (^+ denotes the pseudoinverse.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from .base import MatVec

RANK_TOLERANCE = 1e-12  # eigenvalues below this fraction of the largest one are rounding
SMALL_SIGMA = 0.1  # sigma in units of the smallest eigenvalue of Q' K Q, if the fit gives 0


@dataclass(frozen=True, eq=False)
class SurrogateMatrix:
    """An approximation of a kernel matrix, sum_m factors_m K_m + sigma I - R' R + A' A.

    Attributes
    ----------
    quick : MatVec
        The engine of the k kernels K_m with cheap products.
    factors : ndarray of shape (k,)
        Their coefficients c_m.
    sigma : float
        Coefficient of the identity.
    removed, added : ndarray of shape (r, n), or None
        R and A of the BFGS formula; None if no products are recorded.
    """

    quick: MatVec
    factors: np.ndarray
    sigma: float = 0.0
    removed: np.ndarray | None = None
    added: np.ndarray | None = None

    @classmethod
    def of(
        cls, quick: MatVec, Q: np.ndarray, KQ: np.ndarray, quick_products: np.ndarray
    ) -> SurrogateMatrix:
        """Return an approximation of a kernel matrix K that agrees with recorded products K Q.

        Parameters
        ----------
        quick : MatVec
            The engine of the k kernels with cheap products.
        Q, KQ : ndarrays of shape (r, n)
            Orthonormal vectors, as rows, and their products with K.
        quick_products : ndarray of shape (r, k, n)
            Products of the rows of Q with each kernel of `quick`.

        Returns
        -------
        SurrogateMatrix
        """
        eigenvalues = np.linalg.eigvalsh(_symmetric(Q @ KQ.T))
        columns = [*quick_products.transpose(1, 0, 2), Q]
        A = np.array([column.ravel() for column in columns])
        scale = np.linalg.norm(A, axis=1)
        scale[scale == 0] = 1.0
        A /= scale[:, None]
        root = np.linalg.cholesky(A @ A.T + RANK_TOLERANCE * np.eye(len(A)))
        fitted = nnls(root.T, np.linalg.solve(root, A @ KQ.ravel()))[0] / scale
        factors, sigma = fitted[:-1], float(fitted[-1])
        if sigma == 0:
            sigma = SMALL_SIGMA * max(float(eigenvalues[0]), 0.0)
        BQ = np.tensordot(quick_products, factors, (1, 0)) + sigma * Q
        return cls(quick, factors, sigma, _root(Q, BQ), _root(Q, KQ))

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """Return the product of the surrogate with a vector v, shape (n,)."""
        product: np.ndarray = self.quick.matvec(v, self.factors) + self.sigma * v
        if self.removed is not None and self.added is not None:
            product += (self.added @ v) @ self.added - (self.removed @ v) @ self.removed
        return product


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)


def _root(Q: np.ndarray, KQ: np.ndarray) -> np.ndarray:
    """Return R, shape (r, n), with R' R = K Q (Q' K Q)^+ Q' K."""
    values, vectors = np.linalg.eigh(_symmetric(Q @ KQ.T))
    positive = values > RANK_TOLERANCE * max(values[-1], 0.0)
    return (vectors[:, positive] / np.sqrt(values[positive])).T @ KQ
