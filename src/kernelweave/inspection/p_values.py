"""p-values of permutation tests, corrected for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CORRECTIONS = ("benjamini-hochberg", "bonferroni", "max", None)


def permutation_p_values(
    observed: np.ndarray, permuted: np.ndarray, correction: str | None
) -> np.ndarray:
    """Return one-sided p-values of M statistics, corrected for multiple tests.

    Parameters
    ----------
    observed : array of shape (..., M)
        Statistics of the targets.
    permuted : array of shape (n, ..., M)
        Statistics of n permutations of the targets.
    correction : one of CORRECTIONS

    Returns
    -------
    ndarray of shape (..., M)
    """
    count = len(permuted)
    if correction == "max":
        permuted, correction = permuted.max(axis=-1, keepdims=True), None
    reached = (permuted >= observed).sum(axis=0)
    return corrected((1 + reached) / (1 + count), correction)


def corrected(p_values: np.ndarray, correction: str | None) -> np.ndarray:
    """Return p-values, shape (..., M), corrected for M tests."""
    if correction not in CORRECTIONS or correction == "max":
        raise ValueError(f"correction must be one of {list(CORRECTIONS)}, got {correction!r}")
    if correction is None:
        return p_values
    if correction == "bonferroni":
        adjusted: np.ndarray = np.minimum(1.0, p_values * p_values.shape[-1])
    else:
        from scipy.stats import false_discovery_control  # takes long to import

        adjusted = false_discovery_control(p_values, axis=-1)
    return adjusted


def significant_names(names: Sequence[str], p_values: np.ndarray, level: float) -> list[str]:
    """Return the names of M kernels with a p-value, shape (..., M), of at most `level`."""
    least = np.atleast_2d(p_values).min(axis=0)
    return [name for name, p in zip(names, least, strict=True) if p <= level]
