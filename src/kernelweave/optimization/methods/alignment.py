"""Kernel alignment: similarity of kernels to each other and to the targets.

The alignment of two kernels is the cosine between their matrices, <K, L> / (||K|| ||L||) with the
Frobenius product (Cristianini et al., 2002). Cortes et al. (2012) centre the kernels in feature
space first; centred alignment correlates better with accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from ...engines import Engine
from ...engines.base import kernel_blocks
from ...problem.problem import Problem
from ..run import Run

ROUNDING = 1e-12  # relative size below which a kernel or an eigenvalue counts as zero


@dataclass(frozen=True, eq=False)
class Moments:
    """Frobenius products of M kernels on n examples.

    Attributes
    ----------
    gram : ndarray of shape (M, M)
        <K_m, K_k>.
    sums : ndarray of shape (M, n)
        Row sums of each kernel matrix.
    """

    gram: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, engine: Engine) -> Moments:
        """Return the products of an engine's kernels, in one pass with memory for M n values.

        The engine's alpha and outputs are overwritten.

        Raises
        ------
        FloatingPointError
            If a product overflows.
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
        return self.gram - products


def alignment_weights(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return weights proportional to the alignment of each kernel with the targets, shape (M,).

    Parameters
    ----------
    engine : Engine
        Computes the kernels; its alpha and outputs are overwritten.
    y : ndarray of shape (n,)
        Targets.
    """
    target = target_products(engine, y)
    norms = np.sqrt(np.diag(Moments.of(engine).gram))
    return np.maximum(target, 0.0) / np.where(norms > 0, norms, np.inf)


def centered_alignment_weights(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return the weights >= 0 that maximise the centred alignment with the targets, shape (M,).

    They are proportional to the solution of

        min over theta >= 0 of  theta' G theta - 2 theta . a,   G = <K_m, K_k>,  a = <K_m, y y'>

    with centred kernels (Cortes et al., 2012, proposition 9).

    Parameters
    ----------
    engine : Engine
        Computes the kernels; its alpha and outputs are overwritten.
    y : ndarray of shape (n,)
        Targets.
    """
    target = target_products(engine, y - y.mean())
    values, vectors = np.linalg.eigh(Moments.of(engine).centered())
    known = values > ROUNDING * max(values[-1], np.finfo(float).tiny)
    root = np.sqrt(values[known])
    return nnls((vectors[:, known] * root).T, vectors[:, known].T @ target / root)[0]


def target_products(engine: Engine, y: np.ndarray) -> np.ndarray:
    """Return y' K_m y, shape (M,); the engine's alpha and outputs are overwritten."""
    engine.move_to(y)
    return engine.quadratic()


# Functions that compute kernel weights without training, by the names in plans.
WEIGHTS = {"plain": alignment_weights, "centred": centered_alignment_weights}


@dataclass(frozen=True)
class Aligned:
    """Rule for fixed weights: those of a kernel alignment, which training does not change.

    Parameters
    ----------
    alignment : {"plain", "centred"}
        `alignment_weights` or `centered_alignment_weights`.
    """

    alignment: str
    fixes_weights: ClassVar[bool] = True

    def weights(self, problem: Problem, engine: Engine, run: Run) -> np.ndarray:
        """Return the weights, shape (M,), with ||theta|| = 1."""
        counted = np.flatnonzero(problem.C)
        targets = problem.y[counted] + problem.centre
        aligned = WEIGHTS[self.alignment](engine.subset(counted), targets)
        if not aligned.any():
            return problem.norm.start(engine.n_kernels)
        return np.asarray(aligned / problem.norm.value(aligned))
