"""Certificates of fuzzed models, recomputed by the checker that shares no code with the library."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import kernelweave as kw
from kernelweave import kernels as k
from kernelweave import verify
from kernelweave.kernels.compile.normalized_kernels import Rescaled
from kernelweave.kernels.compose.per_feature import Stack

from .examples import Given
from .verdicts import Lie, Rounded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import checker
from naive_mkl import plain_norm, spread
from naive_normalize import normalised

TWO_STAGE = ("alignment", "centered-alignment", "easymkl")
TINY = float(np.finfo(float).tiny)
ROUNDING = 1e-12  # gain that a warning attributes to rounding, relative to a sum of losses
SLACK = 1e-12  # rounding error of the checker, relative to a gap


def check_certificate(model: Any, examples: Given, y: Any, weights: Any, warned: list[str]) -> None:
    """Raise a `Lie` if the reported values are better than those of the checker."""
    values = list(judged(model, *matrices(model, examples.X, warned), y, weights))
    apart = [value.primal - value.dual for value in values]
    compare(model, [value.gap for value in values], apart, warned, f"checker: {values}")
    proof = verify(model, examples.X, y, weights)
    compare(model, proof.gap, proof.primal - proof.dual, warned, f"{proof}")


def compare(model: Any, gaps: Any, apart: Any, warned: list[str], who: str) -> None:
    """Raise if a gap is above `tol` and the model does not warn, or reports a smaller gap.

    Gaps are compared with the denominator of the reported gap, which may be 0 up to rounding. If
    the model warns of numerical precision or of an objective of 0, rounding may be part of a gap.
    A reported gap above 1 claims nothing, since the constant model is better.

    Parameters
    ----------
    gaps, apart : gaps of each row of weights, relative and as differences of values.
    """
    gaps, said = np.asarray(gaps), np.atleast_1d(model.duality_gap_)
    apart = np.asarray(apart)
    if any("constant model is optimal" in line for line in warned):
        constant = ~np.atleast_2d(model.weights_).any(axis=1)
        cost = np.atleast_1d(model.constant_objective_)
        gain = np.maximum(cost - np.atleast_1d(model.dual_objective_), 0.0)
        if np.any(constant & (apart > (1 + SLACK) * gain + ROUNDING * cost + TINY)):
            raise _failure(warned)(f"{apart} is above the difference of the warning: {warned}")
        gaps = np.where(constant, 0.0, gaps)
    words = f"gaps {gaps}, but reported {said} with tol={model.tol:g}; {who}; warned {warned}"
    if not any("relative duality gap" in line for line in warned):
        if np.any(gaps > (1 + SLACK) * model.tol):
            raise Lie(words)
        return
    gain = np.atleast_1d(model.constant_objective_) - np.atleast_1d(model.dual_objective_)
    scale = np.minimum(np.abs(np.atleast_1d(model.primal_objective_)), gain)
    most = 1.01 * said + model.tol
    wrong = (gaps > most) & (apart > most * scale)
    if np.any(wrong & (said <= 1)):
        raise _failure(warned)(words)
    if np.any(wrong):
        raise Rounded(words)


def _failure(warned: list[str]) -> type[Exception]:
    """Return the exception for a wrong value: `Rounded` if a warning names rounding."""
    few = any("numerical precision" in line or "objective is 0" in line for line in warned)
    return Rounded if few else Lie


def matrices(model: Any, X: Any, warned: list[str]) -> tuple[np.ndarray, str | None]:
    """Return kernel matrices in extended precision, shape (M, n, n), and how to normalise them.

    Kernels that a fit has chosen or repaired are taken from the model, normalised. Factors of
    normalisations are also those of the model, since their rounding is part of the fitted problem.
    """
    chosen = model.kernels is None or isinstance(model.kernels, dict)
    if chosen or any("repaired" in words for words in warned):
        values = [kernel(X) for kernel in model._model.compiled.kernels]
        stacks = [value.reshape(-1, *value.shape[-2:]).astype(np.longdouble) for value in values]
        return np.concatenate(stacks), None
    listed = model.kernels if isinstance(model.kernels, list) else [model.kernels]
    how = None if model.normalize in ("variance", "trace") else model.normalize
    kept = model._model.compiled.kernels
    pairs = zip(listed, kept, strict=True)
    return np.concatenate([factors(one) * exact(kernel, X) for kernel, one in pairs]), how


def factors(kernel: Any) -> np.ndarray:
    """Return the factors of a normalisation for the members of a kernel, shape (M, 1, 1)."""
    if isinstance(kernel, Stack):
        return np.concatenate([factors(part) for part in kernel.kernels])
    kept = kernel.factors if isinstance(kernel, Rescaled) else np.ones(kernel.n_kernels)
    return np.array(kept, dtype=np.longdouble)[:, None, None]


def exact(kernel: Any, X: Any) -> np.ndarray:
    """Return the matrices of a kernel, from its formula if that is short."""
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
    """Give the values of each row of weights."""
    n = K.shape[-1]
    if isinstance(model, kw.MKLSurvival):
        if np.any(model.dual_coef_):  # the constant model has none to check
            yield survival(model, K, y)
        return
    sample = np.ones(n) if weights is None else np.broadcast_to(weights, n).astype(float)
    kind, parameter, tau = "one_class", 0.0, 0.0
    signs, costs = np.ones((1, n)), sample
    if isinstance(model, kw.MKLOneClass):
        tau = model.nu * sample.sum()
    elif isinstance(model, kw.MKLRegressor):
        kind, signs, costs = model.loss, np.ravel(y).astype(float)[None], model.C_ * sample
        parameter = float(model.epsilon_)
    else:
        kind, parameter = model.loss if np.isfinite(model.C) else "hinge", 10.0
        y = np.ravel(y)
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        signs = np.where(y == classes[:, None], 1.0, -1.0)
        costs = charged(model, sample * class_weights(model, y))
    own = np.broadcast_to(costs, signs.shape)  # of each output
    if getattr(model, "multi_class_", "ovr") == "ovo":
        found = list(combinations(model.classes_, 2))
        signs = np.array([np.where(y == first, 1.0, -1.0) for first, _ in found])
        own = np.array([np.where((y == a) | (y == b), costs, 0.0) for a, b in found])
    if not getattr(model, "fit_intercept", True):
        tau = None
    with np.errstate(all="ignore"):
        K = np.stack([normalised(one, how, costs) for one in K])
    varying = model._model.compiled.varying  # the others have no weight
    K, alpha = K[varying], spread(model.dual_coef_, model.support_, n)
    theta = np.atleast_2d(model.weights_)[:, varying]
    groups = [slice(0, len(alpha))] if len(theta) < len(alpha) else [[i] for i in range(len(alpha))]
    for row, group in zip(theta, groups, strict=True):
        norm = checker.Norm("fixed") if model.solver in TWO_STAGE else plain_norm(model.norm)
        norm, paid = among(norm, varying), (own[group] > 0).any(axis=0)
        try:
            if getattr(model, "multi_class_", "ovr") == "joint":
                codes = np.searchsorted(model.classes_, y[paid])
                yield checker.classes_certificate(
                    K[:, paid][:, :, paid], codes, costs[paid], alpha[:, paid], row,
                    model.intercept_, kind, norm, tau,
                )  # fmt: skip
                continue
            yield checker.certificate(
                K[:, paid][:, :, paid], signs[group][:, paid], own[group][:, paid],
                alpha[group][:, paid], row, model.intercept_[group], kind, norm, parameter, tau,
            )  # fmt: skip
        except checker.Infeasible as error:
            raise Lie(f"checker: {error}") from None


def survival(model: Any, K: np.ndarray, y: np.ndarray) -> Any:
    """Return the values of a survival model, whose kernels have not been weighted by costs."""
    how = None if model.normalize in ("variance", "trace") else model.normalize
    with np.errstate(all="ignore"):
        K = np.stack([normalised(one, how, np.ones(len(y))) for one in K])
    varying = model._model.compiled.varying
    alpha = spread(model.dual_coef_, model.support_, len(y))[0].astype(float)
    costs, bias = np.full(len(y), float(model.C)), float(np.ravel(model.intercept_)[0])
    norm = among(plain_norm(model.norm), varying)
    try:
        return checker.survival_certificate(
            K[varying], y["time"], y["event"], costs, alpha,
            np.ravel(model.weights_)[varying], bias, model.loss, norm, model.ties,
        )  # fmt: skip
    except checker.Infeasible as error:
        raise Lie(f"checker: {error}") from None


def among(norm: checker.Norm, kept: np.ndarray) -> checker.Norm:
    """Return the norm of the weights of some kernels, those of the others being 0."""
    costs = None if norm.costs is None else norm.costs[kept]
    E = None if norm.E is None else np.linalg.inv(np.linalg.inv(norm.E)[np.ix_(kept, kept)])
    return replace(norm, costs=costs, E=E)


def charged(model: Any, weights: np.ndarray) -> np.ndarray:
    """Return the costs of examples, (n,); those of hard margins are above every alpha."""
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
