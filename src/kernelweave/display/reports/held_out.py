"""Report section on predictive performance, computed by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    mean_absolute_error,
    precision_recall_curve,
    r2_score,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import cross_val_predict

from ...common.types import Data
from .section import Figure, Folds, Section, plain

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator

BINS = 10  # number of bins of a reliability diagram
BARS = 30  # number of bars of a histogram
MOST_POINTS = 400  # maximum number of points of a curve or scatter plot
MOST_SCORES = 20_000  # largest number of examples whose scores are embedded in the page
SMALL = (4.2, 3.6)  # size of a figure, in inches


def held_out(model: FittedEstimator, X: Data, y: np.ndarray, folds: Folds) -> Section:
    """Return cross-validated scores and their figures.

    Parameters
    ----------
    model : fitted estimator; a clone of it is fitted on each fold.
    X, y : examples and their targets.
    folds : positions of the training and test examples of each fold.
    """
    fresh = clone(model).set_params(verbose=0, checkpoint=None)
    if not is_classifier(model):
        return _regression(cross_val_predict(fresh, X, y, cv=folds), y, len(folds))
    if len(model.classes_) > 2:
        return _classes(cross_val_predict(fresh, X, y, cv=folds), y, model.classes_, len(folds))
    scores = cross_val_predict(fresh, X, y, cv=folds, method="decision_function")
    return _two_classes(scores, y == model.classes_[1], model.classes_, folds)


def _two_classes(
    scores: np.ndarray, positive: np.ndarray, classes: np.ndarray, folds: Folds
) -> Section:
    auroc, auprc = roc_auc_score(positive, scores), average_precision_score(positive, scores)
    chances = _probabilities(scores, positive)
    mean_auroc, std_auroc = _over_folds(roc_auc_score, scores, positive, folds)
    mean_auprc, std_auprc = _over_folds(average_precision_score, scores, positive, folds)
    mean_accuracy, std_accuracy = _over_folds(_accuracy, scores, positive, folds)
    rows = [["score", "value", "std over folds"]]
    rows += [
        ["auROC, mean of folds", f"{mean_auroc:.4f}", f"{std_auroc:.4f}"],
        ["auROC, folds pooled", f"{auroc:.4f}", ""],
        ["auPRC, mean of folds", f"{mean_auprc:.4f}", f"{std_auprc:.4f}"],
        ["auPRC, folds pooled", f"{auprc:.4f}", ""],
        ["accuracy, mean of folds", f"{mean_accuracy:.4f}", f"{std_accuracy:.4f}"],
        ["Brier score of the calibrated probabilities", f"{_brier(positive, chances):.4f}", ""],
        [f"share of class {classes[1]}", f"{positive.mean():.4f}", ""],
    ]
    figures = [
        _roc(scores, positive, auroc),
        _precision(scores, positive, auprc),
        _histograms(scores, positive, classes),
        _calibration(chances, positive),
    ]
    text = (
        f"Each example was scored by a model that was trained without its fold ({len(folds)} "
        "folds). Means of folds are the values that `kernelweave fit --cv` prints; pooled values "
        "and curves rank the scores of all folds together. Calibration: a logistic curve from "
        "scores to probabilities, itself fitted on other folds."
    )
    data: dict[str, object] = {"auROC": auroc, "auPRC": auprc}
    data |= {"auROC, mean of folds": mean_auroc, "auPRC, mean of folds": mean_auprc}
    if len(scores) <= MOST_SCORES:
        data |= {"scores": scores.tolist(), "positive": positive.tolist()}
    return Section("Held-out examples", text, rows, figures, data)


def _over_folds(
    score: Callable[[np.ndarray, np.ndarray], float],
    scores: np.ndarray,
    positive: np.ndarray,
    folds: Folds,
) -> tuple[float, float]:
    """Return mean and standard deviation of a score over the folds that have both classes."""
    tests = [test for _, test in folds if 0 < positive[test].sum() < len(test)]
    values = [score(positive[test], scores[test]) for test in tests]
    return (float(np.mean(values)), float(np.std(values))) if values else (np.nan, np.nan)


def _accuracy(positive: np.ndarray, scores: np.ndarray) -> float:
    return float(accuracy_score(positive, scores > 0))


def _brier(positive: np.ndarray, chances: np.ndarray) -> float:
    return float(brier_score_loss(positive, chances))


def _roc(scores: np.ndarray, positive: np.ndarray, area: float) -> Figure:
    falsely, truly, _ = roc_curve(positive, scores)
    drawn = {"across": "false positive rate", "up": "true positive rate", "chance": [0.0, 1.0]}
    return Figure(
        f"ROC curve of pooled folds, area {area:.3f}", "curve", _thin(falsely, truly) | drawn, SMALL
    )


def _precision(scores: np.ndarray, positive: np.ndarray, average: float) -> Figure:
    precision, recall, _ = precision_recall_curve(positive, scores)
    chance = float(positive.mean())
    drawn = {"across": "recall", "up": "precision", "chance": [chance, chance]}
    caption = f"Precision and recall of pooled folds, average precision {average:.3f}"
    return Figure(caption, "curve", _thin(recall, precision) | drawn, SMALL)


def _thin(x: np.ndarray, y: np.ndarray) -> dict[str, object]:
    """Return a curve at no more than MOST_POINTS points, evenly spaced along it."""
    if len(x) > MOST_POINTS:
        way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
        wanted = np.linspace(0.0, way[-1], MOST_POINTS)
        chosen = np.unique(np.clip(np.searchsorted(way, wanted), 0, len(x) - 1))
        x, y = x[chosen], y[chosen]
    return {"x": plain(x), "y": plain(y)}


def _histograms(scores: np.ndarray, positive: np.ndarray, classes: np.ndarray) -> Figure:
    edges = np.histogram_bin_edges(scores, bins=BARS)
    heights = [
        np.histogram(scores[chosen], edges, density=True)[0] for chosen in (~positive, positive)
    ]
    drawn = {"edges": plain(edges), "heights": plain(heights), "names": list(map(str, classes))}
    return Figure("Scores of both classes", "histograms", drawn, SMALL)


def _probabilities(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return cross-fitted probabilities of the second class: a logistic function of the scores."""
    fewest = int(min(positive.sum(), (~positive).sum()))
    given = {"method": "predict_proba", "cv": max(2, min(5, fewest))}
    return cross_val_predict(LogisticRegression(), scores[:, None], positive, **given)[:, 1]


