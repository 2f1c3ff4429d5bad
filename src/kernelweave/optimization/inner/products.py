"""Products with the kernel matrix, for methods that change all alphas at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...engines.base import Engine, mat_vec
from ...engines.outputs import OutputsEngine

Product = Callable[[np.ndarray], np.ndarray]
"""Returns the product of the kernel matrix with a vector, shape (n,), or k of them, (n, k)."""

RIDGE = 1e-6  # added to the diagonal of the sample's kernel matrix, relative to its mean
DIAGONAL = 200  # number of examples from which the mean of the diagonal is estimated


def kernel_product(products: str, engine: Engine, weights: np.ndarray) -> Product:
    """Return a function that multiplies vectors with the weighted sum of kernel matrices.

    Parameters
    ----------
    products : {"engine", "matrix", "sample"}
        How products are computed: by the engine, with the kernel matrix in memory, or with a
        Nyström approximation from a sample.
    engine : Engine
    weights : ndarray of shape (M,)
        Weights of the kernel matrices.
    """
    if isinstance(engine, OutputsEngine):
        return _repeated(kernel_product(products, engine.of_one, weights), engine.n_outputs)
    if products == "sample":
        return NystroemMatrix.of(engine, weights)
    if products == "matrix":
        matrix = engine.kernel_matrix.under(weights)
        return lambda v: np.asarray(matrix @ v)

    def multiplied(v: np.ndarray) -> np.ndarray:
        multiply = mat_vec(engine).matvec
        if v.ndim == 1:
            return multiply(v, weights)
        return np.stack([multiply(column, weights) for column in v.T], axis=1)

    return multiplied


def _repeated(product: Product, times: int) -> Product:
    """Return the product with a block-diagonal matrix: `times` copies of one matrix."""

    def multiplied(v: np.ndarray) -> np.ndarray:
        # Shape (times, n, k) of several vectors becomes (n, times k).
        blocks = v.reshape(times, v.shape[0] // times, -1)
        columns = np.moveaxis(blocks, 0, 1).reshape(blocks.shape[1], -1)
        found = product(columns).reshape(blocks.shape[1], times, -1)
        return np.moveaxis(found, 1, 0).reshape(v.shape)

    return multiplied


@dataclass(frozen=True, eq=False)
class NystroemMatrix:
    """The approximation sigma I + C' W^-1 C of a kernel matrix (Williams and Seeger, 2001).

    Attributes
    ----------
    columns : ndarray of float32, shape (r, n)
        C: kernel values between r examples of a sample and all examples.
    factor : tuple
        Cholesky factorisation of W, the kernel matrix of the sample, with a small ridge.
    sigma : float
        Mean difference between the diagonals of K and C' W^-1 C.
    """

    columns: np.ndarray
    factor: tuple[np.ndarray, bool]
    sigma: float

    MOST_COLUMNS = 1000
    EVERY = 8  # at most one in this many examples is in the sample

    @classmethod
    def of(cls, engine: Engine, weights: np.ndarray) -> NystroemMatrix:
        """Return the approximation of an engine's kernels with weights, shape (M,).

        The engine keeps its alpha.
        """
        rank = max(1, min(cls.MOST_COLUMNS, engine.n // cls.EVERY))
        sample = np.linspace(0, engine.n - 1, rank).round().astype(int)
        before, unit = engine.snapshot(), np.zeros(engine.n)
        columns = np.empty((rank, engine.n), dtype=np.float32)
        for row, example in enumerate(sample):
            unit[example] = 1.0
            engine.move_to(unit)
            columns[row] = engine.combined(weights)
            unit[example] = 0.0
        engine.move_to(*before)
        inside = columns[:, sample].astype(float)
        inside.flat[:: rank + 1] += RIDGE * np.trace(inside) / rank
        factor = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)
        others = np.linspace(0, engine.n - 1, min(DIAGONAL, engine.n)).round().astype(int)
        part = columns[:, others].astype(float)
        own = engine.block(others, weights).diagonal()
        lacking = own - np.sum(part * cho_solve(factor, part, check_finite=False), axis=0)
        # On the sample itself the approximation is exact.
        sigma = float(np.mean(np.maximum(lacking[~np.isin(others, sample)], 0.0)))
        return cls(columns, factor, sigma)

    def __call__(self, v: np.ndarray) -> np.ndarray:
        """Return the product with a vector, shape (n,), or k of them, shape (n, k)."""
        sums = (self.columns @ v.astype(np.float32)).astype(float)
        inside = cho_solve(self.factor, sums, overwrite_b=True, check_finite=False)
        return self.sigma * v + self.columns.T @ inside.astype(np.float32)
