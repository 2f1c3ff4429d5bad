"""Normalisations of kernel matrices, from their definitions."""

import numpy as np


def normalised(K, how, shares=None):
    """Return a kernel matrix, normalised; shares of examples in means have shape (n,)."""
    return normalised_across(K, K, np.diag(K), how, shares)


def normalised_across(K, across, own, how, shares=None):
    """Return a kernel between training examples (rows) and others, normalised on the former.

    Parameters
    ----------
    K : (n, n), of the training examples; across : (n, m); own : (m,), k(x, x) of the others.
    """
    n = len(K)
    shares = np.full(n, 1.0 / n) if shares is None else shares / np.sum(shares)
    diagonal, means = np.diag(K), K @ shares
    if how == "variance":
        return across / (diagonal @ shares - means @ shares)
    if how == "trace":
        return across / (diagonal @ shares)
    if how == "unit":
        return across / np.sqrt(np.outer(diagonal, own))
    if how == "center":
        return across - means[:, None] - shares @ across + means @ shares
    return across
