"""Probabilities from decision values: sigmoid and isotonic calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..model.files.registry import registered
from ..problem.problem import Problem

METHODS = ("sigmoid", "isotonic")
STEPS = 100  # maximum number of Newton steps; about ten are usual


@registered("SigmoidCalibrator")
@dataclass(frozen=True)
class SigmoidCalibrator:
    """P(y = 1 | f) = 1 / (1 + exp(-(slope f + offset))) for a decision value f (Platt, 1999)."""

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
        """Return the non-decreasing function of least squared error.

        Parameters are those of `SigmoidCalibrator.fit`.
        """
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


def calibrator(
    method: str, values: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> Calibrator:
    """Return the calibrator of an output.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    values : cross-fitted decision values, shape (n,).
    positive : whether each example belongs to the class of the output, shape (n,).
    weights : weight of each example, shape (n,).
    """
    kind = SigmoidCalibrator if method == "sigmoid" else IsotonicCalibrator
    return kind.fit(values, positive, weights)


def normalized(each: np.ndarray) -> np.ndarray:
    """Return the probabilities of classes, shape (n, classes), from the outputs' probabilities.

    One output with probability p gives the columns 1 - p and p. Several outputs are divided by
    their sum; if all are 0, the classes get equal probabilities.

    Parameters
    ----------
    each : probability of the class of each output, shape (n, outputs).
    """
    if each.shape[1] == 1:
        return np.hstack([1.0 - each, each])
    totals = each.sum(axis=1, keepdims=True)
    even = np.full_like(each, 1.0 / each.shape[1])
    return np.asarray(np.divide(each, totals, out=even, where=totals > 0))


@dataclass(frozen=True, eq=False)
class OutputLabels:
    """The labels to which the outputs of a classifier are calibrated.

    Attributes
    ----------
    rows : list of ndarrays
        Positions of the examples of each output.
    positive : list of ndarrays
        Whether each of these examples belongs to the class of the output.
    costs : ndarray of shape (n,)
        Costs of all examples.
    strata : ndarray of shape (n,)
        Numbers that are equal for examples with equal labels.
    codes : ndarray of shape (n,), optional
        Class of each example; None for examples with several labels.
    """

    rows: list[np.ndarray]
    positive: list[np.ndarray]
    costs: np.ndarray
    strata: np.ndarray
    codes: np.ndarray | None

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> OutputLabels:
        """Return the labels of problems on all examples, each with one or several outputs."""
        each = [one.y.reshape(one.n_outputs, -1) for one in problems]
        labels, n = np.concatenate(each) > 0, each[0].shape[1]
        costs = np.mean([one.C.reshape(one.n_outputs, -1).mean(axis=0) for one in problems], axis=0)
        strata = np.unique(labels, axis=1, return_inverse=True)[1].ravel()
        codes = None
        if len(labels) == 1 or (labels.sum(axis=0) == 1).all():
            codes = labels[0].astype(int) if len(labels) == 1 else labels.argmax(axis=0)
        return cls([np.arange(n)] * len(labels), list(labels), costs, strata, codes)

    def calibrators(self, method: str, values: np.ndarray) -> tuple[Calibrator, ...]:
        """Return a calibrator for each output, from cross-fitted values, shape (outputs, n)."""
        weights = self.costs / self.costs[self.costs > 0].mean()
        found = []
        for rows, positive, of_output in zip(self.rows, self.positive, values, strict=True):
            known = weights[rows] > 0
            some = rows[known]
            found.append(calibrator(method, of_output[some], positive[known], weights[some]))
        return tuple(found)
