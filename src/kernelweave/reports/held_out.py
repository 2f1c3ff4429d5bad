"""How good a model is on examples that it has not seen: everything here is computed on folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    mean_absolute_error,
    precision_recall_curve,
    r2_score,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import cross_val_predict

from .section import COLOURS, Section, svg

BINS = 10  # of a calibration curve


def held_out(model: Any, X: Any, y: np.ndarray, folds: list[Any]) -> Section:
    """Return scores on held-out folds, with the curves that belong to them.

    Parameters
    ----------
    model : its parameters are taken; it is fitted anew on each fold.
    folds : pairs of training and test examples.
    """
    fresh = clone(model).set_params(verbose=0, checkpoint=None)
    if not is_classifier(model):
        return _regression(cross_val_predict(fresh, X, y, cv=folds), y, len(folds))
    if len(model.classes_) > 2:
        return _classes(cross_val_predict(fresh, X, y, cv=folds), y, model.classes_, len(folds))
    scores = cross_val_predict(fresh, X, y, cv=folds, method="decision_function")
    return _two_classes(scores, y == model.classes_[1], model.classes_, len(folds))


def _two_classes(scores: np.ndarray, positive: np.ndarray, classes: Any, folds: int) -> Section:
    falsely, truly, _ = roc_curve(positive, scores)
    precision, recall, _ = precision_recall_curve(positive, scores)
    auroc, auprc = roc_auc_score(positive, scores), average_precision_score(positive, scores)
    accuracy = accuracy_score(positive, scores > 0)
    rows = [["score", "value"], ["auROC", f"{auroc:.4f}"], ["auPRC", f"{auprc:.4f}"]]
    rows += [
        ["accuracy", f"{accuracy:.4f}"],
        ["share of class " + str(classes[1]), f"{positive.mean():.4f}"],
    ]
    chance = float(positive.mean())
    figures = [
        (
            f"ROC curve, area {auroc:.3f}",
            svg(
                lambda ax: _curve(
                    ax, falsely, truly, "false positive rate", "true positive rate", (0, 1)
                ),
                4.2,
            ),
        ),
        (
            f"Precision and recall, average precision {auprc:.3f}",
            svg(
                lambda ax: _curve(ax, recall, precision, "recall", "precision", (chance, chance)),
                4.2,
            ),
        ),
        ("Scores of both classes", svg(lambda ax: _histograms(ax, scores, positive, classes), 4.2)),
        ("Calibration", svg(lambda ax: _calibration(ax, scores, positive), 4.2)),
    ]
    text = (
        f"Each example was scored by a model that was trained without its fold ({folds} folds). "
        "Calibration: a logistic curve from scores to probabilities, itself fitted on other folds."
    )
    data = {
        "scores": scores.tolist(),
        "positive": positive.tolist(),
        "auROC": auroc,
        "auPRC": auprc,
    }
    return Section("Held-out examples", text, rows, figures, data)


def _classes(predicted: np.ndarray, y: np.ndarray, classes: Any, folds: int) -> Section:
    counts = confusion_matrix(y, predicted, labels=classes)
    accuracy = accuracy_score(y, predicted)
    rows = [["true \\ predicted", *map(str, classes)]]
    rows += [
        [str(name), *map(str, row)] for name, row in zip(classes, counts.tolist(), strict=True)
    ]
    text = f"Accuracy {accuracy:.4f} on {folds} folds that were held out."
    data = {"predicted": [str(value) for value in predicted], "accuracy": accuracy}
    return Section("Held-out examples", text, rows, [], data)


def _regression(predicted: np.ndarray, y: np.ndarray, folds: int) -> Section:
    r2, error = r2_score(y, predicted), mean_absolute_error(y, predicted)
    rows = [["score", "value"], ["R^2", f"{r2:.4f}"], ["mean absolute error", f"{error:.4g}"]]
    drawn = svg(lambda ax: _scatter(ax, y, predicted), 4.4, 4.2)
    text = (
        f"Each example was predicted by a model that was trained without its fold ({folds} folds)."
    )
    data = {"predicted": predicted.tolist(), "R^2": r2}
    return Section(
        "Held-out examples", text, rows, [("Predicted against true values", drawn)], data
    )


def _curve(ax: Any, x: np.ndarray, y: np.ndarray, across: str, up: str, chance: Any) -> None:
    ax.plot([0, 1], chance, color="grey", linestyle="--", linewidth=1)
    ax.plot(x, y)
    ax.set(xlabel=across, ylabel=up, xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    ax.spines[["top", "right"]].set_visible(False)


def _histograms(ax: Any, scores: np.ndarray, positive: np.ndarray, classes: Any) -> None:
    edges = np.histogram_bin_edges(scores, bins=30)
    for chosen, name, colour in (
        (~positive, classes[0], COLOURS[1]),
        (positive, classes[1], COLOURS[0]),
    ):
        ax.hist(scores[chosen], edges, density=True, alpha=0.6, color=colour, label=str(name))
    ax.set(xlabel="held-out decision value", ylabel="density")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def _calibration(ax: Any, scores: np.ndarray, positive: np.ndarray) -> None:
    chances = cross_val_predict(
        LogisticRegression(), scores[:, None], positive, method="predict_proba", cv=5
    )[:, 1]
    truth, said = calibration_curve(positive, chances, n_bins=BINS, strategy="quantile")
    _curve(ax, said, truth, "predicted probability", "share that is positive", (0, 1))
    ax.lines[1].set(marker="o", markersize=4)


def _scatter(ax: Any, y: np.ndarray, predicted: np.ndarray) -> None:
    ends = [min(y.min(), predicted.min()), max(y.max(), predicted.max())]
    ax.plot(ends, ends, color="grey", linestyle="--", linewidth=1)
    ax.scatter(y, predicted, s=8, alpha=0.5, color=COLOURS[0], linewidths=0)
    ax.set(xlabel="true value", ylabel="held-out prediction")
    ax.spines[["top", "right"]].set_visible(False)
