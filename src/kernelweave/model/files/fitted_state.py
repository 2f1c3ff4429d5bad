"""Checks of the attributes that a model file sets on an estimator.

`load` accepts a file only if every attribute has the right type and shape, so that prediction,
inspection, displays and `verify` can rely on them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...norms import as_norm
from ...optimization.summary import PlanSummary
from ..model import Model
from .legacy import OldPlan
from .type_check import fits

Number = int | float

# Attributes that a fit sets, with their types.
LEARNED: dict[str, Any] = {
    "_model": Model,
    "C_": Number | np.ndarray,
    "best_score_": Number,
    "calibration_folds_": np.ndarray,
    "calibrators_": tuple,
    "candidates_": list,
    "certifies_": str,
    "classes_": np.ndarray,
    "conformity_": np.ndarray,
    "constant_objective_": Number | np.ndarray,
    "cumulative_baseline_hazard_": np.ndarray,
    "dual_objective_": Number | np.ndarray,
    "duality_gap_": Number | np.ndarray,
    "epsilon_": Number | np.ndarray,
    "event_times_": np.ndarray,
    "feature_names_in_": np.ndarray,
    "held_out_covariances_": np.ndarray,
    "history_": list,
    "left_out_": np.ndarray,
    "multi_class_": str,
    "multilabel_": bool,
    "n_features_in_": int,
    "n_iter_": int,
    "norm_": Any,
    "optimality_": np.ndarray,
    "primal_objective_": Number | np.ndarray,
    "plan_": PlanSummary | OldPlan,
    "scores_": np.ndarray,
}
# Attributes of files of formats 1 and 2 that repeat parts of the model.
COPIES: dict[str, Any] = {
    "dual_coef_": np.ndarray,
    "intercept_": np.ndarray,
    "kernel_names_": tuple[str, ...],
    "offset_": Number,
    "support_": np.ndarray,
    "weights_": np.ndarray,
}
CERTIFICATE = ("primal_objective_", "dual_objective_", "duality_gap_")
SUM_ROUNDING = 1e-9  # allowed difference of sums of dual variables, relative to the absolute sum


def check_types(fitted: dict[str, Any], types: dict[str, Any]) -> None:
    """Raise ValueError if an attribute is unknown or has the wrong type."""
    for name, value in fitted.items():
        if name not in types or not fits(value, types[name]):
            raise ValueError(f"attribute {name!r} is unknown, or has the wrong type")
    if "_model" not in fitted:
        raise ValueError("the model is missing")


def with_copies(fitted: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a file of format 1 or 2 after checking and removing copies.

    These formats contain parts of the model a second time, under the names in `COPIES`.

    Parameters
    ----------
    fitted : dict
        Attributes by name, of the right types.

    Returns
    -------
    dict
        The attributes without `COPIES`. The indices of the support vectors are moved into the
        model, unless equal training examples were merged. Such files do not contain which training
        examples a merged one represents, so that `support` of the model is None.

    Raises
    ------
    ValueError
        If a copy disagrees with the model.
    """
    model: Model = fitted["_model"]
    model.check()
    others = {name: value for name, value in fitted.items() if name not in COPIES}
    outputs = len(model.intercept)
    weights, alpha, support = fitted["weights_"], fitted["dual_coef_"], fitted["support_"]
    shared = weights.ndim == 1 and outputs > 1
    expected = np.broadcast_to(weights, model.weights.shape) if shared else np.atleast_2d(weights)
    if not np.array_equal(expected, model.weights):
        raise ValueError("weights_ differ from the weights of the model")
    if not np.array_equal(fitted["intercept_"], model.intercept):
        raise ValueError("intercept_ differs from the intercept of the model")
    if fitted.get("offset_", -model.intercept[0]) != -model.intercept[0]:
        raise ValueError("offset_ differs from the intercept of the model")
    if len(fitted["kernel_names_"]) != model.compiled.n_kernels:  # names vary between versions
        raise ValueError("kernel_names_ must have a name for each kernel of the model")
    if alpha.dtype != np.float64 or alpha.shape != (outputs, *support.shape):
        raise ValueError("dual_coef_ must have a column for each index of support_")
    with_support = replace(model, support=support, shared_weights=shared)
    if np.array_equal(alpha, model.coef):
        with_support.check()
    else:
        _check_merged(model.coef, alpha)
        with_support = replace(with_support, support=None)
    return others | {"_model": with_support}


