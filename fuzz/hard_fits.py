"""Fits with large rounding errors: costs, widths, weights and scales of all sizes.

Only kernels that the checker evaluates in extended precision occur, so that it knows the gap to
more digits than the library can.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import kernelweave as kw
from kernelweave import kernels as k

from .certificates import check_certificate
from .choices import Choices
from .examples import Given
from .fits import CLASSIFIER_LOSSES, REGRESSOR_LOSSES, check_fitted

NORMS = [1, 1.1, 2.0, 2.0, 4.0, np.inf, np.inf]


def run(data: bytes) -> None:
    """Fit a model to data with large rounding errors, and check its reported values."""
    c = Choices(data)
    n = c.integer(6, 40)
    with np.errstate(all="ignore"):
        X = points(c, n)
        model, y = estimator(c, n)
        weights = 10.0 ** c.generator.uniform(-7, 5, n) if c.chance(0.4) else None
    model.set_params(kernels=[kernel(c) for _ in range(c.integer(1, 3))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X, y, sample_weight=weights)
    check_fitted(model, [warning.message for warning in caught])
    if np.all(np.isfinite(model.duality_gap_)):
        warned = [str(warning.message) for warning in caught]
        check_certificate(model, Given(X, X, model.kernels, n), y, weights, warned)


def points(c: Choices, n: int) -> np.ndarray:
    """Return vectors in one scale or several, perhaps far from the origin or with an outlier."""
    rng, d = c.generator, c.integer(1, 4)
    X = rng.normal(size=(n, d))
    if c.chance(0.3):
        X = X * 10.0 ** rng.uniform(-4, 4, d)
    if c.chance(0.25):
        X = X + c.power(0, 10)
    if c.chance(0.1):
        X[0] *= c.power(2, 9)
    if c.chance(0.2):
        X = X[rng.integers(0, n, n)]
    return X


def kernel(c: Choices) -> Any:
    """Return a kernel that has a formula in extended precision."""
    if c.chance(0.25):
        return k.Linear()
    if c.chance(0.3):
        return k.RBF([c.power(-12, 3), c.power(-12, 3)])
    return k.RBF(c.power(-14, 6))


def estimator(c: Choices, n: int) -> tuple[Any, Any]:
    """Return an estimator, and targets for it."""
    rng = c.generator
    how = {
        "norm": c.pick(NORMS),
        "normalize": c.pick(["variance", "variance", "trace", "unit", "center", None]),
        "tol": c.power(-6, -2),
    }
    if c.chance(0.2):
        return kw.MKLOneClass(**how, nu=c.integer(1, 100) / 100), None
    C = c.power(-4, 8)
    if c.chance(0.3):
        y = rng.normal(size=n) * c.power(-6, 6) + c.pick([0.0, 0.0, c.power(0, 12)])
        epsilon = c.pick([0.0, 0.1, 1.0])
        return kw.MKLRegressor(**how, C=C, loss=c.pick(REGRESSOR_LOSSES), epsilon=epsilon), y
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    return kw.MKLClassifier(**how, C=C, loss=c.pick(CLASSIFIER_LOSSES)), y
