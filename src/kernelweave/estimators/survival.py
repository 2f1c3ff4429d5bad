"""Survival analysis with learned kernel weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .. import losses, norms
from ..common.types import Data
from ..kernels import Kernel
from ..kernels.default import default_survival_kernels
from ..kernels.default_of_views import default_of_views
from ..losses.censored_squared import CensoredRisk
from ..losses.cox import CoxRisk
from ..losses.ranking import RankingRisk
from ..losses.risk import Risk
from ..model.files.registry import registered
from ..problem.problem import Problem
from .base import MKLEstimator
from .cross_fit import Solved
from .formulation import Outputs
from .survival_targets import StepFunction, as_survival, check_events, concordance
from .validation import check_weights, weighed

LOSSES = ("cox", "ranking", "regression")
LOG_LARGEST = float(np.log(np.finfo(float).max))  # maximum logarithm of a hazard


@dataclass(eq=False, repr=False, kw_only=True)
class BaseSurvival(MKLEstimator):
    """Methods shared by `MKLSurvival` and `MKLSurvivalCV`."""

    loss: str = "cox"
    ties: str = "efron"

    def _problem(
        self, X: Data, y: object, sample_weight: object, C: float, norm: float | norms.Norm
    ) -> Problem:
        """Return the problem of n examples with censored times; see `MKLSurvival.fit`."""
        self._check_loss()
        event, time = as_survival(y)
        check_consistent_length(X, time)
        weights = check_weights(sample_weight, len(time))
        check_events(event, weights)
        risk = self._risk(event, time, weights, weighed(C, weights))
        return Problem(risk, norms.as_norm(norm))

    def _check_loss(self) -> None:
        """Raise ValueError if the loss is unknown."""
        if not (isinstance(self.loss, str) and self.loss in LOSSES):
            raise ValueError(f"loss must be one of {LOSSES}, got {self.loss!r}")

    def _candidates(self, X: Data, costs: np.ndarray) -> dict[str, list[Kernel]]:
        """Return a single set of default kernels: held-out folds have too few events to choose."""
        return {"default": self._default_kernels(X, costs)}

    def _default_kernels(self, X: Data, costs: np.ndarray) -> list[Kernel]:
        return default_of_views(X, costs, default_survival_kernels)

    def _risk(
        self, event: np.ndarray, time: np.ndarray, weights: np.ndarray, costs: np.ndarray
    ) -> Risk:
        """Return the risk of censored times with the loss of the estimator."""
        if self.loss == "cox":
            return CoxRisk(losses.Cox(self.ties), time, costs, event=event, ties=self.ties)
        if self.loss == "ranking":
            return RankingRisk(losses.Ranking(), time, costs, event=event)
        zero = np.flatnonzero(time == 0)
        if len(zero):
            raise ValueError(
                f"y: loss='regression' fits log(time), got time 0 at row {zero[0]}; remove such "
                "rows, add a small number to all times, or use loss='cox'"
            )
        target = -np.log(time)
        centre = float(target @ weights / weights.sum())
        return CensoredRisk(
            losses.CensoredSquared(), target - centre, costs, centre=centre, event=event
        )

    def _after_fit(self, solved: Solved) -> None:
        """Estimate the cumulative baseline hazard of a Cox model."""
        engine, risk, optimum = solved.engine, solved.problems[0].risk, solved.optima[0]
        if not isinstance(risk, CoxRisk):
            return
        if not np.array_equal(engine.alpha, optimum.alpha):  # the best model, not the last
            engine.move_to(optimum.alpha)
        found = risk.baseline_hazard(engine.combined(optimum.weights))
        self.event_times_, self.cumulative_baseline_hazard_ = found

    def predict(self, X: Data) -> np.ndarray:
        """Return risk scores: the higher, the earlier the event is expected.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._decide(X)[:, 0]

    def predict_cumulative_hazard_function(self, X: Data) -> list[StepFunction]:
        """Return the cumulative hazard of each example as a step function of time.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        list of n StepFunction
        """
        if self.loss != "cox":
            raise ValueError(
                f"hazards and survival functions require loss='cox', got {self.loss!r}; "
                "predict returns risk scores"
            )
        with np.errstate(divide="ignore"):  # a hazard of 0
            logarithms = np.log(self.cumulative_baseline_hazard_)
        return [
            StepFunction(
                self.event_times_, np.exp(np.minimum(risk + logarithms, LOG_LARGEST)), before=0.0
            )
            for risk in self.predict(X)
        ]

    def predict_survival_function(self, X: Data) -> list[StepFunction]:
        """Return the probability of survival of each example as a step function of time.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        list of n StepFunction
        """
        hazards = self.predict_cumulative_hazard_function(X)
        return [StepFunction(one.x, np.exp(-one.y), before=1.0) for one in hazards]

    def score(self, X: Data, y: object) -> float:
        """Return Harrell's concordance index of the risk scores.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : structured array of (event, time), shape (n,), or a DataFrame with two such columns

        Returns
        -------
        float
            1 for a perfect order, 0.5 for a random one.
        """
        risk = self.predict(X)
        event, time = as_survival(y)
        check_consistent_length(risk, time)
        return concordance(event, time, risk)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_loaded(self) -> None:
        """Raise ValueError if the baseline hazard of a loaded Cox model is not valid."""
        super()._check_loaded()
        if self.loss != "cox":
            return
        times, hazard = self.event_times_, self.cumulative_baseline_hazard_
        if not (times.ndim == hazard.ndim == 1 and times.dtype == hazard.dtype == np.float64):
            raise ValueError("event_times_ and cumulative_baseline_hazard_ must be float64 vectors")
        if not 0 < len(times) == len(hazard):
            raise ValueError(
                "event_times_ and cumulative_baseline_hazard_ must have one length of at least 1, "
                f"got {len(times)} and {len(hazard)}"
            )
        if not np.all(steps := np.diff(times) > 0):
            k = int(np.argmin(steps))
            raise ValueError(
                f"event_times_ must increase, not go from {times[k]} to {times[k + 1]}"
            )
        if not np.all(steps := np.diff(hazard, prepend=0.0) >= 0):
            k = int(np.argmin(steps))
            before = hazard[k - 1] if k else 0.0
            raise ValueError(
                "cumulative_baseline_hazard_ must start at 0 or above and never decrease, not go "
                f"from {before} to {hazard[k]}"
            )


