"""Regression with learned kernel weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .. import losses, norms
from ..common.numbers import thread_count
from ..common.types import Data, Numbers
from ..kernels.data.standardized import moments
from ..losses.risk import sum_constraint
from ..model.files.registry import registered
from ..model.kernel_values import kernel_values, read_present
from ..problem.problem import Problem
from .automatic import FACTORS
from .base import MKLEstimator
from .conditional_method import check_calibrated, only_if
from .conformal import checked_alpha, threshold
from .cross_fit import Solved
from .formulation import Outputs
from .jackknife import jackknife_interval, leave_one_out
from .parameters import is_auto
from .validation import check_targets, check_weights, one_number, weighed

EPSILON = 0.1  # epsilon="scale" in units of the standard deviation of y


def _check_intervals(model: BaseRegressor) -> None:
    check_calibrated(model.calibrate, "predict_interval", "'residuals' or 'jackknife+'")


@dataclass(eq=False, repr=False, kw_only=True)
class BaseRegressor(RegressorMixin, MKLEstimator):
    """Methods shared by `MKLRegressor` and `MKLRegressorCV`."""

    loss: str | losses.Loss = "epsilon_insensitive"
    epsilon: float | str = "scale"
    calibrate: str | None = None
    fit_intercept: bool = True

    def _scales(self, y: np.ndarray, weights: np.ndarray) -> tuple[Numbers, Numbers]:
        """Return epsilon and the unit of C for targets y.

        If targets and decision function are multiplied by 2, absolute errors are multiplied by 2
        and the regulariser by 4. So the unit of C is the standard deviation of y for the
        epsilon-insensitive loss, and 1 for the squared loss.
        """
        spread = _spread(y, weights, shared=getattr(self, "share_weights", False))
        epsilon = EPSILON * spread if is_scale(self.epsilon) else float(self.epsilon)
        name = self._losses(1, epsilon)[0].name
        return epsilon, spread if name == "epsilon_insensitive" else 1.0

    def _losses(self, outputs: int, epsilon: Numbers) -> list[losses.Loss]:
        """Return the loss of each target."""
        if self.loss != "epsilon_insensitive":
            return [losses.get(self.loss, "regressor")] * outputs
        widths = np.resize(epsilon, outputs)
        return [losses.get(self.loss, "regressor", epsilon=float(width)) for width in widths]

    def _problems(
        self, y: np.ndarray, costs: np.ndarray, norm: norms.Norm, epsilon: Numbers
    ) -> list[Problem]:
        """Return the problem of each target; costs have shape (n,) or (n_outputs, n)."""
        targets, problems = y.reshape(len(y), -1).T, []
        each, tau = np.broadcast_to(costs, targets.shape), sum_constraint(self.fit_intercept)
        with np.errstate(over="ignore"):  # the objective is checked instead
            each_loss = self._losses(len(each), epsilon)
            for loss, target, cost in zip(each_loss, targets, each, strict=True):
                centre = 0.0 if tau is None else _centre(target[cost > 0])
                problem = Problem.of(loss, norm, target - centre, cost, tau, centre=centre)
                problems.append(problem)
        return problems

    def _check_loaded(self) -> None:
        """Check the shapes of C_, epsilon_ and leave-one-out models in a loaded file."""
        if self.calibrate == "jackknife+":
            expected = (self._model.examples.n + 1, self.conformity_.shape[-1])
            if self.left_out_.dtype != np.float64 or self.left_out_.shape != expected:
                raise ValueError(
                    f"left_out_ must be a float64 array of shape {expected}, got "
                    f"{self.left_out_.dtype} of shape {self.left_out_.shape}"
                )
        if not hasattr(self, "epsilon_"):  # files of versions without "scale"
            self.epsilon_: Numbers = float(self.epsilon)
        for value in (self.epsilon_, getattr(self, "C_", 1.0)):
            if np.shape(value) not in ((), self._model.intercept.shape):
                raise ValueError(
                    "C_ and epsilon_ must be numbers or arrays with one number per target, got "
                    f"shape {np.shape(value)}"
                )

    def predict(self, X: Data) -> np.ndarray:
        """Return the predicted targets.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,), or (n, n_outputs) with several targets
        """
        values = self._decide(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def score(self, X: Data, y: object, sample_weight: object = None) -> float:
        """Return the coefficient of determination R^2 of the predictions.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : array-like of shape (n,) or (n, n_outputs)
            True targets.
        sample_weight : array-like of shape (n,), optional
            Weights of the squared errors.

        Returns
        -------
        float
            1 for perfect predictions, 0 for the mean of y; averaged over several targets.
        """
        return float(super().score(X, y, sample_weight))

    @only_if(_check_intervals)
    def predict_interval(self, X: Data, alpha: float = 0.05) -> np.ndarray:
        """Return intervals that contain the target with a probability of about 1 - alpha.

        The probability is over training and new examples, which must be exchangeable. With
        ``calibrate="residuals"`` all intervals of a target have the same width. With
        ``calibrate="jackknife+"`` they are wider where leaving out one example changes the
        prediction.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        alpha : float in (0, 1)
            Accepted error rate.

        Returns
        -------
        ndarray of shape (n, 2), or (n, n_outputs, 2) with several targets
            Lower and upper ends. They are infinite if there are fewer than 1 / alpha - 1 training
            examples.

        Raises
        ------
        AttributeError
            If `calibrate` is None.
        ValueError
            If `alpha` is outside (0, 1).
        """
        if self.calibrate == "jackknife+":
            return self._jackknife(X, checked_alpha(alpha))
        half = threshold(self.conformity_, checked_alpha(alpha))
        values = self._decide(X)
        ends = np.stack([values - half, values + half], axis=-1)
        return ends[:, 0] if values.shape[1] == 1 else ends

    def _after_fit(self, solved: Solved) -> None:
        """Store absolute held-out residuals, shape (n_outputs, n), or leave-one-out models."""
        if self.calibrate is None:
            return
        if self.calibrate == "jackknife+":
            self._leave_out(solved)
            return
        tests = self._calibration_tests(solved.prepared.examples.n, None)
        values = solved.held_out_values(self, tests)
        each = [one for problem in solved.problems for one in problem.per_output]
        targets = np.stack([one.y + one.centre for one in each])
        self.conformity_ = np.abs(targets - values)

    def _leave_out(self, solved: Solved) -> None:
        """Store leave-one-out models (coefficients of support vectors, intercept) and residuals."""
        problems, optimum = solved.problems, solved.optima[0]
        problem = problems[0]
        if len(problems) > 1 or problem.n_outputs > 1 or problem.loss.name != "squared":
            raise ValueError(
                "calibrate='jackknife+' requires one target and loss='squared', got "
                f"{len(problems) * problem.n_outputs} targets and loss={problem.loss.name!r}; use "
                "calibrate='residuals'"
            )
        support = optimum.alpha != 0
        models, residuals = leave_one_out(problem, solved.engine, optimum.weights, support)
        kept = np.append(np.flatnonzero(support), solved.engine.n)
        self.left_out_, self.conformity_ = models[kept], np.abs(residuals)[None]

    def _jackknife(self, X: Data, alpha: float) -> np.ndarray:
        """Return the jackknife+ intervals of n examples, shape (n, 2)."""
        threads = thread_count(self.n_jobs)
        new = read_present(self._model, self._checked(X, reset=False), threads)
        values = kernel_values(self._model, 0, new, threads)
        predictions = values @ self.left_out_[:-1] + self.left_out_[-1]
        return np.stack(jackknife_interval(predictions, self.conformity_[0], alpha), axis=-1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@registered("MKLRegressor", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLRegressor(BaseRegressor):
    """Regression with learned kernel weights, for one target or several.

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    C : float, "scale" or "auto"
        A number has the meaning of C in scikit-learn's `SVR`. "scale" makes predictions
        independent of the unit of y: C is the standard deviation of y for the epsilon-insensitive
        loss, 1 for the squared loss. Each target has its own; targets that share their weights
        have one, the root of their mean variance. "auto": with default kernels (`kernels=None`)
        one of eight multiples of "scale", from 0.03 to 100, chosen together with the kernels on
        held-out folds of at most 2,000 examples; with kernels passed explicitly "scale".
    loss : {"epsilon_insensitive", "squared"} or an object of `kernelweave.losses`
        "epsilon_insensitive" is max(0, abs(y - f) - epsilon), the loss of support vector
        regression; "squared" is (y - f)^2, the loss of kernel ridge regression.
    epsilon : float or "scale"
        Half the width of the epsilon-insensitive tube. "scale" is a tenth of the standard
        deviation of y.
    fit_intercept : bool
        Whether the model has an intercept b. Without one, with the squared loss, linear kernels
        and p = 1, it is the group lasso.
    calibrate : {"residuals", "jackknife+"} or None
        "residuals" stores the residuals of 5-fold cross-fitting, for `predict_interval`.
        "jackknife+" stores all leave-one-out models of one target with the squared loss, computed
        from the dual variables with fixed kernel weights, for at most 5,000 examples.
    share_weights : bool
        With several targets: whether all of them use the same kernel weights, as one problem with
        one duality gap.

    Attributes
    ----------
    C_, epsilon_ : float, or ndarray of shape (n_outputs,)
        C and epsilon of the model.
    candidates_ : list of dict
        As for `MKLClassifier`; the loss is the mean squared error divided by the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLRegressor
    >>> from kernelweave.datasets import make_sines
    >>> from kernelweave.kernels import RBF
    >>> X, y = make_sines(200, random_state=0)
    >>> model = MKLRegressor(RBF(gamma=[0.01, 1.0, 100.0]), norm=1).fit(X, y)
    >>> print(f"R^2 {model.score(X, y):.2f}", model.weights_.round(1))
    R^2 0.99 [0. 1. 0.]
    """

    norm: float | norms.Norm = 2.0
    C: float | str = "auto"
    share_weights: bool = False
    checkpoint: str | os.PathLike[str] | None = None

    def fit(
        self, X: Data, y: object, sample_weight: object = None, *, groups: object = None
    ) -> MKLRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : array-like of shape (n,) or (n, n_outputs)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Factors of C.
        groups : array-like of shape (n,), optional
            Group of each example, such as its chromosome. The folds of ``calibrate="residuals"``
            keep groups together; "jackknife+" refuses groups.

        Returns
        -------
        MKLRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid.
        """
        X = self._begin(X)
        y = check_targets(self, X, y, numeric=True, several=True)
        weights = check_weights(sample_weight, len(y))
        self.epsilon_, unit = self._scales(y, weights)
        C = unit if is_scale(self.C) or is_auto(self.C) else float(self.C)
        costs = np.array([weighed(one, weights) for one in np.atleast_1d(C)])
        problems = self._problems(y, costs, norms.as_norm(self.norm), self.epsilon_)
        factors = FACTORS if is_auto(self.C) else (1.0,)
        shared = self.share_weights and len(problems) > 1
        self._set_calibration_folds(groups, None, len(y))
        outputs = Outputs(problems, one_number(y), shared)
        self.C_ = C * self._train(X, outputs, factors)
        return self


