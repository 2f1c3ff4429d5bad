"""Observers of a subproblem that notify the observer of the full problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Observer = Callable[[np.ndarray, np.ndarray], None]
"""Called with alpha, shape (n,), and the weights, shape (M,)."""


def of_examples(
    observe: Observer | None, examples: np.ndarray, alpha: np.ndarray
) -> Observer | None:
    """Return an observer of a subset of the examples; None if there is no observer.

    Parameters
    ----------
    observe : Observer or None
        Observer of all n examples.
    examples : ndarray of int, shape (k,)
        The subset.
    alpha : ndarray of shape (n,)
        Fixed alphas of the other examples.
    """
    if observe is None:
        return None
    full = alpha.copy()

    def observe_part(inside: np.ndarray, weights: np.ndarray) -> None:
        full[examples] = inside
        observe(full, weights)

    return observe_part


def of_kernels(observe: Observer | None, kernels: np.ndarray, M: int) -> Observer | None:
    """Return an observer of some of M kernels, or None; it reports the other weights as 0."""
    if observe is None:
        return None
    return lambda alpha, weights: observe(alpha, placed(weights, kernels, M))


def placed(weights: np.ndarray, kernels: np.ndarray, M: int) -> np.ndarray:
    """Return weights of all M kernels, shape (M,), from those of a subset; the others are 0."""
    theta = np.zeros(M)
    theta[kernels] = weights
    return theta
