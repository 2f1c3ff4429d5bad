"""Fit, predict and certify: estimators with parameters, targets and weights of every kind."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import kernelweave as kw
from kernelweave import losses, norms
from kernelweave.optimization.named_methods import METHODS

from .certificates import check_certificate
from .choices import Choices
from .examples import ODD_NUMBERS, Given, given
from .verdicts import Lie

CLASSIFIER_LOSSES = ["hinge", "hinge", "squared_hinge", "logistic", "smooth_hinge"]
REGRESSOR_LOSSES = ["epsilon_insensitive", "squared"]
ODD_WEIGHTS = [0.0, 1e-300, 1e300, -1.0, np.nan, np.inf, 1e-9, 1e9]


def run(data: bytes) -> None:
    """Fit a model to examples of one kind."""
    fit_to(given, Choices(data))


def fit_to(drawn: Callable[[Choices], Given], c: Choices) -> None:
    """Fit a random model, use all of its methods, and check its reported values."""
    with np.errstate(all="ignore"):
        examples = drawn(c)
        model = estimator(c)
        y, weights = targets(c, model, examples.n), sample_weight(c, examples.n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        model.set_params(kernels=examples.kernels).fit(examples.X, y, sample_weight=weights)
    check_fitted(model, [warning.message for warning in caught])
    if np.all(np.isfinite(model.duality_gap_)):  # an infinite gap claims nothing
        check_certificate(model, examples, y, weights, [str(w.message) for w in caught])
    query(c, model, examples)


def estimator(c: Choices) -> Any:
    """Return an estimator without kernels."""
    cls = c.pick([kw.MKLClassifier, kw.MKLClassifier, kw.MKLRegressor, kw.MKLOneClass])
    parameters = {
        "norm": c.usual(norm(c), ODD_NUMBERS),
        "normalize": c.pick(["variance"] * 4 + ["unit", "trace", "center", None, None]),
        "tol": c.usual(c.power(-5, -1), ODD_NUMBERS),
        "max_iter": c.usual(None, [1, 2, 10, *ODD_NUMBERS], 0.05),
        "working_set": c.usual("auto", [2, 3, 5, *ODD_NUMBERS], 0.05),
        "cache_mb": c.usual(1024, [0, 1e-3, *ODD_NUMBERS], 0.03),
        "n_jobs": c.usual(None, [1, 2, -1, *ODD_NUMBERS], 0.03),
        "interleaved": not c.chance(0.05),
    }
    if cls is kw.MKLOneClass:
        parameters["solver"] = solver(c, parameters["norm"], losses.OneClass(), False)
        return cls(**parameters, nu=c.usual(c.integer(1, 100) / 100, ODD_NUMBERS))
    parameters["C"] = c.usual(c.power(-3, 3), [*ODD_NUMBERS, c.power(-300, 300)])
    parameters["fit_intercept"] = not c.chance(0.1)
    calibrations = ["sigmoid", "isotonic"] if cls is kw.MKLClassifier else ["residuals"]
    parameters["calibrate"] = c.usual(None, calibrations, 0.05)
    if cls is kw.MKLRegressor:
        parameters["loss"] = c.pick(REGRESSOR_LOSSES)
        parameters["epsilon"] = c.usual(c.pick([0, 0.1, 1.0]), ODD_NUMBERS)
        loss = losses.get(parameters["loss"], "regressor")
        parameters["solver"] = solver(c, parameters["norm"], loss, False)
        return cls(**parameters)
    parameters["loss"] = c.pick(CLASSIFIER_LOSSES)
    parameters["class_weight"] = c.usual(
        None, ["balanced", "balanced", {0: 2.0}, {0: 0.0}, {5: 1}, 3], 0.05
    )
    parameters["share_weights"] = c.chance(0.2)
    loss = losses.get(parameters["loss"], "classifier")
    parameters["solver"] = solver(c, parameters["norm"], loss, parameters["share_weights"])
    return cls(**parameters)


def solver(c: Choices, norm: Any, loss: Any, shared: bool) -> Any:
    """Return "auto", or a solver that can mostly serve a norm and a loss."""
    if not c.chance(0.3):
        return "auto"
    try:
        norm = norms.as_norm(norm)
    except (TypeError, ValueError, OverflowError):
        return "auto"
    able = [
        name
        for name, one in METHODS.items()
        if one.serves(norm) and one.serves_loss(loss) and (one.shares or not shared)
    ]
    return c.usual(c.pick(able), [*METHODS, "none", None])


def norm(c: Choices) -> Any:
    """Return a norm, mostly one by its exponent."""
    if c.chance(0.85):
        return c.pick([1, 1.0, 1.1, 4 / 3, 2.0, 2.0, 4.0, np.inf, 100.0, 1 + 1e-9])
    M = c.integer(1, 4)
    E = np.eye(M) + c.pick([0.0, 0.3, -0.3]) * (np.eye(M, k=1) + np.eye(M, k=-1))
    return c.pick(
        [
            norms.Lp(c.pick([1.0, 2.0, 4.0, np.inf]), weights=[c.power(-1, 1) for _ in range(M)]),
            norms.Elliptic(E),
            norms.Elastic(c.pick([0.01, 0.5, 0.99])),
            norms.SumOfNorms(c.pick([0.01, 0.5, 0.99]), c.pick([1.01, 2.0, 32.0])),
            norms.Block(c.pick([1, 1.5, 2, 3, 10, np.inf])),
        ]
    )


def targets(c: Choices, model: Any, n: int) -> Any:
    """Return targets, mostly such as suit an estimator."""
    rng = c.generator
    n = c.usual(n, [n + 1, 0], 0.01)
    if isinstance(model, kw.MKLRegressor):
        y = rng.normal(size=n)
        if c.chance(0.1):
            y = y * c.power(-12, 12) + c.power(-3, 13)
        if c.chance(0.05):
            y = np.full(n, c.pick([0.0, 1.0, 1e300, np.nan]))
        return c.usual(y, [None, y[:, None], y.astype(str), y.astype("f4"), y.astype(object)])
    y = rng.integers(0, c.pick([2, 2, 2, 3, 5]), n)
    if not c.chance(0.02):
        y[:2] = [0, 1][:n]
    names = np.array(["a", "b", "c", "d", "e"])
    return c.usual(
        c.pick([y, y, 2.0 * y - 1, names[y], y == 0]), [None, y + 0.5, y[:, None], [[]]], 0.01
    )


def sample_weight(c: Choices, n: int) -> Any:
    """Return no weights, ordinary ones, zeros, or odd ones."""
    if c.chance(0.7):
        return None
    weights = np.abs(c.generator.normal(size=n))
    if c.chance(0.3):
        weights = np.round(weights)
    if c.chance(0.1) and n:
        weights[c.integer(0, n - 1)] = c.pick(ODD_WEIGHTS)
    odd = [weights * 1e300, weights * 1e-300, weights[:-1], 2.0, "x", weights * 0]
    return c.usual(weights, odd)


def check_fitted(model: Any, caught: list[Any]) -> None:
    """Check that attributes are finite, and that a gap above `tol` caused a warning."""
    for name in ("weights_", "dual_coef_", "intercept_", "primal_objective_"):
        if not np.all(np.isfinite(getattr(model, name))):
            raise Lie(f"{name} is not finite: {getattr(model, name)}")
    warned = any(isinstance(warning, ConvergenceWarning) for warning in caught)
    if not np.all(np.atleast_1d(model.duality_gap_) <= model.tol) and not warned:
        raise Lie(f"no warning, but the gap is {model.duality_gap_} with tol={model.tol}")


def query(c: Choices, model: Any, examples: Given) -> None:
    """Predict, save and load: the same values, or documented errors for new examples."""
    before = model.predict(examples.X)
    if len(before) != examples.n:
        raise Lie(f"{len(before)} predictions for {examples.n} examples")
    if c.chance(0.1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "m.kw")
            model.save(path)
            if not np.array_equal(kw.load(path).predict(examples.X), before):
                raise Lie("a model from a file predicts something else")
    values = model._decide(examples.new) if c.chance(0.5) else model.contributions(examples.new)
    if not np.all(np.isfinite(values)):
        raise Lie("a decision value is not finite")
