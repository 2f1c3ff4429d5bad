"""Calibration on the folds of `--cv` and `--cv-groups`, and probabilities of calibrated models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.types import Data

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

METHODS = {"platt": "sigmoid", "isotonic": "isotonic"}  # by the value of --calibrate


def held_out_scores(
    estimator: FittedEstimator, X: Data, y: np.ndarray | None, cv: object, groups: object
) -> np.ndarray:
    """Return decision values of held-out examples, shape (n,), of an estimator of two classes.

    Parameters
    ----------
    estimator : classifier
        Cloned and fitted on each training fold.
    X : n examples
    y : ndarray of shape (n,)
    cv : cross-validation splitter
    groups : ndarray of shape (n,) or None

    Raises
    ------
    ValueError
        If there are not two classes.
    """
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_predict

    if y is None or not is_classifier(estimator) or len(np.unique(y)) != 2:
        raise ValueError("--calibrate needs a classifier of two classes")
    fresh = clone(estimator).set_params(verbose=0, checkpoint=None)
    scores: np.ndarray = cross_val_predict(
        fresh, X, y, groups=groups, cv=cv, method="decision_function"
    )
    return scores


def calibrate(estimator: FittedEstimator, y: np.ndarray, scores: np.ndarray, method: str) -> None:
    """Calibrate a fitted estimator of two classes as its parameter ``calibrate=`` does.

    Parameters
    ----------
    estimator : MKLClassifier
    y : ndarray of shape (n,)
    scores : ndarray of shape (n,)
        Decision values of held-out examples.
    method : {"platt", "isotonic"}
    """
    from ..estimators.calibration import calibrators
    from ..estimators.conformal import class_scores

    estimator.set_params(calibrate=METHODS[method])
    codes = (y == estimator.classes_[1]).astype(int)
    weights = estimator._costs(estimator.classes_, codes)
    values, positive = scores[None], codes[None] == 1
    estimator.calibrators_ = calibrators(
        estimator.calibrate, values, positive, weights / weights.mean()
    )
    estimator.conformity_ = class_scores(estimator._probabilities(values.T), codes)


def probabilities(model: FittedEstimator) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the map from decision values to probabilities; None if the model has not one."""
    found: tuple[Any, ...] = getattr(model, "calibrators_", ())
    return found[0] if len(found) == 1 else None