def _calibration(chances: np.ndarray, positive: np.ndarray) -> Figure:
    observed, predicted = calibration_curve(positive, chances, n_bins=BINS, strategy="quantile")
    drawn = {"x": plain(predicted), "y": plain(observed), "marked": True, "chance": [0.0, 1.0]}
    drawn |= {"across": "predicted probability", "up": "observed frequency"}
    return Figure("Reliability diagram", "curve", drawn, SMALL)


def _classes(predicted: np.ndarray, y: np.ndarray, classes: np.ndarray, folds: int) -> Section:
    counts = confusion_matrix(y, predicted, labels=classes)
    accuracy = accuracy_score(y, predicted)
    rows = [["true \\ predicted", *map(str, classes)]]
    rows += [
        [str(name), *map(str, row)] for name, row in zip(classes, counts.tolist(), strict=True)
    ]
    text = f"Accuracy {accuracy:.4f} on {folds} folds that were held out."
    return Section("Held-out examples", text, rows, [], {"accuracy": accuracy})


def _regression(predicted: np.ndarray, y: np.ndarray, folds: int) -> Section:
    r2, error = r2_score(y, predicted), mean_absolute_error(y, predicted)
    rows = [["score", "value"], ["R^2", f"{r2:.4f}"], ["mean absolute error", f"{error:.4g}"]]
    some = np.unique(np.linspace(0, len(y) - 1, 2 * MOST_POINTS).astype(int))
    drawn = {"true": plain(y[some]), "predicted": plain(predicted[some])}
    figure = Figure("Predicted against true values", "scatter", drawn, (4.4, 4.2))
    text = (
        f"Each example was predicted by a model that was trained without its fold ({folds} folds)."
    )
    data: dict[str, object] = {"R^2": r2}
    if len(y) <= MOST_SCORES:
        data["predicted"] = predicted.tolist()
    return Section("Held-out examples", text, rows, [figure], data)
