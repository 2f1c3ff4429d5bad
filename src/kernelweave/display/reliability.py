"""Reliability diagrams: predicted probabilities against observed frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.types import Data
from .axes import open_sides
from .base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.fitted import FittedEstimator

COLOUR = "#0072B2"
NORMAL_QUANTILE = 1.96  # 97.5 % quantile of the normal distribution, for 95 % intervals


class ReliabilityDisplay(Display):
    """Observed frequency of a class against its predicted probability.

    Examples are divided into bins with equal numbers of examples. If probabilities are well
    calibrated, points are near the diagonal. Vertical lines are 95 % intervals of the frequencies
    (Wilson, 1927). Tick marks along the axis are percentiles of the predictions.

    Parameters
    ----------
    y : array of n booleans (or 0 and 1)
        Whether each example belongs to the class.
    probabilities : array of n numbers
        Predicted probability of the class.
    n_bins : int
        Number of bins at most.
    name : str, optional
        Name of the class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_ : Line2D through the bins
    intervals_ : LineCollection, one line for each bin
    predicted_, observed_ : arrays of shape (bins,)
        Mean predicted probability, and observed frequency of the class, in each bin.
    brier_ : float
        Mean squared difference between probability and outcome.
    calibration_error_ : float
        Mean absolute difference between predicted and observed frequency, over the bins.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelweave import MKLClassifier, ReliabilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier(calibrate="sigmoid").fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2], n_bins=5)
    >>> bool(display.brier_ < 0.1)
    True
    """

    def __init__(self, y: object, probabilities: object, n_bins: int = 10, name: str | None = None):
        self.y = np.asarray(y).astype(float)
        self.probabilities = np.asarray(probabilities, dtype=float)
        if self.y.shape != self.probabilities.shape or self.y.ndim != 1 or not len(self.y):
            raise ValueError(
                "y and probabilities must be vectors of one length, got arrays of shapes "
                f"{self.y.shape} and {self.probabilities.shape}"
            )
        if not np.isin(self.y, (0.0, 1.0)).all():
            raise ValueError(
                "y must contain only 0 and 1, or False and True, got "
                f"{np.unique(self.y)[:5].tolist()}"
            )
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, got {n_bins!r}")
        self.n_bins, self.name = n_bins, name
        self.predicted_, self.observed_, self._counts = self._binned()
        self.brier_ = float(np.mean((self.probabilities - self.y) ** 2))
        errors = np.abs(self.predicted_ - self.observed_)
        self.calibration_error_ = float(errors @ self._counts / self._counts.sum())

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        X: Data,
        y: object,
        *,
        target: object = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the probabilities of an estimator for examples that it was not trained on.

        Parameters
        ----------
        estimator : fitted estimator
            Fitted classifier with `predict_proba`.
        X : n examples
        y : array-like of shape (n,)
            Their labels.
        target : label, optional
            The class that is drawn; by default the second of two.
        n_bins : int
            Number of bins at most.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        """
        check_is_fitted(estimator)
        classes = list(estimator.classes_)
        if target is None and len(classes) == 2:
            target = classes[1]
        if target not in classes:
            raise ValueError(f"target must be one of the classes {classes}, got {target!r}")
        p = estimator.predict_proba(X)[:, classes.index(target)]
        return cls(np.asarray(y) == target, p, n_bins, str(target)).plot(ax)

    def _binned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean probability, frequency and number of examples of each bin."""
        edges = np.unique(np.quantile(self.probabilities, np.linspace(0, 1, self.n_bins + 1)[1:-1]))
        bins = np.searchsorted(edges, self.probabilities, side="right")
        counts = np.bincount(bins)
        filled = counts > 0
        predicted = np.bincount(bins, self.probabilities)[filled] / counts[filled]
        observed = np.bincount(bins, self.y)[filled] / counts[filled]
        return predicted, observed, counts[filled]

    def _size(self) -> tuple[float, float]:
        return 4.2, 4.2

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
        low, high = wilson_interval(self.observed_, self._counts)
        self.intervals_ = ax.vlines(self.predicted_, low, high, color=COLOUR, linewidth=1)
        (self.line_,) = ax.plot(
            self.predicted_, self.observed_, color=COLOUR, marker="o", markersize=4, linewidth=1
        )
        ticks = np.quantile(self.probabilities, np.linspace(0, 1, 101))
        ax.plot(
            ticks, np.full(101, -0.03), "|", color="0.4", markersize=5, alpha=0.5, clip_on=False
        )
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        of_class = "" if self.name is None else f" of class {self.name}"
        ax.set(xlabel=f"predicted probability{of_class}", ylabel="observed frequency")
        error = f"calibration error {self.calibration_error_:.3f}"
        ax.text(0.02, 0.97, f"Brier score {self.brier_:.3f}\n{error}", va="top")
        open_sides(ax)


def wilson_interval(rates: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper ends of 95 % intervals of k observed rates, each of shape (k,).

    `counts` are the numbers of examples from which the rates were computed.
    """
    z2 = NORMAL_QUANTILE**2
    centre = (rates + z2 / (2 * counts)) / (1 + z2 / counts)
    spread = np.sqrt(rates * (1 - rates) / counts + z2 / (4 * counts**2))
    half = NORMAL_QUANTILE * spread / (1 + z2 / counts)
    return centre - half, centre + half
