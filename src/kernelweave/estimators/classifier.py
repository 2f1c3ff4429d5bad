"""Classification with learned kernel weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from types import MethodType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, is_multilabel
from sklearn.utils.validation import check_consistent_length

from .. import losses, norms
from ..engines import Engine
from ..model.files.registry import stored
from ..optimization.result import Result
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from .automatic import FACTORS
from .base import MKLEstimator, Prepared
from .calibration import calibrators, probabilities
from .conformal import checked_alpha, class_scores, threshold
from .cross_fit import cross_fitted
from .parameters import check_parameters, is_auto
from .validation import check_class_weights, check_targets, check_weights, one_number, weighed


class _WithProbabilities:
    """A method that only estimators with probabilities have.

    Unlike scikit-learn's `available_if`, access raises an AttributeError with the full text.
    """

    def __init__(self, method: Callable[..., np.ndarray]):
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type) -> Callable[..., np.ndarray]:
        if model is None:
            return self.method
        logistic = isinstance(losses.get(model.loss, "classifier"), losses.Logistic)
        if not (logistic or model.calibrate):
            raise AttributeError(
                f"{self.method.__name__} requires loss='logistic', or calibrate='sigmoid' (or "
                f"'isotonic') for loss={model.loss!r}"
            )
        return MethodType(self.method, model)


def _has_sets(model: Any) -> bool:
    """Return whether there are scores of held-out examples; raise if there are none."""
    if model.calibrate:
        return True
    raise AttributeError("predict_set requires calibrate='sigmoid' or calibrate='isotonic'")


@dataclass(eq=False, repr=False, kw_only=True)
class BaseClassifier(ClassifierMixin, MKLEstimator):
    """What a classifier does, whoever chooses its norm and C."""

    loss: str | losses.Loss = "hinge"
    class_weight: dict[Any, float] | str | None = None
    share_weights: bool = False
    calibrate: str | None = None

    _takes_hard_margins: ClassVar[bool] = True  # C may be inf

    def _labels(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes, and which of them each example belongs to, shape (n,)."""
        y = check_targets(self, X, y, numeric=False)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "y must have at least 2 classes, but the data have only 1 class: "
                f"{classes.tolist()[0]!r}"
            )
        check_class_weights(self.class_weight, classes)
        return classes, codes

    def _problems(self, codes: np.ndarray, costs: np.ndarray, norm: norms.Norm) -> list[Problem]:
        """Return one problem per class, or a single one for two."""
        loss, count = losses.get(self.loss, "classifier"), codes.max() + 1
        positives = [1] if count == 2 else range(count)
        targets = [np.where(codes == c, 1.0, -1.0) for c in positives]
        if np.isinf(costs).any():
            return [HardMarginProblem.separating(loss, norm, y, costs > 0) for y in targets]
        return [Problem.of(loss, norm, y, costs) for y in targets]

    def _costs(
        self, classes: np.ndarray, codes: np.ndarray, sample_weight: Any = None
    ) -> np.ndarray:
        given = self.class_weight
        if isinstance(given, dict):  # not all of its classes need be in a part of the examples
            per_class = np.array([given.get(label, 1.0) for label in classes.tolist()])
        else:
            per_class = compute_class_weight(given, classes=classes, y=classes[codes])
        weights = check_weights(sample_weight, len(codes))
        costs = weighed(1.0, weights, per_class[codes])
        if np.count_nonzero(np.bincount(codes, costs)) < 2:
            raise ValueError(
                "sample_weight and class_weight must leave at least 2 classes with a positive "
                "weight"
            )
        return costs

    def _check_loaded(self) -> None:
        outputs = len(self._model.intercept)
        if getattr(self, "multilabel_", False):
            if self.classes_.shape != (outputs,):
                raise ValueError("there must be a label for each decision function")
            return
        if self.classes_.shape != (max(outputs, 2),) or outputs == 2:
            raise ValueError("there must be a class for each decision function, or two for one")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values, shape (n,), or (n, classes) with more classes or labels."""
        values = self._decide(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, shape (n,); of several, (n, labels) of 0 and 1."""
        values = self.decision_function(X)
        if getattr(self, "multilabel_", False):
            return (values > 0).astype(int)
        index = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        labels: np.ndarray = self.classes_[index]
        return labels

    @_WithProbabilities
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        With ``calibrate=`` a sigmoid or isotonic function, fitted to cross-fitted decision values,
        turns decision values into probabilities. Without it the logistic loss gives
        1 / (1 + exp(-f)). Either refers to class frequencies after `class_weight`.

        Parameters
        ----------
        X : n examples.

        Returns
        -------
        Array of shape (n, classes). One against the rest has a number for each class, which are
        divided by their sum; several labels have one each.
        """
        return self._probabilities(self._decide(X))

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities of decision values, shape (n, outputs)."""
        found = getattr(self, "calibrators_", None)
        each = [expit] * values.shape[1] if found is None else found
        columns = [one(column) for one, column in zip(each, values.T, strict=True)]
        multilabel = getattr(self, "multilabel_", False)
        return probabilities(np.column_stack(columns), multilabel=multilabel)

    @available_if(_has_sets)  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any, alpha: float = 0.05) -> np.ndarray:
        """Return sets of classes that contain the true one with probability 1 - alpha.

        The probability is over training and new examples, which must be exchangeable.

        Parameters
        ----------
        X : n examples.
        alpha : accepted rate of errors, between 0 and 1.

        Returns
        -------
        Boolean array of shape (n, classes); columns follow ``classes_``. A set may be empty, for an
        example unlike all others, or hold several classes.
        """
        if getattr(self, "multilabel_", False):
            raise ValueError("predict_set is defined for one label per example, not for several")
        limit = threshold(self.conformity_, checked_alpha(alpha))
        sets: np.ndarray = 1.0 - self._probabilities(self._decide(X)) <= limit + 1e-12
        return sets

    def _cross_fit(
        self, prepared: Prepared, problems: list[Problem], engine: Engine, results: list[Result]
    ) -> None:
        """Fit calibrators and conformity scores to decision values of held-out examples."""
        if self.calibrate is None:
            return
        if any(isinstance(one, HardMarginProblem) for one in problems):
            raise ValueError("calibrate must be None for a hard margin, C=inf")
        labels = np.concatenate([one.y.reshape(one.n_outputs, -1) for one in problems]) > 0
        costs = np.mean([one.C.reshape(one.n_outputs, -1).mean(axis=0) for one in problems], axis=0)
        strata = np.unique(labels, axis=1, return_inverse=True)[1].ravel()
        values = cross_fitted(self, prepared, problems, engine, results, strata)
        weights = costs / costs[costs > 0].mean()
        known = weights > 0
        self.calibrators_ = calibrators(
            self.calibrate, values[:, known], labels[:, known], weights[known]
        )
        each = labels.sum(axis=0)
        if len(labels) == 1 or (each == 1).all():
            codes = labels[0].astype(int) if len(labels) == 1 else labels.argmax(axis=0)
            self.conformity_ = class_scores(self._probabilities(values.T), codes)

    @_WithProbabilities
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities, shape (n, classes)."""
        return np.asarray(np.log(self.predict_proba(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@stored("MKLClassifier", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifier(BaseClassifier):
    """Classification with learned kernel weights.

    Solves, for two classes (and one against the rest for more),

        min  C sum_i V(f(x_i), y_i) + 1/2 sum_m ||w_m||^2 / theta_m,   ||theta|| <= 1, theta >= 0

    to a certified relative duality gap of `tol`.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        Each may be a family. None: default kernels, which depend on the type of each column
        and not on its units, accept missing numbers, and are chosen on held-out folds: RBF
        kernels of all columns together, with or without a kernel per column; for sequences,
        (gapped) k-mers or the weighted degree kernel (see `kernels.default`).
    norm : float >= 1, inf, or an object of `kernelweave.norms`
        1 gives sparse weights, inf the plain sum of the kernels.
    C : float or "auto"
        Cost of a unit of loss. "auto": with default kernels (`kernels=None`) 0.1, 1, 10 or 100,
        chosen together with the kernels on held-out folds of at most 2,000 examples; with
        given kernels 1. inf is a hard margin (hinge and squared hinge): the margin of every
        example is at least 1, sample weights only select examples, and an error is raised if the
        classes cannot be separated.
    loss : {"hinge", "squared_hinge", "logistic", "smooth_hinge"} or a loss object
    calibrate : {"sigmoid", "isotonic"} or None
        How `predict_proba` and `predict_set` turn decision values into probabilities. The function
        is fitted to decision values of 5-fold cross-fitting, for which all folds use the kernel
        values of the fit. "sigmoid" suits small data, "isotonic" thousands of examples.
    solver : str
        "auto", or a solver by name.
    interleaved : bool
        Whether weights may change before the inner problem, with the weights given, is solved.
    normalize : {"variance", "unit", "trace", "center", None}
        How kernels are made comparable.
    tol : float
        Relative duality gap at which to stop: (P - D) / min(|P|, P0 - D), P and D being the primal
        and the dual value and P0 that of the best constant.
    max_iter : int or None
        Bound on the number of turns of the outer loop.
    max_time : float or None
        Bound on the seconds that a fit takes, of which every class has its share. A fit that runs
        out of time warns of the gap that it has reached. Solvers look at the clock after every
        working set, and within those that take long; what comes before them (reading and
        normalising kernels, weights from alignments) is always finished.
    working_set : int or "auto"
        Number of examples worked on in a turn. A number also rules out conjugate gradients. The
        solvers "skm", "mwu" and "qcqp" have no such working sets and ignore it.
    cache_mb : float
        Memory for rows of distances and dot products.
    n_jobs : int or None
        Threads; None is one, -1 all processors.
    class_weight : dict, "balanced" or None
        Factors of C for the examples of each class.
    share_weights : bool
        With more than two classes: whether all of them use the same kernel weights. The sum of
        their problems is then solved, as one problem with one duality gap.
    checkpoint : path or None
        Where a long run saves its state every two minutes, a file ``<path>.<output>`` for each
        output. A run that was killed goes on from there, and so does one that `max_iter` or
        `max_time` stopped: fit again with more. One that ends otherwise removes its files.
    verbose : int
        1 shows a live line, 2 also prints the plan of the fit; both on standard error.
    random_state : int, RandomState or None
        Only for solvers that draw random numbers.

    Attributes
    ----------
    weights_ : array of shape (M,), or (classes, M) unless they are shared
    kernel_names_ : tuple of M strings
    support_ : array of shape (n_support,)
    dual_coef_ : array of shape (1 or classes, n_support)
    intercept_ : array of shape (1 or classes,)
    primal_objective_, dual_objective_, duality_gap_ : float, or one for each row of weights_
    constant_objective_ : float, or one for each row of weights_
        Primal value of the best constant. Where no model is better there is nothing to learn: the
        weights are then 0, and a UserWarning says so.
    plan_ : Plan
        How the model was trained; its repr is a sentence.
    certifies_ : str
        "weights and machine", or "machine at given weights" for the two-stage solvers.
    optimality_ : array of shape (2,), or (rows of weights_, 2)
        With `solver="skm"` only: the (eps1, eps2) of Bach et al. (2004) that were reached. No
        kernel with weight has an s_m / 2 that is below the largest by more than eps1, and outputs
        that move by eps2 satisfy the KKT conditions.
    n_iter_ : int
    history_ : list of dict
        Seconds, primal, dual, constant, gap and weights after every turn; a list for each row of
        weights_.
    classes_ : array
    C_ : float
        The C of the model.
    candidates_ : list of dict
        With `kernels=None`: for each set of default kernels that was tried its name ("kernels"),
        its best "C", and its held-out "loss" (error rate).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = MKLClassifier([Linear(), RBF(["scale", "median"])], norm=1).fit(X, y)
    >>> print(f"accuracy {model.score(X_test, y_test):.1f}")
    accuracy 0.9
    >>> model.duality_gap_ <= model.tol
    True
    """

    norm: float | norms.Norm = 2.0
    C: float | str = "auto"
    checkpoint: str | os.PathLike[str] | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKLClassifier:
        """Learn from n examples X with labels y, shape (n,), or 0 and 1 for each of several labels.

        Several labels, shape (n, labels), are as many problems; ``classes_`` are their numbers.
        """
        self._forget()
        check_parameters(self)
        X = self._checked(X, reset=True)
        if is_multilabel(y):
            return self._fit_labels(X, y, sample_weight)
        classes, codes = self._labels(X, y)
        C, factors = self._cost()
        costs = weighed(C, self._costs(classes, codes, sample_weight))
        problems = self._problems(codes, costs, norms.as_norm(self.norm))
        self.C_ = C * self._train(X, problems, codes, self.share_weights, factors)
        self.classes_ = classes
        return self

    def _cost(self) -> tuple[float, Sequence[float]]:
        """Return C, and the factors of it that may be chosen on held-out folds."""
        return (1.0, FACTORS) if is_auto(self.C) else (float(self.C), (1.0,))

    def _fit_labels(self, X: Any, y: Any, sample_weight: Any) -> MKLClassifier:
        """Learn several labels, each of which an example may have."""
        problems, y = self._label_problems(X, y, sample_weight)
        C, factors = self._cost()
        self.C_ = C * self._train(X, problems, one_number(y), self.share_weights, factors)
        self.classes_, self.multilabel_ = np.arange(y.shape[1]), True
        return self

    def _label_problems(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[Problem], np.ndarray]:
        """Return the problem of each label, and the labels as an array of 0 and 1."""
        y = np.asarray(y.toarray() if sp.issparse(y) else y)
        check_consistent_length(X, y)
        if not np.isin(y, (0, 1)).all():
            raise ValueError(
                "y must hold 0 or 1 for each of several labels, but holds other values"
            )
        if self.class_weight is not None:
            raise ValueError("class_weight must be None where y holds several labels")
        C = getattr(self, "C_", self._cost()[0])
        costs = weighed(C, check_weights(sample_weight, len(y)))
        alike = np.flatnonzero((y == y[:1]).all(axis=0))
        if len(alike):
            raise ValueError(
                f"y: all examples have the same value, {y[0, alike[0]]}, of label {alike[0]}: "
                "there is nothing to learn, leave it out"
            )
        loss, norm = losses.get(self.loss, "classifier"), norms.as_norm(self.norm)
        return [Problem.of(loss, norm, np.where(one > 0, 1.0, -1.0), costs) for one in y.T], y