@registered("MKLSurvival", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLSurvival(BaseSurvival):
    """Survival analysis with learned kernel weights: Cox model, ranking or censored regression.

    The model minimises C times the loss plus the regulariser of multiple kernel learning, and
    certifies the minimum by a duality gap. Other parameters are those of `MKLClassifier`.

    Parameters
    ----------
    kernels : Kernel, list of Kernel or None
        None: linear and Laplacian kernels of the numbers and of the categories of each view, and
        kernels of its texts, sequences and missing values (see `kernels.default`).
    norm : float or Norm
        The norm of the kernel weights; 1 is sparse, inf the plain sum.
    C : float
        Factor of the loss: larger values fit the training examples more closely.
    loss : {"cox", "ranking", "regression"}
        The negative partial log-likelihood of Cox's proportional hazards model; the squared hinge
        loss of pairs in which an event is earlier than another time, divided by n; or the squared
        loss of -log(time), where a censored time is a lower bound of the time.
    ties : {"efron", "breslow"}
        Approximation of the partial likelihood for events at equal times.

    Attributes
    ----------
    event_times_ : ndarray of shape (K,)
        Distinct times of events in the training data, with the Cox loss.
    cumulative_baseline_hazard_ : ndarray of shape (K,)
        Breslow's estimate at these times, for a decision value of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLSurvival
    >>> from kernelweave.kernels import RBF, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> time = rng.exponential(np.exp(-X[:, 0]))
    >>> event = rng.random(150) < 0.7
    >>> y = np.array(list(zip(event, time)), dtype=[("event", bool), ("time", float)])
    >>> model = MKLSurvival([Linear(), RBF(gamma=0.3)], norm=1).fit(X, y)
    >>> bool(model.duality_gap_ <= model.tol), bool(model.score(X, y) > 0.7)
    (True, True)
    """

    norm: float | norms.Norm = 2.0
    C: float = 1.0
    checkpoint: str | os.PathLike[str] | None = None

    def fit(self, X: Data, y: object, sample_weight: object = None) -> MKLSurvival:
        """Fit the model to examples with censored times.

        Parameters
        ----------
        X : array-like, DataFrame, Views or sequences of n examples
        y : structured array of (event, time), shape (n,), or a DataFrame with two such columns
        sample_weight : array-like of shape (n,), optional
            Factors of C.

        Returns
        -------
        MKLSurvival
            The fitted estimator.

        Raises
        ------
        ValueError
            If times are negative or not finite, or if there is no event.
        """
        X = self._begin(X)
        problem = self._problem(X, y, sample_weight, self.C, self.norm)
        # Equal rows are not merged: their times may differ.
        self._train(X, Outputs([problem], np.arange(len(problem.y))))
        return self
