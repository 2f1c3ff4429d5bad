"""Survival models: the three losses, ties, censored times, and the curves that they predict."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import kernelweave as kw

from .certificates import check_certificate
from .choices import Choices
from .examples import Given, vectors
from .fits import check_fitted
from .verdicts import Lie


def run(data: bytes) -> None:
    """Fit a survival model, and check its certificate and its curves."""
    c = Choices(data)
    with np.errstate(all="ignore"):
        examples = vectors(c, c.integer(6, 24))
        model, y = estimator(c), times(c, examples.n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        model.set_params(kernels=examples.kernels).fit(examples.X, y)
    check_fitted(model, [warning.message for warning in caught])
    if np.all(np.isfinite(model.duality_gap_)):
        check_certificate(model, examples, y, None, [str(one.message) for one in caught])
    check_predictions(model, examples)


def estimator(c: Choices) -> Any:
    """Return a survival model without kernels."""
    return kw.MKLSurvival(
        loss=c.pick(["cox", "cox", "ranking", "regression"]),
        ties=c.pick(["efron", "breslow"]),
        norm=c.pick([1, 1.1, 4 / 3, 2.0, 2.0, np.inf]),
        C=c.power(-3, 3),
        tol=c.power(-5, -2),
        normalize=c.pick(["variance", "variance", "unit", "center", None]),
        max_iter=c.usual(None, [1, 3], 0.05),
    )


def times(c: Choices, n: int) -> np.ndarray:
    """Return times, perhaps with ties or of all scales, some or all of them censored."""
    rng = c.generator
    y = np.empty(n, dtype=[("event", "?"), ("time", "f8")])
    y["time"] = rng.exponential(size=n)
    if c.chance(0.3):
        y["time"] = np.ceil(3 * y["time"])
    if c.chance(0.1):
        y["time"] *= c.power(-12, 12)
    y["time"] = np.where(c.chance(0.02), 0.0, y["time"])
    y["event"] = rng.random(n) < c.pick([0.7, 0.7, 0.2, 1.0])
    if not c.chance(0.03) and n:
        y["event"][y["time"].argmin()] = True
    return y


def check_predictions(model: Any, examples: Given) -> None:
    """Raise a `Lie` unless risks are finite and curves fall, from at most 1 to at least 0."""
    if not np.all(np.isfinite(model.predict(examples.new))):
        raise Lie("a risk is not finite")
    if model.loss != "cox":
        return
    for curve in model.predict_survival_function(examples.new):
        if np.any(np.diff(curve.y) > 0) or np.any((curve.y < 0) | (curve.y > 1)):
            raise Lie(f"no survival curve: {curve.y}")
