"""What products with kernel matrices have shown of them.

A matrix K that has been multiplied with some moves of alpha is known on all that they span. With an
orthonormal basis Q of that space, and a number sigma for all other directions, it is about

    sigma I + L (Q' L)^+ L',    L = K Q - sigma Q,

the approximation of Nyström to K - sigma I, which costs no product. sigma is the smallest
eigenvalue of Q' K Q, so that the model is positive definite. Energies of all moves are those of K.
So are products, but for the direction of that eigenvalue, in which K is taken for sigma I.

Where some of the kernels have quick products, these are a better guess of all that was not seen
than sigma I (`corrected`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .corrected import CorrectedMatrix

if TYPE_CHECKING:
    from .base import Engine

MOST_MOVES = 50  # that are remembered,
MOST_BYTES = 2**28  # or as many as take so much room
NEW = 1e-3  # part of a move outside of those before it, below which it shows little but rounding
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class SeenMatrix:
    """sigma I + U' U, with U of shape (r, n)."""

    sigma: float
    U: np.ndarray

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """Return its product with a vector, shape (n,)."""
        product: np.ndarray = self.sigma * v + (self.U @ v) @ self.U
        return product


class SeenProducts:
    """Moves, made orthonormal, and their products with kernel matrices.

    Products with the sum of kernels are kept whatever its weights are. As long as weights change
    little these are about right.

    Parameters
    ----------
    quick : an engine of k' of the kernels, whose products take little time, or None.
    slow : array of shape (M,), which kernels have products that take longer; None: all of them.
    """

    def __init__(self, quick: Engine | None = None, slow: np.ndarray | None = None) -> None:
        self._quick, self._slow = quick, slow
        self.forget()

    @property
    def guesses(self) -> bool:
        """Whether quick kernels may say what was not seen."""
        return self._quick is not None

    def __len__(self) -> int:
        return len(self._basis)

    def forget(self) -> None:
        """Forget all moves."""
        self._basis: list[np.ndarray] = []  # shape (n,) each
        self._products: list[np.ndarray] = []  # shape (k, n) each, or (1, n) of a sum
        self._kernels: np.ndarray | None = None  # which these are, shape (k,); None: a sum
        self._weights: list[np.ndarray] = []  # of the sums, shape (M,) each
        self._quickly: list[np.ndarray] = []  # products of quick kernels, of the first moves

    def add(self, move: np.ndarray, product: np.ndarray, weights: np.ndarray) -> None:
        """Take in a move, shape (n,), and its product with kernels under weights, shape (M,).

        That is the product with their sum, shape (n,), or with each that has a weight, (k, n).
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
        del self._quickly[: max(0, len(self) - most)]
        del self._basis[:-most], self._products[:-most], self._weights[:-most]

    def _restrict(self, kernels: np.ndarray | None) -> None:
        """Keep the products of some kernels, shape (k,), or of a sum; forget what lacks them."""
        if kernels is None or self._kernels is None or not np.isin(kernels, self._kernels).all():
            if self._kernels is not None or kernels is not None:
                self.forget()
        elif len(kernels) < len(self._kernels):
            chosen = np.isin(self._kernels, kernels)
            self._products = [products[chosen] for products in self._products]
        self._kernels = kernels

    def knows(self, weights: np.ndarray) -> bool:
        """Return whether all kernels with a weight, shape (M,), have been seen."""
        kernels = self._kernels
        return bool(self._basis) and (
            kernels is None or bool(np.isin(np.flatnonzero(weights), kernels).all())
        )

    def knows_well(self, weights: np.ndarray) -> bool:
        """Return the same, products with sums being those with the sum under these weights."""
        same = self._kernels is not None or all(np.array_equal(weights, w) for w in self._weights)
        return same and self.knows(weights)

    def model(self, weights: np.ndarray) -> SeenMatrix | CorrectedMatrix | None:
        """Return a model of the sum of the kernels under weights, shape (M,), if there is one.

        What was not seen is guessed where that takes less time than to see it.
        """
        quick = self._slow is not None and not weights[self._slow].any()
        if self._quick is None or quick:
            return self.matrix(weights) if self.knows(weights) else None
        every = np.ones(self._quick.n_kernels)
        for move in self._basis[len(self._quickly) :]:
            self._quickly.append(self._quick.matvec(move, every, each=True))
        if self.knows(weights):
            Q, KQ = self._seen(weights)
            return CorrectedMatrix.of(self._quick, Q, KQ, np.array(self._quickly))
        share = weights.sum() / self._quick.n_kernels  # as if all kernels were like these
        return CorrectedMatrix(self._quick, share * every)

    def _seen(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the moves, and their products with the sum, both of shape (r, n)."""
        own = np.ones(1) if self._kernels is None else weights[self._kernels]
        return np.array(self._basis), np.array([own @ products for products in self._products])

    def matrix(self, weights: np.ndarray) -> SeenMatrix:
        """Return what is known of the sum of the kernels under weights, shape (M,)."""
        Q, KQ = self._seen(weights)
        inside = Q @ KQ.T
        values, vectors = np.linalg.eigh(0.5 * (inside + inside.T))
        sigma = max(float(values[0]), TINY)
        above = values > (1 + NEW) * sigma
        scaled = vectors[:, above] / np.sqrt(values[above] - sigma)
        return SeenMatrix(sigma, scaled.T @ (KQ - sigma * Q))
