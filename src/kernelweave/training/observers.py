"""Observers of a part of a problem: what they are told of it, they tell of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Observer = Callable[[np.ndarray, np.ndarray], None]
"""Is told alpha, shape (n,), and the weights, shape (M,)."""


def ignore(*anything: Any) -> None:
    """Do nothing with what one is told."""


def of_examples(observe: Observer, examples: np.ndarray, alpha: np.ndarray) -> Observer:
    """Return an observer of the alphas of some examples, those of the others being as given.

    `alpha` has shape (n,), and what the observer is told the shape of `examples`.
    """
    if observe is ignore:
        return ignore
    outside = alpha.copy()

    def observe_part(inside: np.ndarray, weights: np.ndarray) -> None:
        outside[examples] = inside
        observe(outside, weights)

    return observe_part


def of_kernels(observe: Observer, kernels: np.ndarray, M: int) -> Observer:
    """Return an observer of the weights of some of M kernels, those of the others being 0."""
    if observe is ignore:
        return ignore
    return lambda alpha, weights: observe(alpha, placed(weights, kernels, M))


def placed(weights: np.ndarray, kernels: np.ndarray, M: int) -> np.ndarray:
    """Return the weights of some of M kernels, the others being 0, shape (M,)."""
    theta = np.zeros(M)
    theta[kernels] = weights
    return theta
