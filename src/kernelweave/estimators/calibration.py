"""Probabilities from decision values: sigmoid and isotonic calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..model.files.registry import registered

METHODS = ("sigmoid", "isotonic")
STEPS = 100  # maximum number of Newton steps; about ten are usual


@registered("SigmoidCalibrator")
@dataclass(frozen=True)
class SigmoidCalibrator:
    """P(y = 1 | f) = 1 / (1 + exp(-(slope f + offset))) (Platt, 1999)."""

    slope: float
    offset: float

    @classmethod
    def fit(
        cls, values: np.ndarray, positive: np.ndarray, weights: np.ndarray
    ) -> SigmoidCalibrator:
        """Return the calibrator of largest likelihood.

        Targets are smoothed as in Platt (1999), so that separable classes have finite parameters.
        The objective is minimised by Newton's method with backtracking (Lin, Lin and Weng, 2007).

        Parameters
        ----------
        values : decision values, shape (n,).
        positive : whether each example belongs to the class, shape (n,).
        weights : weight of each example, shape (n,).
        """
        counts = np.bincount(positive.astype(int), weights, minlength=2)
        target = np.where(positive, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))
        unit = float(np.abs(values).max()) or 1.0
        design = np.column_stack([values / unit, np.ones(len(values))])

        def loss(at: np.ndarray) -> float:
            f = design @ at
            return float(weights @ (np.logaddexp(0.0, f) - target * f))

        point = np.array([0.0, np.log((counts[1] + 1) / (counts[0] + 1))])
        for _ in range(STEPS):
            p = expit(design @ point)
            gradient = design.T @ (weights * (p - target))
            curvature = (design.T * (weights * p * (1 - p))) @ design + 1e-12 * np.eye(2)
            step = -np.linalg.solve(curvature, gradient)
            if -gradient @ step <= 1e-12 * max(1.0, loss(point)):
                break
            size, now = 1.0, loss(point)
            while loss(point + size * step) > now + 1e-4 * size * (gradient @ step):
                size /= 2
                if size < 1e-10:
                    break
            point = point + size * step
        return cls(float(point[0] / unit), float(point[1]))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities of decision values, of their shape."""
        with np.errstate(over="ignore"):  # the probability is 0 or 1 there
            probabilities: np.ndarray = expit(self.slope * values + self.offset)
        return probabilities


@registered("IsotonicCalibrator")
@dataclass(frozen=True, eq=False)
class IsotonicCalibrator:
    """A non-decreasing, piecewise linear function of decision values (Zadrozny and Elkan, 2002).

    Attributes
    ----------
    knots : decision values, increasing, shape (k,).
    heights : probabilities there, shape (k,).
    """

    knots: np.ndarray
    heights: np.ndarray

    @classmethod
    def fit(
        cls, values: np.ndarray, positive: np.ndarray, weights: np.ndarray
    ) -> IsotonicCalibrator:
        """Return the non-decreasing function of least squared error; as `SigmoidCalibrator.fit`."""
        from sklearn.isotonic import IsotonicRegression  # takes long to import

        fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(
            values, positive.astype(float), sample_weight=weights
        )
        least = 1.0 / (weights.sum() + 2.0)  # no finite sample justifies a probability of 0 or 1
        heights = np.clip(fitted.y_thresholds_.astype(float), least, 1.0 - least)
        return cls(fitted.X_thresholds_.astype(float), heights)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities of decision values, of their shape."""
        return np.asarray(np.interp(values, self.knots, self.heights))


Calibrator = SigmoidCalibrator | IsotonicCalibrator


def calibrators(
    method: str, values: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[Calibrator, ...]:
    """Return a calibrator for each output.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    values : cross-fitted decision values, shape (outputs, n).
    positive : whether each example belongs to the class of an output, shape (outputs, n).
    weights : weight of each example, shape (n,).
    """
    kind = SigmoidCalibrator if method == "sigmoid" else IsotonicCalibrator
    return tuple(
        kind.fit(of_output, belongs, weights)
        for of_output, belongs in zip(values, positive, strict=True)
    )


def probabilities(values: np.ndarray, *, multilabel: bool) -> np.ndarray:
    """Return probabilities of classes from those of outputs.

    Parameters
    ----------
    values : probability of the class of each output, shape (n, outputs).
    multilabel : whether the outputs are independent labels, so that probabilities are not
        normalised.

    Returns
    -------
    Array of shape (n, classes). Those of one output are 1 - p and p; those of several classes are
    divided by their sum, and equal where all are 0.
    """
    if multilabel:
        return np.asarray(values)
    if values.shape[1] == 1:
        return np.hstack([1.0 - values, values])
    totals = values.sum(axis=1, keepdims=True)
    even = np.full_like(values, 1.0 / values.shape[1])
    return np.asarray(np.divide(values, totals, out=even, where=totals > 0))