def _check_merged(coef: np.ndarray, alpha: np.ndarray) -> None:
    """Raise ValueError if alpha cannot result from distributing coef over merged examples.

    Only necessary conditions are checked, since the file does not contain which examples were
    merged. If alpha and coef have equally many columns, alpha must be a permutation of coef.
    Otherwise the sums of their positive and of their negative entries must agree.
    """
    message = "dual_coef_ differ from the coefficients of the model"
    if alpha.shape[1] < coef.shape[1]:
        raise ValueError(message)
    if alpha.shape == coef.shape:
        if not np.array_equal(alpha[:, np.lexsort(alpha)], coef[:, np.lexsort(coef)]):
            raise ValueError(message)
        return
    for sign in (1.0, -1.0):
        merged, each = (np.maximum(sign * one, 0.0).sum(axis=1) for one in (coef, alpha))
        if not np.all(np.abs(merged - each) <= SUM_ROUNDING * (merged + each)):
            raise ValueError(message)


def check_fitted(estimator: Any) -> None:
    """Check the attributes of an estimator that was read from a file.

    Parameters
    ----------
    estimator : estimator with a `Model` that was checked

    Raises
    ------
    ValueError
        The message names the attribute that is wrong.
    """
    model: Model = estimator._model
    found = vars(estimator)
    if found.get("n_features_in_", 0) < 0 or found.get("n_iter_", 0) < 0:
        raise ValueError("n_features_in_ and n_iter_ must not be negative")
    if "feature_names_in_" in found:
        names = found["feature_names_in_"]
        if names.shape != (found.get("n_features_in_"),):
            raise ValueError("feature_names_in_ must have a name for each feature")
        if not all(isinstance(name, str) for name in names.tolist()):
            raise ValueError("feature_names_in_ must be strings")
    if "norm_" in found:
        as_norm(found["norm_"])
    for name in ("C_", "epsilon_"):
        _check_parameter(name, found.get(name, 1.0), len(model.intercept))
    if "scores_" in found and (found["scores_"].ndim != 3 or found["scores_"].dtype.kind != "f"):
        raise ValueError("scores_ must be an array of shape (norms, Cs, folds)")
    _check_certificate(found, model.n_weight_vectors)
    if "calibration_folds_" in found:
        folds = found["calibration_folds_"]
        if folds.dtype.kind != "i" or folds.shape != np.shape(found.get("conformity_")):
            raise ValueError("calibration_folds_ must have an integer for each training example")


def _check_parameter(name: str, value: object, outputs: int) -> None:
    """Check a number, or an array with a number for each output."""
    values = np.asarray(value)
    if values.shape not in ((), (outputs,)) or values.dtype.kind not in "fi":
        raise ValueError(f"{name} must be a number, or an array with one for each output")
    if np.any(np.isnan(values)) or np.any(values < 0):
        raise ValueError(f"{name} must not be negative or NaN")


def _check_certificate(found: dict[str, Any], rows: int) -> None:
    """Check objective values, gap and history; `rows` is the number of weight vectors."""
    present = [name for name in CERTIFICATE if name in found]
    if present and len(present) < len(CERTIFICATE):
        raise ValueError(f"the certificate must have {', '.join(CERTIFICATE)}")
    for name in (*present, "constant_objective_"):
        value = found.get(name, 0.0 if rows == 1 else np.zeros(rows))
        if np.shape(value) != (() if rows == 1 else (rows,)) or np.asarray(value).dtype.kind != "f":
            raise ValueError(f"{name} must have a number for each row of weights_")
    if "optimality_" in found:
        shape = (2,) if rows == 1 else (rows, 2)
        if found["optimality_"].shape != shape or found["optimality_"].dtype != np.float64:
            raise ValueError(f"optimality_ must be float64 of shape {shape}")
    history = found.get("history_", [])
    if rows > 1 and len(history) not in (0, rows):
        raise ValueError("history_ must have a list for each row of weights_")
    for entries in [history] if rows == 1 else history:
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise ValueError("history_ must be a list of dictionaries with the key 'gap'")


def _is_entry(entry: object) -> bool:
    """Return whether a value is an entry of `history_`: a dict with a number for "gap"."""
    return (
        isinstance(entry, dict)
        and fits(entry.get("gap"), Number)
        and fits(entry.get("seconds", 0.0), Number)
    )
