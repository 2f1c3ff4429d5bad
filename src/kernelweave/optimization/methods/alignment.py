"""How alike kernels are, to each other and to the targets.

The alignment of two kernels is the cosine between their matrices, <K, L> / (||K|| ||L||) with the
Frobenius product (Cristianini et al., 2002). Cortes et al. (2012) centre the kernels first, as if
their features had mean 0: only then does it say how well a kernel predicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ...engines import Engine
from ...engines.base import kernel_blocks

ROUNDING = 1e-12  # relative size below which a kernel or a direction counts as nothing


@dataclass(frozen=True, eq=False)
class Moments:
    """Frobenius products of M kernels on n examples.

    Attributes
    ----------
    gram : array of shape (M, M)
        <K_m, K_k>.
    sums : array of shape (M, n)
        The sums of the rows of each kernel.
    """

    gram: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, engine: Engine) -> Moments:
        """Visit all the kernels row by row; M x n numbers are held at a time.

        The engine forgets the outputs that it held.

        Raises
        ------
        FloatingPointError : where a product is beyond what a float can hold.
        """
        gram = np.zeros((engine.n_kernels, engine.n_kernels))
        sums = np.empty((engine.n_kernels, engine.n))
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(engine.n):
                engine.move_to(np.eye(1, engine.n, i)[0])
                rows = kernel_blocks(engine).outputs()
                gram += rows @ rows.T
                sums[:, i] = rows.sum(axis=1)
        if not np.isfinite(gram).all():
            raise FloatingPointError("products of kernels are not finite")
        return cls(gram, sums)

    def centered(self) -> np.ndarray:
        """Return the Frobenius products of the centred kernels, shape (M, M)."""
        n, totals = self.sums.shape[1], self.sums.sum(axis=1)
        products = 2.0 / n * self.sums @ self.sums.T - np.outer(totals, totals) / n**2
        centered: np.ndarray = self.gram - products
        return centered


def alignment_weights(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return weights proportional to the alignment of each kernel with the targets, shape (M,).

    Parameters
    ----------
    y : array of shape (n,)
    """
    target = target_products(engine, y)
    norms = np.sqrt(np.diag(Moments.of(engine).gram))
    weights: np.ndarray = np.maximum(target, 0.0) / np.where(norms > 0, norms, np.inf)
    return weights


def centered_alignment_weights(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return the weights >= 0 whose combination is best aligned with the targets, shape (M,).

    The largest alignment of sum_m theta_m K_m, all centred, has the direction of

        min over theta >= 0 of  theta' G theta - 2 theta . a,   G = <K_m, K_k>,  a = <K_m, y y'>

    (Cortes et al., 2012, proposition 9).
    """
    target = target_products(engine, y - y.mean())
    values, vectors = np.linalg.eigh(Moments.of(engine).centered())
    known = values > ROUNDING * max(values[-1], np.finfo(float).tiny)
    root = np.sqrt(values[known])
    weights: np.ndarray = nnls((vectors[:, known] * root).T, vectors[:, known].T @ target / root)[0]
    return weights


def target_products(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return y' K_m y, shape (M,); the engine forgets the outputs that it held."""
    engine.move_to(y)
    return engine.quadratic()


# What gives kernel weights before any training, by the names that plans use.
WEIGHTS = {"plain": alignment_weights, "centred": centered_alignment_weights}
