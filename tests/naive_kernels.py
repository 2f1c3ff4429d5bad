"""Slow, obvious kernels: one pair at a time, straight from the formulas."""

import numpy as np


def pairwise(function, X, Y):
    """Return function(x, y) for all pairs of rows, shape (n, m)."""
    return np.array([[function(x, y) for y in Y] for x in X])


def linear(x, y):
    return x @ y


def polynomial(degree, gamma, coef0):
    return lambda x, y: (gamma * (x @ y) + coef0) ** degree


def rbf(gamma):
    return lambda x, y: np.exp(-gamma * ((x - y) ** 2).sum())


def laplacian(gamma):
    return lambda x, y: np.exp(-gamma * np.abs(x - y).sum())


def chi_squared(gamma):
    def value(x, y):
        used = (x + y) > 0
        return np.exp(-gamma * ((x - y)[used] ** 2 / (x + y)[used]).sum())

    return value


def intersection(x, y):
    return np.minimum(x, y).sum()
