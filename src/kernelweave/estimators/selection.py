"""Estimators that choose their norm and C by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import is_multilabel

from .. import losses
from ..common.numbers import is_whole
from ..common.types import Data
from ..model.files.registry import registered
from ..norms import Norm
from .classifier import BaseClassifier
from .formulation import Formulation, Outputs
from .multi_class import form_of
from .regressor import BaseRegressor, is_scale
from .search import Search, SearchTask, Split
from .survival import BaseSurvival
from .survival_targets import as_survival, check_events, survival_array
from .validation import check_targets, check_weights, one_number, weighed

CS = (0.01, 0.1, 1.0, 10.0, 100.0)
# Concordances of held-out folds are noisy: with few events, a larger grid reduces the concordance
# on new patients. These grids were chosen on splits other than those of the benchmark table
# (`python -m benchmarks survival`).
SURVIVAL_CS = {"cox": (0.3, 1.0), "ranking": (0.1, 0.3), "regression": (0.03, 0.1, 0.3)}


class _HeldOut:
    """An estimator with given decision values: X contains indices of held-out examples."""

    def __init__(self, values: np.ndarray, classes: np.ndarray | None = None):
        super().__init__()
        self.values = values  # shape (n_held_out, n_outputs)
        self.classes = classes
        self.classes_ = classes

    def _decide(self, X: Any) -> np.ndarray:
        return self.values[np.ravel(X)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _HeldOutClassifier(_HeldOut, BaseClassifier):
    """A classifier for scorers: labels, decision values, probabilities of the logistic loss."""

    def __init__(
        self, values: np.ndarray, classes: np.ndarray, loss: str | losses.Loss, multi_class: str
    ):
        super().__init__(values, classes)
        self.loss, self.multi_class_ = loss, multi_class


class _HeldOutRegressor(_HeldOut, BaseRegressor):
    """A regressor for scorers."""


class _HeldOutSurvival(_HeldOut, BaseSurvival):
    """A survival model for scorers: risk scores and their concordance."""


@dataclass(frozen=True, eq=False)
class ClassSearch(SearchTask):
    """Cross-validation of a classifier over norm and C.

    Attributes
    ----------
    estimator : MKLClassifierCV
        Gives the values of C, the class weights and the loss.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,)
        Index of the class of each example.
    """

    estimator: MKLClassifierCV
    classes: np.ndarray
    codes: np.ndarray

    @property
    def Cs(self) -> Iterable[float]:
        return self.estimator.Cs

    @property
    def strata(self) -> np.ndarray:
        return self.codes

    def costs_of(self, train: np.ndarray) -> np.ndarray:
        present, known = np.unique(self.codes[train], return_inverse=True)
        if len(present) < 2:
            raise ValueError(
                "cv must leave at least 2 classes to train on in every fold, but one has only "
                f"{self.classes[present].tolist()[0]!r}"
            )
        return self.estimator._costs(self.classes[present], known, self.weights[train])

    def posed(self, costs: np.ndarray, train: np.ndarray, C: float, norm: Norm) -> Formulation:
        model = self.estimator
        return model._formulation(self.codes, weighed(C, costs), norm, len(self.classes))

    def held_out(self, values: np.ndarray) -> _HeldOutClassifier:
        model = self.estimator
        return _HeldOutClassifier(values, self.classes, model.loss, model.multi_class_)


@dataclass(frozen=True, eq=False)
class TargetSearch(SearchTask):
    """Cross-validation of a regressor over norm and C."""

    estimator: MKLRegressorCV

    @property
    def Cs(self) -> Iterable[float]:
        Cs = self.estimator.Cs
        return CS if isinstance(Cs, str) else Cs

    def costs_of(self, train: np.ndarray) -> np.ndarray:
        costs = super().costs_of(train)
        if not costs.any():
            raise ValueError(
                "sample_weight must be positive for some of the examples of every training "
                "fold, got a fold with zeros only; shuffle the folds of cv"
            )
        return costs

    def posed(self, costs: np.ndarray, train: np.ndarray, C: float, norm: Norm) -> Formulation:
        epsilon, unit = self.estimator._scales(self.y[train], self.weights[train])
        each = np.atleast_1d(C * unit if is_scale(self.estimator.Cs) else C)
        scaled = np.array([weighed(float(one), costs) for one in each])
        problems = self.estimator._problems(self.y, scaled, norm, epsilon)
        shared = self.estimator.share_weights and len(problems) > 1
        return Outputs(problems, one_number(self.y), shared)

    def held_out(self, values: np.ndarray) -> _HeldOutRegressor:
        return _HeldOutRegressor(values)


@dataclass(frozen=True, eq=False)
class SurvivalSearch(SearchTask):
    """Cross-validation of a survival model over norm and C."""

    estimator: MKLSurvivalCV

    @property
    def Cs(self) -> Iterable[float]:
        Cs = self.estimator.Cs
        return SURVIVAL_CS[self.estimator.loss] if Cs is None else Cs

    def posed(self, costs: np.ndarray, train: np.ndarray, C: float, norm: Norm) -> Formulation:
        problem = self.estimator._problem(self.X, self.y, costs, C, norm)
        return Outputs([problem], np.arange(len(self.y)))

    def held_out(self, values: np.ndarray) -> _HeldOutSurvival:
        return _HeldOutSurvival(values)


@registered("MKLClassifierCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifierCV(Search, BaseClassifier):
    """`MKLClassifier` with norm and C chosen by cross-validation.

    All folds share one engine and its cache, and each fit starts from the solution of a neighbour
    in the grid (warm start), which is much faster than independent fits. Kernels are normalised,
    and parameters such as ``gamma=None`` computed, on all examples including held-out ones, without
    their labels. Sample weights are used in training and in scoring.

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    norms : sequence of floats >= 1 (or inf) and norm objects
        Norms to compare, sorted, so that neighbours in the grid have similar solutions.
    Cs : sequence of floats
        Values of C to compare.
    cv : int, splitter of scikit-learn, iterable of (train, test) indices, or None
        None is 5-fold. Integers give stratified folds without shuffling. If neighbouring rows are
        similar, pass ``StratifiedKFold(5, shuffle=True)``.
    scoring : str, callable or None
        None is the accuracy. A callable ``scoring(estimator, X, y)`` may call `predict`,
        `decision_function` and, with the logistic loss, `predict_proba` of the estimator; its X
        contains indices of held-out examples. With sample weights it is also passed their
        ``sample_weight``.
    rule : {"best", "one-standard-error"}
        "best" chooses the norm and C with the highest mean score. "one-standard-error" chooses the
        largest p that has, at some C, a mean score within one standard error (over the folds) of
        the best. If p = inf is among the norms and no other norm is clearly better, that is the
        plain sum of the kernels.
    max_time : float or None
        Maximum time in seconds of each fit of the search, and of the final fits of all outputs
        together.
    verbose : int
        1 displays a progress bar with the remaining time, 2 also prints the plans of the fits.

    Attributes
    ----------
    norm_ : float or norm object
        The chosen norm, as it was passed.
    C_ : float
        The chosen C. Ties are resolved by the smallest C, then by the largest p.
    best_score_ : float
        Mean score of the chosen norm and C.
    scores_ : ndarray of shape (n_norms, n_Cs, n_folds)
        Scores of the chosen kernels; NaN for values of C that were not tried.
    candidates_ : list of dict
        With `kernels=None`: name ("kernels"), best "C" and mean "score" of each set of default
        kernels that was compared.

    Examples
    --------
    >>> from kernelweave import MKLClassifierCV
    >>> from kernelweave.datasets import make_sparse_to_uniform
    >>> from kernelweave.kernels import Linear, per_feature
    >>> X, y, _ = make_sparse_to_uniform(100, n_relevant=2, n_features=8, random_state=0)
    >>> each = per_feature(Linear())
    >>> search = MKLClassifierCV(each, norms=[1, 2], Cs=[0.1, 1.0], cv=3).fit(X, y)
    >>> search.scores_.shape
    (2, 2, 3)
    >>> print(f"accuracy {search.best_score_:.1f}")
    accuracy 1.0
    """

    Cs: Iterable[float] = CS

    def _task(self, X: Data, y: object, sample_weight: object) -> ClassSearch:
        if is_multilabel(y):
            raise ValueError(
                "y must have one label per example, got several; use GridSearchCV with "
                "MKLClassifier"
            )
        classes, codes = self._labels(X, y)
        weights = check_weights(sample_weight, len(codes))
        self.multi_class_ = form_of(self, classes, codes, self._costs(classes, codes, weights), X)
        weighted = sample_weight is not None
        return ClassSearch(X, classes[codes], weights, weighted, self, classes, codes)

    def _after_search(self, task: SearchTask) -> None:
        self.classes_ = np.unique(task.y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


@registered("MKLRegressorCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLRegressorCV(Search, BaseRegressor):
    """`MKLRegressor` with norm and C chosen by cross-validation; see `MKLClassifierCV`.

    `scoring=None` is the coefficient of determination R^2, averaged over several targets. In each
    fold "scale" refers to the standard deviation of the training targets.

    Parameters
    ----------
    Cs : sequence of floats, or "scale"
        "scale": 0.01, 0.1, 1, 10 and 100 times the standard deviation of y (times 1 for the
        squared loss).

    Attributes
    ----------
    C_, epsilon_ : float, or ndarray of shape (n_outputs,)
        C and epsilon of the model.

    Examples
    --------
    >>> from kernelweave import MKLRegressorCV
    >>> from kernelweave.datasets import make_sines
    >>> from kernelweave.kernels import RBF
    >>> X, y = make_sines(150, noise=0.1, random_state=0)
    >>> widths = RBF(gamma=[0.1, 1.0, 10.0])
    >>> search = MKLRegressorCV(widths, norms=[1, 2], Cs=[1.0, 10.0], cv=3).fit(X, y)
    >>> print(f"R^2 {search.best_score_:.1f}")
    R^2 1.0
    """

    Cs: Iterable[float] | str = "scale"
    share_weights: bool = False

    def _task(self, X: Data, y: object, sample_weight: object) -> TargetSearch:
        y = check_targets(self, X, y, numeric=True, several=True)
        weights = check_weights(sample_weight, len(y))
        return TargetSearch(X, y, weights, sample_weight is not None, self)

    def _after_search(self, task: SearchTask) -> None:
        self.epsilon_, unit = self._scales(task.y, task.weights)
        self.C_ = self.C_ * unit if is_scale(self.Cs) else self.C_


@registered("MKLSurvivalCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLSurvivalCV(Search, BaseSurvival):
    """`MKLSurvival` with norm and C chosen by cross-validation; see `MKLClassifierCV`.

    Parameters
    ----------
    norms : sequence of floats or Norms
        Only 2 by default. Concordances of a few hundred patients are too noisy to choose among
        many norms; pass 1 for sparse weights.
    Cs : sequence of floats, optional
        By default 0.3 and 1 for the Cox loss, 0.1 and 0.3 for the ranking, 0.03, 0.1 and 0.3 for
        the regression.
    cv : int, splitter of scikit-learn, iterable of (train, test) positions, or None
        None is 5-fold. Integers give folds that are stratified by event and not shuffled.
    scoring : callable or None
        None is Harrell's concordance index, which sample weights do not change. A callable
        ``scoring(estimator, X, y)`` can call `predict`; y is a structured array of (event, time).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLSurvivalCV
    >>> from kernelweave.kernels import RBF, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> time = rng.exponential(np.exp(-X[:, 0]))
    >>> event = rng.random(150) < 0.7
    >>> y = np.array(list(zip(event, time)), dtype=[("event", bool), ("time", float)])
    >>> search = MKLSurvivalCV([Linear(), RBF(gamma=0.3)], norms=[1, 2], Cs=[0.1, 1.0], cv=3)
    >>> search = search.fit(X, y)
    >>> search.scores_.shape, bool(search.best_score_ > 0.65)
    ((2, 2, 3), True)
    """

    norms: Iterable[float | Norm] = (2.0,)
    Cs: Iterable[float] | None = None

    def _task(self, X: Data, y: object, sample_weight: object) -> SurvivalSearch:
        event, time = as_survival(y)
        self._check_loss()
        weights = check_weights(sample_weight, len(time))
        check_events(event, weights)
        y = survival_array(event, time)
        return SurvivalSearch(X, y, weights, False, self)  # concordance has no weights

    def _splits(self, X: Data, y: np.ndarray, groups: object) -> list[Split]:
        """Return the positions of training and held-out examples of each fold."""
        if self.cv is not None and not is_whole(self.cv):
            splits = super()._splits(X, y, groups)
        else:
            folds, events = 5 if self.cv is None else int(self.cv), int(y["event"].sum())
            if not 2 <= folds <= events:
                raise ValueError(
                    f"cv must be from 2 to the number of events, {events}, so that each fold has "
                    f"an event, got {folds} folds; with few events use MKLSurvival with a C of "
                    "your choice"
                )
            splits = list(StratifiedKFold(folds).split(np.zeros(len(y)), y["event"]))
        for fold, (train, test) in enumerate(splits):
            scored = [("held-out", test)] if self.scoring is None else []
            for name, part in [("training", train), *scored]:
                if not y["event"][part].any():
                    raise ValueError(
                        f"cv must leave an event in each part of each fold, but the {name} part of "
                        f"fold {fold} has censored times only; pass a small integer for folds that "
                        "are stratified by event, or use MKLSurvival with a C of your choice"
                    )
        return splits
