"""Probabilities of decision values: maps fitted on held-out folds and saved in the model.

A model of two classes may carry ``calibration_``: shape (2,), slope and offset of a logistic
function (Platt scaling), or shape (2, m), scores and probabilities of a piecewise linear,
non-decreasing function (isotonic regression).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

METHODS = ("platt", "isotonic")


def calibrate(
    estimator: Any, X: Any, y: np.ndarray | None, method: str, cv: Any, groups: Any
) -> np.ndarray:
    """Return the calibration of an estimator of two classes, fitted on held-out scores.

    Parameters
    ----------
    estimator : classifier
        Cloned and fitted on each training fold.
    X : n examples
    y : ndarray of shape (n,)
    method : {"platt", "isotonic"}
    cv : cross-validation splitter
    groups : ndarray of shape (n,) or None

    Returns
    -------
    ndarray of shape (2,) or (2, m)

    Raises
    ------
    ValueError
        If there are not two classes.
    """
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_predict

    classes = np.unique(np.asarray(y))
    if y is None or not is_classifier(estimator) or len(classes) != 2:
        raise ValueError("--calibrate needs a classifier of two classes")
    fresh = clone(estimator).set_params(verbose=0, checkpoint=None)
    scores = cross_val_predict(fresh, X, y, groups=groups, cv=cv, method="decision_function")
    return fitted_map(scores, y == classes[1], method)


def fitted_map(scores: np.ndarray, positive: np.ndarray, method: str) -> np.ndarray:
    """Return the map from scores, shape (n,), to the probability of the positive class."""
    if method == "platt":
        from sklearn.linear_model import LogisticRegression

        # Platt (1999): the two parameters are fitted without regularisation
        fit = LogisticRegression(C=np.inf).fit(scores[:, None], positive)
        return np.array([fit.coef_[0, 0], fit.intercept_[0]])
    from sklearn.isotonic import IsotonicRegression

    isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, positive)
    return np.array([isotonic.X_thresholds_, isotonic.y_thresholds_], dtype=float)


def probabilities(model: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the map from decision values to probabilities; None if the model has none."""
    found = getattr(model, "calibration_", None)
    if found is None:
        return None
    if found.ndim == 1:
        slope, offset = found.tolist()
        return lambda scores: _sigmoid(slope * np.asarray(scores) + offset)
    return lambda scores: np.interp(scores, found[0], found[1])


def _sigmoid(values: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    found: np.ndarray = expit(values)
    return found
