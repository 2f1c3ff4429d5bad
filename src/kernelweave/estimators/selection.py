"""Model selection without waste: estimators that choose their norm and C by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import is_multilabel

from .. import losses
from ..common.numbers import is_whole
from ..model.files.registry import stored
from ..norms import Norm
from ..problem.problem import Problem
from .classifier import BaseClassifier
from .parameters import check_parameters
from .regressor import BaseRegressor, is_scale
from .search import Search, Split
from .survival import BaseSurvival
from .survival_targets import as_survival
from .validation import check_targets, check_weights, weighed

CS = (0.01, 0.1, 1.0, 10.0, 100.0)


class _HeldOut:
    """An estimator whose decision values are known: X holds positions of held-out examples."""

    def __init__(self, values: np.ndarray, classes: np.ndarray | None = None):
        super().__init__()
        self.values = values  # shape (held out, outputs)
        self.classes = classes
        self.classes_ = classes

    def _decide(self, X: Any) -> np.ndarray:
        return self.values[np.ravel(X)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _HeldOutClassifier(_HeldOut, BaseClassifier):
    """What scorers ask for labels, decision values and the probabilities of a logistic loss."""

    def __init__(self, values: np.ndarray, classes: np.ndarray, loss: str | losses.Loss):
        super().__init__(values, classes)
        self.loss = loss


class _HeldOutRegressor(_HeldOut, BaseRegressor):
    """What scorers ask for numbers."""


class _HeldOutSurvival(_HeldOut, BaseSurvival):
    """What scorers ask for risk scores and their concordance."""


@stored("MKLClassifierCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifierCV(Search, BaseClassifier):
    """`MKLClassifier` with norm and C chosen by cross-validation.

    All folds share one engine and its cache, and each fit starts from that of a neighbour in the
    grid: the search costs far less than fits of their own. Kernels are normalised, and parameters
    such as ``gamma=None`` made concrete, on all examples, those held out included. Their labels are
    not used. Sample weights count where machines learn and where they are scored.

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    norms : sequence of floats >= 1 (or inf) and norm objects
        In an order in which neighbours are alike.
    Cs : sequence of floats
    cv : int, splitter of scikit-learn, iterable of (train, test) positions, or None
        None is 5-fold; integers give stratified folds, which are not shuffled: where rows that
        follow each other are alike, give ``StratifiedKFold(5, shuffle=True)``.
    scoring : str, callable or None
        None is the accuracy. A callable ``scoring(estimator, X, y)`` can ask the estimator for
        `predict`, `decision_function` and, with the logistic loss, `predict_proba`; its X holds
        positions among the held-out examples. With sample weights it is also given their
        ``sample_weight``.
    rule : "best" or "one-standard-error"
        "best" takes the norm and C with the highest mean score. "one-standard-error" keeps to the
        largest p that has, at some C, a mean score within one standard error (over the folds) of
        that: to the plain sum of the kernels where p = inf is among the norms and nothing is
        clearly better.
    max_time : float or None
        Bound on the seconds of each fit, those of the search and the last one.
    verbose : int
        1 shows a progress bar with the time left, 2 also prints the plans of the fits.

    Attributes
    ----------
    norm_ : the norm that was chosen, as it was given
    C_ : float
        Of equal scores that of the smallest C counts, then that of the largest p.
    best_score_ : float
        The mean score of the norm and C that were chosen.
    scores_ : array of shape (norms, Cs, folds)

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

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> MKLClassifierCV:
        """Learn from n examples X with labels y, shape (n,); `groups` are for the splitter."""
        self._forget()
        check_parameters(self)
        X = self._checked(X, reset=True)
        if is_multilabel(y):
            raise ValueError("y holds several labels: search with GridSearchCV and MKLClassifier")
        classes, codes = self._labels(X, y)
        weights = check_weights(sample_weight, len(codes))

        def problems_of(train: np.ndarray, C: float, norm: Norm) -> list[Problem]:
            present, known = np.unique(codes[train], return_inverse=True)
            if len(present) < 2:
                raise ValueError(
                    "cv must leave at least 2 classes to train on in every fold, but one has only "
                    f"{classes[present].tolist()[0]!r}"
                )
            costs = np.zeros(len(codes))
            costs[train] = self._costs(classes[present], known, weights[train])
            return self._problems(codes, weighed(C, costs), norm)

        def held_out(values: np.ndarray) -> _HeldOut:
            return _HeldOutClassifier(values, classes, self.loss)

        counting = None if sample_weight is None else weights
        self._search(X, classes[codes], groups, counting, self.Cs, problems_of, held_out)
        self.classes_ = classes
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


