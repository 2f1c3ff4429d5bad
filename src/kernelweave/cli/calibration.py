"""Calibration on the folds of `--cv` and `--cv-groups`, and probabilities of calibrated models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.types import Data

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

METHODS = {"platt": "sigmoid", "isotonic": "isotonic"}  # by the value of --calibrate


def calibration_folds(
    estimator: FittedEstimator, X: Data, y: np.ndarray | None, cv: Any, groups: object
) -> np.ndarray:
    """Return the number of the fold that holds out each example, shape (n,).

    Parameters
    ----------
    estimator : classifier
    X : n examples
    y : ndarray of shape (n,)
    cv : cross-validation splitter
    groups : ndarray of shape (n,) or None

    Raises
    ------
    ValueError
        If there are not two classes.
    """
    from sklearn.base import is_classifier

    if y is None or not is_classifier(estimator) or len(np.unique(y)) != 2:
        raise ValueError("--calibrate needs a classifier of two classes")
    folds = np.empty(len(y), dtype=np.int64)
    for number, (_, test) in enumerate(cv.split(X, y, groups)):
        folds[test] = number
    return folds


def probabilities(model: FittedEstimator) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the function from decision values to probabilities, None without calibration."""
    found: tuple[Any, ...] = getattr(model, "calibrators_", ())
    return found[0] if len(found) == 1 else None
