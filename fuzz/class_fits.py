"""Fits of three to five classes: one loss for all, one model per class or per pair, calibrated."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import kernelweave as kw

from .certificates import check_certificate
from .choices import Choices
from .examples import vectors
from .fits import CLASSIFIER_LOSSES, check_fitted, norm, query, sample_weight, solver
from .verdicts import Lie


def run(data: bytes) -> None:
    """Fit a classifier to several classes, and check its certificate and its probabilities."""
    c = Choices(data)
    with np.errstate(all="ignore"):
        examples = vectors(c, c.integer(8, 24))
        model = estimator(c)
        y = classes(c, examples.n)
        weights = sample_weight(c, examples.n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        model.set_params(kernels=examples.kernels).fit(examples.X, y, sample_weight=weights)
    check_fitted(model, [warning.message for warning in caught])
    if np.all(np.isfinite(model.duality_gap_)):
        check_certificate(model, examples, y, weights, [str(one.message) for one in caught])
    query(c, model, examples)
    if hasattr(model, "predict_proba"):
        check_probabilities(model.predict_proba(examples.new))


def estimator(c: Choices) -> Any:
    """Return a classifier without kernels."""
    form = c.pick(["joint", "joint", "joint", "ovo", "ovr"])
    loss = c.pick(["hinge", "logistic"] if form == "joint" else CLASSIFIER_LOSSES)
    shared = c.pick(["auto", True]) if form == "joint" else c.pick(["auto", True, False])
    parameters = {"norm": norm(c), "loss": loss, "multi_class": form, "share_weights": shared}
    if form == "ovr":
        known = kw.losses.get(loss, "classifier")
        parameters["solver"] = solver(c, parameters["norm"], known, shared is True)
    model = kw.MKLClassifier(
        **parameters,
        C=c.power(-2, 3),
        tol=c.power(-5, -2),
        normalize=c.pick(["variance", "variance", "unit", "center", None]),
        class_weight=c.pick([None, None, "balanced"]),
        calibrate=c.pick([None, None, None, "sigmoid", "isotonic"]),
        fit_intercept=not c.chance(0.2),
        max_iter=c.usual(None, [1, 3], 0.05),
    )
    if form == "ovr":
        return model
    return model.set_params(calibrate=c.pick([None, None, None, "sigmoid", "isotonic"]))


def classes(c: Choices, n: int) -> np.ndarray:
    """Return labels of three to five classes, of which each occurs."""
    count = c.integer(3, 5)
    y = c.generator.integers(0, count, n)
    y[:count] = np.arange(count)
    return np.array(["a", "b", "c", "d", "e"])[y] if c.chance(0.3) else y


def check_probabilities(found: np.ndarray) -> None:
    """Raise a `Lie` unless rows are distributions."""
    if not np.all((found >= 0) & (found <= 1)) or np.any(np.abs(found.sum(axis=1) - 1) > 1e-9):
        raise Lie(f"probabilities are not distributions: {found}")