@stored("MKLRegressorCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLRegressorCV(Search, BaseRegressor):
    """`MKLRegressor` with norm and C chosen by cross-validation; see `MKLClassifierCV`.

    `scoring=None` is the coefficient of determination; of several targets, its mean. In each fold
    "scale" is the standard deviation of the training targets.

    Parameters
    ----------
    Cs : sequence of floats, or "scale"
        "scale": 0.01, 0.1, 1, 10 and 100 times the spread of y (for the squared loss: times 1).

    Attributes
    ----------
    C_, epsilon_ : float, or array of shape (outputs,)
        The values of the model.

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

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> MKLRegressorCV:
        """Fit to n examples X with targets y, shape (n,) or (n, outputs); `groups`: for `cv`."""
        self._forget()
        check_parameters(self)
        X = self._checked(X, reset=True)
        y = check_targets(self, X, y, numeric=True, several=True)
        weights = check_weights(sample_weight, len(y))
        in_units = is_scale(self.Cs)

        def problems_of(train: np.ndarray, C: float, norm: Norm) -> list[Problem]:
            if not weights[train].any():
                raise ValueError(
                    "sample_weight must be positive for some of the examples that cv leaves to "
                    "train on, in every fold"
                )
            epsilon, unit = self._scales(y[train], weights[train])
            costs = np.zeros(len(y))
            costs[train] = weights[train]
            each = np.atleast_1d(C * unit if in_units else C)
            scaled = np.array([weighed(float(one), costs) for one in each])
            return self._problems(y, scaled, norm, epsilon)

        Cs: Any = CS if in_units else self.Cs
        counting = None if sample_weight is None else weights
        self._search(X, y, groups, counting, Cs, problems_of, _HeldOutRegressor)
        self.epsilon_, unit = self._scales(y, weights)
        self.C_ = self.C_ * unit if in_units else self.C_
        return self


@stored("MKLSurvivalCV", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLSurvivalCV(Search, BaseSurvival):
    """`MKLSurvival` with norm and C chosen by cross-validation; see `MKLClassifierCV`.

    Parameters
    ----------
    Cs : sequence of floats
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

    Cs: Iterable[float] = CS

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> MKLSurvivalCV:
        """Learn from examples and censored times.

        Parameters
        ----------
        X : array-like, DataFrame, Views or sequences of n examples
        y : structured array of (event, time), shape (n,), or a DataFrame with two such columns
        sample_weight : array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
            For the splitter.

        Returns
        -------
        MKLSurvivalCV
            The fitted estimator.

        Raises
        ------
        ValueError
            If times are negative or not finite, or if a training fold has no event.
        """
        self._forget()
        check_parameters(self)
        X = self._checked(X, reset=True)
        event, time = as_survival(y)
        targets = np.empty(len(time), dtype=[("event", bool), ("time", float)])
        targets["event"], targets["time"] = event, time
        weights = check_weights(sample_weight, len(time))

        def problems_of(train: np.ndarray, C: float, norm: Norm) -> list[Problem]:
            costs = np.zeros(len(time))
            costs[train] = weights[train]
            return [self._problem(X, targets, costs, C, norm)]

        self._search(X, targets, groups, None, self.Cs, problems_of, _HeldOutSurvival)
        self._estimate_baseline(X, targets, weights)
        return self

    def _splits(self, X: Any, y: np.ndarray, groups: Any) -> list[Split]:
        """Return the positions of training and held-out examples of each fold."""
        if self.cv is not None and not is_whole(self.cv):
            return super()._splits(X, y, groups)
        try:
            folds = StratifiedKFold(5 if self.cv is None else self.cv)
            return list(folds.split(np.zeros(len(y)), y["event"]))
        except ValueError as error:
            raise ValueError(f"cv={self.cv!r} gives no folds: {error}") from error
