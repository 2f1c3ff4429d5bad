"""Observers of a part of a problem: what they are told of it, they tell of the whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Observer = Callable[[np.ndarray, np.ndarray], None]
"""Is told alpha, shape (n,), and the weights, shape (M,)."""


def of_examples(
    observe: Observer | None, examples: np.ndarray, alpha: np.ndarray
) -> Observer | None:
    """Return an observer of the alphas of some examples, those of the others being as given.

    `alpha` has shape (n,), and what the observer is told the shape of `examples`.
    """
    if observe is None:
        return None
    outside = alpha.copy()

    def observe_part(inside: np.ndarray, weights: np.ndarray) -> None:
        outside[examples] = inside
        observe(outside, weights)

    return observe_part


def of_kernels(observe: Observer | None, kernels: np.ndarray, M: int) -> Observer | None:
    """Return an observer of the weights of some of M kernels, those of the others being 0."""
    if observe is None:
        return None
    return lambda alpha, weights: observe(alpha, placed(weights, kernels, M))


def placed(weights: np.ndarray, kernels: np.ndarray, M: int) -> np.ndarray:
    """Return the weights of some of M kernels, the others being 0, shape (M,)."""
    theta = np.zeros(M)
    theta[kernels] = weights
    return theta
