"""Fits with several targets or labels, each with weights of its own or with shared weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import kernelweave as kw
from kernelweave import verify

from .certificates import SLACK
from .choices import Choices
from .examples import vectors
from .fits import CLASSIFIER_LOSSES, REGRESSOR_LOSSES, check_fitted, query, sample_weight
from .verdicts import Lie


def run(data: bytes) -> None:
    """Fit a model to several outputs, and verify its certificate."""
    c = Choices(data)
    with np.errstate(all="ignore"):
        examples = vectors(c, c.integer(6, 24))
        model, y = estimator(c, examples.n)
        weights = sample_weight(c, examples.n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        model.set_params(kernels=examples.kernels).fit(examples.X, y, sample_weight=weights)
    said = [warning.message for warning in caught]
    check_fitted(model, said)
    if np.all(np.isfinite(model.duality_gap_)) and not said:
        proof = verify(model, examples.X, y, weights)
        if np.any(proof.gap > (1 + SLACK) * model.tol) or not proof.support_vectors_agree:
            raise Lie(f"no warning with tol={model.tol:g}, but {proof}")
    query(c, model, examples)


def estimator(c: Choices, n: int) -> tuple[Any, np.ndarray]:
    """Return an estimator, and targets of shape (n, n_outputs)."""
    rng, outputs = c.generator, c.usual(c.integer(2, 4), [1, 0, 9], 0.02)
    common = {
        "norm": c.pick([1, 1.5, 2.0, 2.0, np.inf]),
        "tol": c.power(-5, -2),
        "share_weights": c.chance(0.5),
        "normalize": c.pick(["variance", "variance", "unit", "center"]),
    }
    if c.chance(0.5):
        y = rng.normal(size=(n, outputs)) * c.usual(1.0, [1e-9, 1e9, 0.0, np.nan], 0.02)
        loss = c.pick(REGRESSOR_LOSSES)
        return kw.MKLRegressor(loss=loss, C=c.pick(["scale", 1.0, 100.0]), **common), y
    labels = (rng.random((n, outputs)) < c.pick([0.5, 0.2])).astype(int)
    if not c.chance(0.03) and outputs:
        labels[:2] = [[0], [1]]
    return kw.MKLClassifier(loss=c.pick(CLASSIFIER_LOSSES), C=c.power(-2, 2), **common), labels
