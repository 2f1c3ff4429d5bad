"""Report sections on single predictions: Shapley values of columns, coverage of sets."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing

from ...common.types import Data
from ...inspection.shapley import shapley
from .learned import bars_size, heaviest
from .section import Figure, Folds, Section, plain

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator

MOST_EXPLAINED = 100  # examples whose Shapley values are computed
BACKGROUND = 30  # maximum number of background rows
LEVELS = (0.8, 0.9, 0.95)  # of prediction sets and intervals


def shapley_values(model: FittedEstimator, X: Sized) -> Section | None:
    """Return the mean absolute Shapley value of each column; None if columns have no values.

    Parameters
    ----------
    model : fitted estimator.
    X : n examples, which are also the background.
    """
    chosen = np.unique(np.linspace(0, len(X) - 1, MOST_EXPLAINED).astype(np.int64))
    try:
        found = shapley(model, _safe_indexing(X, chosen), X, n_background=BACKGROUND)
    except ValueError:  # kernels without Shapley values over columns
        return None
    values = np.abs(found.values)
    sizes = values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2))
    _, names, shown = heaviest(list(found.feature_names), sizes)
    text = (
        "The mean absolute Shapley value of each column: how much it changes decision values, on "
        f"average over {len(chosen)} examples. Background: {found.background}."
    )
    drawn = {"names": names, "values": plain(shown), "label": "mean |Shapley value|"}
    figure = Figure("Shapley values of columns", "bars", drawn, bars_size(names))
    data = dict(zip(found.feature_names, plain(sizes), strict=True))
    return Section("Shapley values", text, [], [figure], {"mean_abs": data})


def coverage(model: FittedEstimator, X: Data, y: np.ndarray, folds: Folds) -> Section | None:
    """Return the fraction of held-out targets in prediction sets or intervals.

    None for models without ``calibrate=`` and for several targets.

    Parameters
    ----------
    model : fitted estimator; a clone of it is fitted on each fold.
    X, y : examples and their targets.
    folds : positions of the training and test examples of each fold.
    """
    if getattr(model, "calibrate", None) is None or y.ndim > 1:
        return None
    classifies = is_classifier(model)
    inside = np.zeros((len(LEVELS), len(y)), dtype=bool)
    sizes = np.zeros(inside.shape)
    for train, test in folds:
        fresh = clone(model).set_params(verbose=0, checkpoint=None)
        fresh.fit(_safe_indexing(X, train), y[train])
        held_out = _safe_indexing(X, test)
        for at, level in enumerate(LEVELS):
            if classifies:
                sets = fresh.predict_set(held_out, 1.0 - level)
                inside[at, test] = (sets & (y[test][:, None] == fresh.classes_)).any(axis=1)
                sizes[at, test] = sets.sum(axis=1)
            else:
                low, high = fresh.predict_interval(held_out, 1.0 - level).T
                inside[at, test] = (low <= y[test]) & (y[test] <= high)
                sizes[at, test] = high - low
    size = "mean number of classes" if classifies else "mean width"
    rows = [["level", "coverage", size]]
    rows += [
        [f"{level:g}", f"{found.mean():.4f}", f"{width.mean():.4g}"]
        for level, found, width in zip(LEVELS, inside, sizes, strict=True)
    ]
    what = "prediction sets" if classifies else "prediction intervals"
    text = f"How often {what} contain the target of an example that was held out."
    data = {"levels": list(LEVELS), "coverage": plain(inside.mean(axis=1))}
    return Section("Coverage", text, rows, [], data)
