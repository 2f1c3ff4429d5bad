"""Certificates of fuzzed models, recomputed by the checker that shares no code with the library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import kernelweave as kw
from kernelweave import kernels as k
from kernelweave import verify

from .examples import Given
from .verdicts import Lie, Rounded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import checker
from naive_mkl import plain_norm

TWO_STAGE = ("alignment", "centered-alignment")
SLACK = 1e-6  # of the primal value, that the true gap may exceed the reported one by


def check_certificate(model: Any, examples: Given, y: Any, weights: Any, told: list[str]) -> None:
    """Raise a `Lie` where the reported values are better than what the checker finds."""
    rows = list(judged(model, *matrices(model, examples.X, told), y, weights))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    few = any("too few digits" in words for words in told)
    compare(model, *columns, few, "checker")
    proof = verify(model, examples.X, y, weights)
    compare(model, proof.primal, proof.dual, proof.constant, few, "verify")


def compare(model: Any, primal: Any, dual: Any, constant: Any, few: bool, who: str) -> None:
    """Raise where a gap is larger than the one that a model reports; all have one shape.

    Rounding that moves a gap by less than `tol` is not told. By more it is, as too few digits.
    """
    said = np.atleast_1d(model.duality_gap_)
    scale = np.minimum(np.abs(primal), constant - dual)
    excess = primal - dual - 1.01 * np.abs(said) * scale - SLACK * np.abs(primal)
    if np.all(excess <= 0):
        return
    words = (
        f"{who}: primal {primal} and dual {dual}, but reported {model.primal_objective_} and "
        f"{model.dual_objective_} with a gap of {said}"
    )
    raise (Rounded if few or np.all(excess <= model.tol * scale) else Lie)(words)


def matrices(model: Any, X: Any, told: list[str]) -> tuple[np.ndarray, str | None]:
    """Return kernel matrices in extended precision, shape (M, n, n), and how to normalise them.

    Kernels that a fit has chosen or repaired are those that the model keeps, normalised.
    """
    if model.kernels is None or any("repaired" in words for words in told):
        values = [kernel(X) for kernel in model._model.compiled.kernels]
        stacks = [value.reshape(-1, *value.shape[-2:]).astype(np.longdouble) for value in values]
        return np.concatenate(stacks), None
    listed = model.kernels if isinstance(model.kernels, list) else [model.kernels]
    return np.concatenate([exact(kernel, X) for kernel in listed]), model.normalize


def exact(kernel: Any, X: Any) -> np.ndarray:
    """Return the matrices of a kernel: from its formula where that is short, else as it says."""
    whole = isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and getattr(kernel, "columns", 0)
    if whole is None and isinstance(kernel, k.Linear | k.RBF):
        Z = X.astype(np.float64).astype(np.longdouble)
        if isinstance(kernel, k.Linear):
            return np.einsum("id,jd->ij", Z, Z)[None]
        if isinstance(kernel.gamma, float | tuple):
            distances = np.sum((Z[:, None] - Z[None]) ** 2, axis=2)
            return np.stack([np.exp(-g * distances) for g in np.atleast_1d(kernel.gamma)])
    values = kernel(X)
    return values.reshape(-1, *values.shape[-2:]).astype(np.longdouble)


def judged(model: Any, K: np.ndarray, how: str | None, y: Any, weights: Any) -> Any:
    """Give the primal and the dual value of each row of weights, and that of the constant."""
    n = K.shape[-1]
    sample = np.ones(n) if weights is None else np.broadcast_to(weights, n).astype(float)
    kind, parameter, tau = "one_class", 0.0, 0.0
    signs, costs = np.ones((1, n)), sample
    if isinstance(model, kw.MKLOneClass):
        tau = model.nu * sample.sum()
    elif isinstance(model, kw.MKLRegressor):
        kind, signs, costs = model.loss, np.ravel(y).astype(float)[None], model.C_ * sample
        parameter = float(model.epsilon_)
    else:
        kind, parameter = model.loss, 10.0
        y = np.ravel(y)
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        signs = np.where(y == classes[:, None], 1.0, -1.0)
        costs = charged(model, sample * class_weights(model, y))
    paid = costs > 0
    with np.errstate(all="ignore"):
        K = np.stack([checker.normalised(one, how, costs) for one in K])
    constant = np.setdiff1d(np.arange(len(K)), model._model.compiled.varying)
    K[constant] = 0.0
    K = K[:, paid][:, :, paid]
    alpha = checker.spread(model.dual_coef_, model.support_, n)[:, paid]
    theta = np.atleast_2d(model.weights_)
    groups = [slice(0, len(alpha))] if len(theta) < len(alpha) else [[i] for i in range(len(alpha))]
    for row, group in zip(theta, groups, strict=True):
        norm = checker.Norm("fixed") if model.solver in TWO_STAGE else plain_norm(model.norm)
        try:
            found = checker.certificate(
                K, signs[group][:, paid], costs[paid], alpha[group], row, model.intercept_[group],
                kind, norm, parameter, tau,
            )  # fmt: skip
        except checker.Infeasible as error:
            raise Lie(f"checker: {error}") from None
        yield found.primal, found.dual, found.constant


def charged(model: Any, weights: np.ndarray) -> np.ndarray:
    """Return the costs of examples, (n,); a hard margin is a soft one whose cost no alpha meets."""
    if np.isfinite(model.C):
        return model.C * weights
    return np.where(weights > 0, 2.0 * np.abs(model.dual_coef_).max(initial=1.0), 0.0)


def class_weights(model: Any, y: np.ndarray) -> np.ndarray:
    """Return the factor of each example for its class, shape (n,)."""
    if model.class_weight is None:
        return np.ones(len(y))
    if model.class_weight == "balanced":
        counts = np.array([np.sum(y == label) for label in model.classes_])
        factors = len(y) / (len(counts) * counts)
    else:
        factors = np.array([model.class_weight.get(label, 1.0) for label in model.classes_])
    return factors[np.searchsorted(model.classes_, y)]
