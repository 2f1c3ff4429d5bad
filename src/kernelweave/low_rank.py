"""Symmetric matrices of many rows and low rank, as Hessians of many weights are.

With M weights and f examples, f < M, the product of two factors has fewer numbers than the matrix,
and steps that move few weights need few of its elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MANY = 1000  # rows up to which a matrix is made in any case


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
