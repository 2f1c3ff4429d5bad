"""Probabilities of fitted models, and the names of calibrations on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

# Values of calibrate= by those of --calibrate.
METHODS = {"platt": "sigmoid", "isotonic": "isotonic"}


def probabilities(model: FittedEstimator) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the map from decision values, shape (n,), to probabilities of the second class.

    None if the model has no `predict_proba`, or several decision functions.
    """
    if not hasattr(model, "predict_proba") or len(model.intercept_) != 1:
        return None

    def of(values: np.ndarray) -> np.ndarray:
        return model._probabilities(values[:, None])[:, -1]

    return of
