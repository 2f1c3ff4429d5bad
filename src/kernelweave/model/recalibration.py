"""Recomputation of the attributes that predictions use besides the `Model`.

Calibrators, conformity scores and leave-one-out models come from decision values of held-out
examples, the baseline hazard of a survival model from those of its training examples. `verify`
compares them with the attributes of an estimator: a different calibrator could invert probabilities
without changing decision values. Folds are trained again, from the same start.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import is_classifier

from ..common.core import single_threaded_blas
from ..common.types import Data
from ..estimators.cross_fit import Optimum, Solved
from ..estimators.merged_examples import MergedExamples
from ..estimators.one_vs_one import OneVsOne
from ..estimators.pair_calibration import SolvedPairs
from ..estimators.survival import BaseSurvival
from ..estimators.survival_targets import as_survival
from ..estimators.validation import check_targets, one_number
from ..kernels.compile.examples import Reading
from ..optimization.engine_choice import Workload
from ..optimization.named_methods import find_method
from .model import Model

if TYPE_CHECKING:
    from ..estimators.base import MKLEstimator
    from ..estimators.classifier import BaseClassifier
    from ..problem.problem import Problem

HAZARD = ("event_times_", "cumulative_baseline_hazard_")
ATTRIBUTES = ("calibrators_", "conformity_", "left_out_", *HAZARD)
PROBABILITY_ROUNDING = 0.01  # of probabilities: folds are solved to `FOLD_TOL` only
FOLD_ROUNDING = 0.02  # of residuals, relative to the largest, for the same reason
ROUNDING = 1e-4  # of closed-form quantities, relative to the largest value
FAR = 10.0  # calibrators are compared up to this multiple of the decision values


def calibration_agrees(model: MKLEstimator, X: Data, y: object, problems: list[Problem]) -> bool:
    """Return whether probabilities, sets, intervals and hazards are those of the training data.

    Parameters
    ----------
    model : fitted estimator
    X : n training examples, as passed to `fit`
    y : array of shape (n,) or (n, n_outputs)
        Their targets.
    problems : list of Problem
        The problem of each output.
    """
    again = _calibrated_again(model, X, y, problems)
    if any(hasattr(model, name) != hasattr(again, name) for name in ATTRIBUTES):
        return False
    closed_form = getattr(model, "calibrate", None) == "jackknife+"
    exact = [name for name in (*HAZARD, "left_out_") if hasattr(again, name)]
    return (
        all(_close(getattr(again, name), getattr(model, name), ROUNDING) for name in exact)
        and _conformity_agrees(again, model, ROUNDING if closed_form else FOLD_ROUNDING)
        and _calibrators_agree(again, model, X)
    )


def _calibrated_again(model: MKLEstimator, X: Data, y: object, problems: list[Problem]) -> Any:
    """Return a copy of an estimator with `ATTRIBUTES` that are computed from the training data."""
    again: Any = copy(model)
    for name in ATTRIBUTES:
        if hasattr(again, name):
            delattr(again, name)
    if isinstance(again, BaseSurvival) or getattr(model, "calibrate", None) is not None:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # altered models
            if getattr(again, "multi_class_", "ovr") == "ovo":
                _calibrate_pairs(again, X, y, problems)
            else:
                _calibrate(again, X, y, problems)
    return again


def _calibrate(again: MKLEstimator, X: Any, y: object, problems: list[Problem]) -> None:
    """Repeat the cross-fitting, and set the attributes that come from it on `again`."""
    fitted = again._model
    merged, costs = None, _costs(problems[0])
    if fitted.merged_into is not None:
        merged = MergedExamples.of(X, _targets(again, X, y), costs)
    if merged is not None:
        X, problems = X[merged.chosen], [merged.merge(problem) for problem in problems]
    again.verbose = 0
    with single_threaded_blas():
        costs, norms = _costs(problems[0]), [problem.norm for problem in problems]
        shared = fitted.shared_weights
        method = find_method(again.solver, norms[0], problems[0].loss, shared=shared)
        examples = fitted.compiled.read(Reading(X, training=True, n_jobs=again.n_jobs))
        workload = Workload([method], norms, shared, len(problems))
        prepared = again._with_engine(fitted.compiled, examples, costs, workload)
        suited, engine = prepared.suited(problems, shared=shared and len(problems) > 1)
        varying = fitted.compiled.varying[: prepared.engine.n_kernels]
        weights = fitted.weights[: fitted.n_weight_vectors, varying]
        alpha = _alpha(fitted, merged, len(costs)).reshape(len(suited), -1)
        optima = [Optimum(*pair) for pair in zip(alpha, weights, strict=True)]
    again._after_fit(Solved(prepared, suited, engine, optima))


def _calibrate_pairs(again: BaseClassifier, X: Any, y: object, problems: list[Problem]) -> None:
    """Repeat the cross-fitting of pairs of classes, and set the attributes on `again`."""
    fitted, first = again._model, problems[0]
    costs = np.max([problem.C for problem in problems], axis=0)
    codes = again._labels(X, y)[1]
    formed = again._formulation(codes, costs, first.norm, len(again.classes_))
    if fitted.merged_into is not None:
        merged = MergedExamples.of(X, codes, costs)
        assert merged is not None
        X, formed = X[merged.chosen], formed.merged(merged)
    again.verbose = 0
    examples = fitted.compiled.read(Reading(X, training=True, n_jobs=again.n_jobs))
    workload = formed.workload(formed.method(again.solver))
    prepared = again._with_engine(fitted.compiled, examples, formed.costs, workload)
    again._after_fit(SolvedPairs(prepared, [], prepared.engine, [], cast(OneVsOne, formed)))


def _costs(problem: Problem) -> np.ndarray:
    """Return the cost of each example, shape (n,), which all outputs share."""
    return problem.C.reshape(problem.n_outputs, -1)[0]


def _alpha(model: Model, merged: MergedExamples | None, n: int) -> np.ndarray:
    """Return the dual variables of the n distinct training examples, shape (n_outputs, n)."""
    alpha = np.zeros((len(model.intercept), n))
    if model.support is None:  # `verify` has raised an error before
        return alpha
    if merged is None:
        alpha[:, model.support] = model.dual_coef
    else:
        alpha[:, merged.kind[model.support]] = model.coef[:, model.merged_into]
    return alpha


def _targets(model: MKLEstimator, X: Data, y: object) -> np.ndarray:
    """Return a number for each example; different targets have different numbers."""
    if isinstance(model, BaseSurvival):
        return np.arange(len(as_survival(y)[0]))
    if getattr(model, "multilabel_", False):
        return one_number(model._label_problems(X, y, None)[1])
    if is_classifier(model):
        return model._labels(X, y)[1]
    return one_number(check_targets(model, X, y, numeric=True, several=True).astype(float))


def _close(found: Any, stated: np.ndarray, rounding: float) -> bool:
    """Return whether stated values agree with recomputed ones, up to rounding.

    `rounding` is the largest difference, relative to the largest recomputed value.
    """
    if found.shape != stated.shape:
        return False
    tolerance = rounding * np.abs(found).max(initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.all((found == stated) | (np.abs(found - stated) <= tolerance)))


def _conformity_agrees(found: Any, stated: Any, rounding: float) -> bool:
    """Return whether sorted conformity scores agree: only their quantiles are used."""
    if not hasattr(found, "conformity_"):
        return True
    return _close(np.sort(found.conformity_), np.sort(stated.conformity_), rounding)


def _calibrators_agree(found: Any, stated: Any, X: Data) -> bool:
    """Return whether calibrators give the same probabilities of any decision values."""
    if not hasattr(found, "calibrators_"):
        return True
    values = found._decide(X)
    size = np.abs(values).max(initial=0.0)
    grid = np.concatenate([np.linspace(-FAR * size, FAR * size, 1001), values.ravel()])
    if len(found.calibrators_) != len(stated.calibrators_):
        return False
    pairs = zip(found.calibrators_, stated.calibrators_, strict=True)
    apart = [np.abs(one(grid) - other(grid)).max() for one, other in pairs]
    return bool(max(apart) <= PROBABILITY_ROUNDING)