def _centre(y: np.ndarray) -> float:
    """Return the median of the distinct targets, which does not depend on sample weights."""
    different = np.unique(y)
    return float(different[len(different) // 2]) if len(different) else 0.0


def is_scale(value: object) -> bool:
    """Return whether a parameter is "scale"."""
    return isinstance(value, str) and value == "scale"


def _spread(y: np.ndarray, weights: np.ndarray, *, shared: bool) -> Numbers:
    """Return the standard deviation of each target; 1 for constant targets.

    Parameters
    ----------
    y : ndarray of shape (n,) or (n, n_outputs)
        Targets.
    weights : ndarray of shape (n,)
        Sample weights.
    shared : bool
        Whether to return one number for all targets: the root of the mean variance.
    """
    targets = y.reshape(len(y), -1)
    centres = [_centre(target) for target in targets[weights > 0].T]
    parts = weights / weights.max()  # so that the sum is finite
    # Centred first, so that the result does not depend on the origin of the targets.
    spreads = moments(targets - centres, parts / parts.sum())[1]
    if shared and len(spreads) > 1:
        spreads = np.array([np.linalg.norm(spreads) / np.sqrt(len(spreads))])
    found = np.where(spreads > 0, spreads, 1.0)
    return found if len(found) > 1 else float(found[0])
