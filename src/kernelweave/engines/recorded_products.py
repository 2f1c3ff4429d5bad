"""Recorded matrix-vector products: an approximation of the kernel matrix.

A matrix K that has been multiplied with some vectors is known on their span. With an orthonormal
basis Q of that space (as columns), and a number sigma for all other directions, the model is

    sigma I + L (Q' L)^+ L',    L = K Q - sigma Q,

whose second term is the Nystroem approximation of K - sigma I. sigma is the smallest eigenvalue of
Q' K Q, so that the model is positive definite. On the span of Q the model agrees with K, except in
the direction of that eigenvalue.

If some of the kernels have cheap products, these predict the rest of K better than sigma I does
(`surrogate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .surrogate import SurrogateMatrix

if TYPE_CHECKING:
    from .linear import LinearEngine

MOST_MOVES = 50  # largest number of recorded vectors,
MOST_BYTES = 2**28  # and largest size of their products in bytes
NEW = 1e-3  # skip vectors whose part outside the span of the others is below this fraction
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class LowRankModel:
    """The approximation sigma I + U' U of a kernel matrix, with U of shape (r, n)."""

    sigma: float
    U: np.ndarray

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """Return the product of the approximation with a vector v, shape (n,)."""
        return self.sigma * v + (self.U @ v) @ self.U


class RecordedProducts:
    """Orthonormal vectors and their products with kernel matrices.

    Products with a weighted sum of kernels stay recorded when the weights change. After small
    changes they approximate the products with the new sum.

    Parameters
    ----------
    quick : LinearEngine, optional
        An engine of the kernels with cheap products.
    slow : ndarray of bool, shape (M,), optional
        Mask of the kernels with expensive products; all of them by default.
    """

    def __init__(self, quick: LinearEngine | None = None, slow: np.ndarray | None = None) -> None:
        self._quick, self._slow = quick, slow
        self.forget()

    @property
    def predicts(self) -> bool:
        """Whether kernels with cheap products predict the others (`SurrogateMatrix`)."""
        return self._quick is not None

    def __len__(self) -> int:
        return len(self._basis)

    def forget(self) -> None:
        """Drop all recorded products."""
        self._basis: list[np.ndarray] = []  # shape (n,) each
        self._products: list[np.ndarray] = []  # shape (k, n) each, or (1, n) of a sum
        self._kernels: np.ndarray | None = None  # the k kernels of `_products`; None: a sum
        self._weights: list[np.ndarray] = []  # kernel weights at the time, shape (M,) each
        self._quick_products: list[np.ndarray] = []  # of the first vectors with `quick`

    def add(self, move: np.ndarray, product: np.ndarray, weights: np.ndarray) -> None:
        """Record the product of a vector `move`, shape (n,), with the kernel matrices.

        `product` is the product with the sum of kernels under `weights`, shape (n,), or with each
        of the k kernels of nonzero weight, shape (k, n). `weights` has shape (M,).
        """
        kernels = np.flatnonzero(weights) if product.ndim == 2 else None
        self._restrict(kernels)
        products, size = np.atleast_2d(product), float(np.linalg.norm(move))
        for other, seen in zip(self._basis, self._products, strict=True):
            part = float(other @ move)
            move, products = move - part * other, products - part * seen
        left = float(np.linalg.norm(move))
        if not left > NEW * size:
            return
        self._basis.append(move / left)
        self._products.append(products / left)
        self._weights.append(weights)
        most = int(max(1, min(MOST_MOVES, MOST_BYTES // products.nbytes)))
        del self._quick_products[: max(0, len(self) - most)]
        del self._basis[:-most], self._products[:-most], self._weights[:-most]

    def _restrict(self, kernels: np.ndarray | None) -> None:
        """Drop recorded products of kernels other than `kernels`, k indices (None: a sum).

        If products of one of these kernels are not recorded, all recorded products are dropped.
        """
        if kernels is None or self._kernels is None or not np.isin(kernels, self._kernels).all():
            if self._kernels is not None or kernels is not None:
                self.forget()
        elif len(kernels) < len(self._kernels):
            chosen = np.isin(self._kernels, kernels)
            self._products = [products[chosen] for products in self._products]
        self._kernels = kernels

    def covers(self, weights: np.ndarray) -> bool:
        """Return whether products are recorded for every kernel of nonzero weight.

        Recorded products with a sum of kernels, under any weights, count as well.
        """
        kernels = self._kernels
        return bool(self._basis) and (
            kernels is None or bool(np.isin(np.flatnonzero(weights), kernels).all())
        )

    def matches(self, weights: np.ndarray) -> bool:
        """Return whether the recorded products are exact for sum_m weights_m K_m."""
        same = self._kernels is not None or all(np.array_equal(weights, w) for w in self._weights)
        return same and self.covers(weights)

    def model(self, weights: np.ndarray) -> LowRankModel | SurrogateMatrix | None:
        """Return an approximation of sum_m weights_m K_m, or None if nothing is recorded."""
        quick = self._slow is not None and not weights[self._slow].any()
        if self._quick is None or quick:
            return self.matrix(weights) if self.covers(weights) else None
        every = np.ones(self._quick.n_kernels)
        for move in self._basis[len(self._quick_products) :]:
            self._quick_products.append(self._quick.matvec(move, every, each=True))
        if self.covers(weights):
            Q, KQ = self._recorded_with(weights)
            return SurrogateMatrix.of(self._quick, Q, KQ, np.array(self._quick_products))
        share = weights.sum() / self._quick.n_kernels  # assumes that all kernels are similar
        return SurrogateMatrix(self._quick, share * every)

    def _recorded_with(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return r vectors and their products with sum_m weights_m K_m, both of shape (r, n)."""
        own = np.ones(1) if self._kernels is None else weights[self._kernels]
        return np.array(self._basis), np.array([own @ products for products in self._products])

    def matrix(self, weights: np.ndarray) -> LowRankModel:
        """Return an approximation sigma I + U' U of sum_m weights_m K_m, U of shape (r, n)."""
        Q, KQ = self._recorded_with(weights)
        inside = Q @ KQ.T
        values, vectors = np.linalg.eigh(0.5 * (inside + inside.T))
        sigma = max(float(values[0]), TINY)
        above = values > (1 + NEW) * sigma
        scaled = vectors[:, above] / np.sqrt(values[above] - sigma)
        return LowRankModel(sigma, scaled.T @ (KQ - sigma * Q))
