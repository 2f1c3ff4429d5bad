"""Classification with learned kernel weights."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, is_multilabel
from sklearn.utils.validation import check_consistent_length

from .. import losses, norms
from ..common.types import Data
from ..losses.risk import sum_constraint
from ..model.files.registry import registered
from ..problem.problem import Problem
from .automatic import FACTORS
from .base import MKLEstimator
from .class_forms import LABELS, ClassForm, form_named
from .classes import Classes
from .conditional_method import check_calibrated, only_if
from .conformal import checked_alpha, class_scores, threshold
from .cross_fit import Solved
from .formulation import Formulation, Outputs
from .joint_classes import JointClasses
from .multi_class import form_of
from .one_vs_one import OneVsOne
from .parameters import is_auto
from .validation import check_class_weights, check_targets, check_weights, one_number, weighed


def _check_probabilities(model: BaseClassifier) -> None:
    """Raise AttributeError if an estimator has no probabilities."""
    logistic = isinstance(losses.get(model.loss, "classifier"), losses.Logistic)
    if not (logistic or model.calibrate):
        raise AttributeError(
            "predict_proba and predict_log_proba require loss='logistic', or calibrate='sigmoid' "
            f"(or 'isotonic') with another loss, got loss={model.loss!r} and calibrate=None"
        )


def _check_sets(model: BaseClassifier) -> None:
    check_calibrated(model.calibrate, "predict_set", "'sigmoid' or 'isotonic'")


@dataclass(eq=False, repr=False, kw_only=True)
class BaseClassifier(ClassifierMixin, MKLEstimator):
    """Methods shared by `MKLClassifier` and `MKLClassifierCV`."""

    loss: str | losses.Loss = "hinge"
    class_weight: dict[Any, float] | str | None = None
    multi_class: str = "auto"
    decision_function_shape: str = "ovr"
    share_weights: bool | str = "auto"
    calibrate: str | None = None
    fit_intercept: bool = True

    _takes_hard_margins: ClassVar[bool] = True  # C may be inf

    def _labels(self, X: Data, y: object) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes, and the index of the class of each example, shape (n,)."""
        y = check_targets(self, X, y, numeric=False)
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise ValueError(f"{error} For numbers as targets use MKLRegressor.") from None
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "y must have at least 2 classes, but the data have only 1 class: "
                f"{classes.tolist()[0]!r}"
            )
        check_class_weights(self.class_weight, classes)
        return classes, codes

    def _formulation(
        self, codes: np.ndarray, costs: np.ndarray, norm: norms.Norm, n_classes: int
    ) -> Formulation:
        """Return the problems that `multi_class_` selects.

        `codes` and `costs`, both of shape (n,), are class indices and costs of the examples.
        """
        loss, tau = losses.get(self.loss, "classifier"), sum_constraint(self.fit_intercept)
        classes = Classes(codes, costs, loss, norm, n_classes, tau)
        # models of earlier versions have no `multi_class_`
        form = getattr(self, "multi_class_", "ovr")
        shared = self._shares_weights(form)
        if form == "joint":
            return JointClasses(classes)
        if form == "ovo":
            return OneVsOne(classes, shared)
        return Outputs(classes.against_rest(), codes, shared and n_classes > 2)

    def _shares_weights(self, form: str) -> bool:
        """Return whether outputs share their weights; by default those of "ovo" and "joint" do."""
        return form != "ovr" if is_auto(self.share_weights) else bool(self.share_weights)

    def _costs(
        self, classes: np.ndarray, codes: np.ndarray, sample_weight: object = None
    ) -> np.ndarray:
        """Return sample weights times class weights, shape (n,)."""
        given = self.class_weight
        if isinstance(given, dict):  # some of its classes may be missing in a fold
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

    @property
    def _form(self) -> ClassForm:
        """The conversion of decision values to scores, labels and probabilities of classes."""
        if getattr(self, "multilabel_", False):
            return LABELS
        # models of earlier versions have no `multi_class_`
        return form_named(getattr(self, "multi_class_", "ovr"))

    def _check_loaded(self) -> None:
        self._form.check(self.classes_, len(self._model.intercept))

    def _output_names(self) -> list[object]:
        return self._form.names(self.classes_)

    def decision_function(self, X: Data) -> np.ndarray:
        """Return decision values.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,), or (n, n_classes) with more than two classes or several labels
            For two classes, positive values predict ``classes_[1]``. With one against one and
            ``decision_function_shape="ovo"``: (n, n_classes (n_classes - 1) / 2), a column for each
            pair of classes in the order (0, 1), (0, 2), ..., (1, 2), ...; positive values predict
            the first of the two.
        """
        values = self._decide(X)
        if self.decision_function_shape == "ovr":
            values = self._form.scores(values)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Data) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,), or (n, n_labels) of 0 and 1 for multilabel models
        """
        return self._form.labels(self._decide(X), self.classes_)

    @only_if(_check_probabilities)
    def predict_proba(self, X: Data) -> np.ndarray:
        """Return the probabilities of the classes.

        With ``calibrate=`` a sigmoid or isotonic function, fitted to cross-fitted decision values,
        maps decision values to probabilities. Without it the logistic loss gives
        1 / (1 + exp(-f)), or the softmax of the decision values with ``multi_class="joint"``. All
        refer to class frequencies after `class_weight`.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns follow ``classes_``. Probabilities of one against the rest, and calibrated ones
            of joint models, are divided by their sum. Probabilities of pairs of classes are coupled
            (Wu, Lin and Weng, 2004), as in scikit-learn's SVC; they may rank classes differently
            from the votes of `predict`.
            Multilabel models have one probability for each label.

        Raises
        ------
        AttributeError
            If the loss is not logistic and `calibrate` is None.
        """
        return self._probabilities(self._decide(X))

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities of decision values, shape (n, outputs)."""
        return self._form.probabilities(values, getattr(self, "calibrators_", None))

    @only_if(_check_sets)
    def predict_set(self, X: Data, alpha: float = 0.05) -> np.ndarray:
        """Return sets of classes that contain the true one with a probability of about 1 - alpha.

        The probability is over training and new examples, which must be exchangeable.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        alpha : float in (0, 1)
            Accepted error rate.

        Returns
        -------
        boolean ndarray of shape (n, n_classes)
            Columns follow ``classes_``. A set may be empty, for an example unlike all training
            examples, or contain several classes.

        Raises
        ------
        AttributeError
            If `calibrate` is None.
        ValueError
            If `alpha` is outside (0, 1), or the model is multilabel.
        """
        if not self._form.has_sets:
            raise ValueError(
                "predict_set requires one label per example, got a multilabel model; use "
                "predict_proba"
            )
        limit = threshold(self.conformity_, checked_alpha(alpha))
        return 1.0 - self._probabilities(self._decide(X)) <= limit + 1e-12

    def _after_fit(self, solved: Solved) -> None:
        """Fit calibrators and conformity scores to decision values of held-out examples."""
        if self.calibrate is None:
            return
        if solved.is_hard_margin:
            raise ValueError("calibrate must be None for a hard margin, C=inf")
        labels = solved.labels
        tests = self._calibration_tests(len(labels.strata), labels.strata)
        values = solved.held_out_values(self, tests)
        self.calibrators_ = labels.calibrators(self.calibrate, self._form.calibrated(values.T).T)
        if labels.codes is not None:
            self.conformity_ = class_scores(self._probabilities(values.T), labels.codes)

    @only_if(_check_probabilities)
    def predict_log_proba(self, X: Data) -> np.ndarray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n, n_classes)
            See `predict_proba`.
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@registered("MKLClassifier", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifier(BaseClassifier):
    r"""Classification with learned kernel weights.

    For two classes, the model is f(x) = sum_m <w_m, psi_m(x)> + b with the feature map psi_m of
    kernel m, and solves

    .. math::
        \begin{aligned}
        \min_{w,\, b,\, \theta} \quad & C \sum_i V(f(x_i), y_i)
        + \frac{1}{2} \sum_m \frac{\|w_m\|^2}{\theta_m} \\
        \text{with} \quad & \theta \ge 0, \; \|\theta\| \le 1
        \end{aligned}

    to a certified relative duality gap of `tol`. With more than two classes, `multi_class` selects
    the problems that are solved.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        A kernel with several values of a parameter, such as ``RBF([0.1, 1.0])``, counts as
        several. None: default kernels for the type of each column. They do not depend on units,
        accept missing numbers, and are chosen on held-out folds: RBF kernels of all columns
        together, with or without a kernel per column; for sequences, (gapped) k-mers or the
        weighted degree kernel (see `kernels.default`).
    norm : float >= 1, inf, or an object of `kernelweave.norms`
        1 gives sparse weights, inf the plain sum of the kernels.
    C : float or "auto"
        Factor of the losses; larger values fit the training examples more closely. With kernels
        passed explicitly, "auto" is 1. With default kernels (`kernels=None`) it is one of eight
        values from 0.03 to 100, chosen together with the kernels on held-out folds of at most 2,000
        examples. inf is a hard margin (hinge and squared hinge): the margin of every example is at
        least 1, sample weights only select examples, and an error is raised if the classes cannot
        be separated.
    loss : {"hinge", "squared_hinge", "logistic", "smooth_hinge"} or a loss object
        Loss V(f, y) of a decision value f for a label y of -1 or +1:

        * "hinge" : max(0, 1 - y f), the loss of a support vector machine;
        * "squared_hinge" : max(0, 1 - y f)^2;
        * "logistic" : log(1 + exp(-y f)), which provides `predict_proba` without calibration. All
          examples become support vectors;
        * "smooth_hinge" : log(1 + exp(sigma (1 - y f))) / sigma, a differentiable hinge. Pass
          ``losses.SmoothHinge(sigma)`` for other values of sigma.
    fit_intercept : bool
        Whether the decision function has an intercept b. Without one, f(x) is a sum over the
        kernels alone, as in group lasso; the constant model is then f = 0.
    calibrate : {"sigmoid", "isotonic"} or None
        How `predict_proba` and `predict_set` map decision values to probabilities. The function
        is fitted to decision values of 5-fold cross-fitting, for which all folds use the kernel
        values of the fit. "sigmoid" suits small data, "isotonic" thousands of examples.
    solver : str or an object of `kernelweave.solvers`
        How the problem is solved. All solvers reach the same optimum, except for the two-stage
        solvers; they differ in the norms that they accept and in speed:

        * "auto" : chooses the algorithm by norm, loss and data (see ``plan_``);
        * "analytic" : closed-form weight steps, for p > 1 (Kloft et al. 2011);
        * "newton" or "hessian" : Newton steps of the weights (Chapelle and Rakotomamonjy 2008);
        * "cutting-plane" : minimises the maximum of cuts (Sonnenburg et al. 2006; Kloft et al.
          2009);
        * "level" : the level method (Xu et al. 2009);
        * "gradient" : projected gradients with a BFGS metric, for p = 1, a variant of SimpleMKL
          (Rakotomamonjy et al. 2008);
        * "simplemkl" : reduced gradients with a line search, as published there;
        * "uniform" : equal weights, for p = inf;
        * "alignment", "centered-alignment" : two-stage solvers. The weights maximise the
          (centred) alignment with the labels (Cortes et al. 2012); the SVM is then trained with
          fixed weights;
        * "easymkl" : two stages, too. A first SVM on the plain sum
          represents each class by a point. The weight of a kernel is the squared distance of
          these points in its feature space (Aiolli and Donini 2015);
        * "qcqp" : a cone program, for small problems (requires Clarabel; Lanckriet et al. 2004);
        * "skm" : the support kernel machine, p = 1 (Bach et al. 2004);
        * "mwu" : multiplicative weights, p = 1 and both hinges or C = inf (Moeller et al. 2018).

        Objects such as ``SKM(sparsify=True)`` have parameters.
    interleaved : bool
        Whether kernel weights are updated before the SVM at fixed weights has converged.
    normalize : {"variance", "unit", "trace", "center", None}
        Normalisation of the kernels: variance 1 of the training examples in feature space,
        k(x, x) = 1 for every example, mean of k(x, x) equal to 1, mean 0 in feature space, or none.
    tol : float
        Relative duality gap at which to stop: (P - D) / min(abs(P), P0 - D), with the primal value
        P, the dual value D and the primal value P0 of the constant model.
    max_iter : int or None
        Maximum number of outer iterations.
    max_time : float or None
        Maximum training time in seconds, divided equally among the outputs. If time runs out, the
        best model so far is returned with a ConvergenceWarning. Time is checked after every
        working set, and within long ones; reading and normalising kernels and the computation of
        alignments are never interrupted. The comparison of default kernels, calibration and
        held-out contributions each have the same limit for all of their fits together.
    working_set : int or "auto"
        Number of examples in a working set. With an integer, conjugate gradients are not used, and
        the size is doubled after many working sets, up to that of "auto". Ignored by the solvers
        "skm", "mwu" and "qcqp".
    cache_mb : float
        Size of the cache for rows of distances and dot products, in megabytes.
    n_jobs : int or None
        Number of threads; None is one, -1 all processors.
    class_weight : dict, "balanced" or None
        Factors of C for the examples of each class.
    multi_class : {"auto", "ovr", "ovo", "joint"}
        How more than two classes are trained:

        * "ovr" : each class against the rest, one decision function per class;
        * "ovo" : one against one, a decision function for each pair of classes, trained on their
          examples only. The class that wins most pairs is predicted;
        * "joint" : all classes in one problem with one duality gap and shared kernel weights.
          ``loss="logistic"`` is multinomial logistic regression, ``loss="hinge"`` the multi-class
          hinge of Crammer and Singer (2001). Other losses are refused;
        * "auto" : "ovo" with a single kernel and at most 100 classes, unless `calibrate`, the
          logistic loss, `checkpoint` or `share_weights` is set; otherwise "ovr".
    decision_function_shape : {"ovr", "ovo"}
        With one against one: whether `decision_function` returns a score for each class, or the
        decision values of all pairs, as in scikit-learn's SVC.
    share_weights : bool or "auto"
        With more than two classes: whether all decision functions use the same kernel weights. The
        sum of their problems is then solved, as one problem with one duality gap. "auto" shares
        them among pairs of classes ("ovo"), and learns separate weights for each class of "ovr".
        "joint" always shares them.
    checkpoint : path or None
        Path to which a long run saves its state every two minutes, one file ``<path>.<output>``
        for each output. If the run is killed, or stopped by `max_iter` or `max_time`, the next
        call of `fit` continues from there. Files are removed when the run ends otherwise.
    verbose : int
        1 displays a progress line. 2 also prints the plan of the fit and the number of evaluated
        pairs of examples. Both go to standard error.
    random_state : int, RandomState or None
        Only used by solvers that draw random numbers.

    Attributes
    ----------
    weights_ : ndarray of shape (M,), or (n_outputs, M) unless they are shared
        Kernel weights theta.
    kernel_names_ : tuple of M strings
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Signed dual coefficients. There is one output for two classes, otherwise one per class, or
        one per pair of classes.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts b of the decision functions.
    primal_objective_, dual_objective_, duality_gap_ : float, or one for each row of `weights_`
        Values of the primal and of the dual problem, and the relative duality gap (see `tol`).
    constant_objective_ : float, or one for each row of `weights_`
        Primal value of the constant model (intercept only). If that model is optimal, the weights
        are 0 and a UserWarning is issued.
    plan_ : Plan
        The engine, the start and the solver of the fit.
    certifies_ : str
        What the duality gap certifies: "weights and model" (both are optimal), or "model with
        fixed weights" for the two-stage solvers, whose weights are not part of the problem.
    optimality_ : ndarray of shape (2,), or (rows of `weights_`, 2)
        Only with `solver="skm"`: the (eps1, eps2) of Bach et al. (2004) that were reached. Every
        kernel of positive weight has an s_m / 2 within eps1 of the largest, s_m = alpha' K_m alpha,
        and the KKT conditions hold after changes of the decision values by at most eps2.
    n_iter_ : int
        Number of outer iterations.
    history_ : list of dict
        Seconds, primal, dual, constant, gap and weights after every iteration; one list for each
        row of `weights_`.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    multi_class_ : {"ovr", "ovo", "joint"}
        The form that `multi_class` has chosen; "ovr" with two classes.
    C_ : float
        The C of the model.
    candidates_ : list of dict
        With `kernels=None`: name ("kernels"), best "C" and held-out "loss" (error rate) of each
        set of default kernels that was compared, and whether it was "chosen".

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

    def fit(
        self, X: Data, y: object, sample_weight: object = None, *, groups: object = None
    ) -> MKLClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : array-like of shape (n,), or (n, n_labels) of 0 and 1
            Labels. With several labels per example (multilabel), one problem is solved for each,
            and ``classes_`` is ``arange(n_labels)``.
        sample_weight : array-like of shape (n,), optional
            Factors of C.
        groups : array-like of shape (n,), optional
            Group of each example, such as its chromosome. The folds of ``calibrate`` keep groups
            together.

        Returns
        -------
        MKLClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid, or if C is inf and the classes cannot be
            separated.
        """
        X = self._begin(X)
        if is_multilabel(y):
            return self._fit_labels(X, y, sample_weight, groups)
        classes, codes = self._labels(X, y)
        C, factors = self._cost()
        costs = weighed(C, self._costs(classes, codes, sample_weight))
        norm = norms.as_norm(self.norm)
        self.multi_class_ = form_of(self, classes, codes, costs, X)
        self._set_calibration_folds(groups, codes, len(codes))
        posed = self._formulation(codes, costs, norm, len(classes))
        self.C_ = C * self._train(X, posed, factors)
        self.classes_ = classes
        return self

    def _cost(self) -> tuple[float, Sequence[float]]:
        """Return C, and the factors of it that may be chosen on held-out folds."""
        return (1.0, FACTORS) if is_auto(self.C) else (float(self.C), (1.0,))

    def _fit_labels(
        self, X: Data, y: object, sample_weight: object, groups: object
    ) -> MKLClassifier:
        """Fit one problem per label (multilabel)."""
        problems, y = self._label_problems(X, y, sample_weight)
        self._set_calibration_folds(groups, None, len(y))
        C, factors = self._cost()
        shared = self._shares_weights("ovr") and len(problems) > 1
        self.multilabel_ = True
        self.C_ = C * self._train(X, Outputs(problems, one_number(y), shared), factors)
        self.classes_ = np.arange(y.shape[1])
        return self

    def _label_problems(
        self, X: Data, y: object, sample_weight: object
    ) -> tuple[list[Problem], np.ndarray]:
        """Return the problem of each label, and the labels as an array of 0 and 1."""
        y = np.asarray(sp.csr_matrix(y).toarray() if sp.issparse(y) else y)
        check_consistent_length(X, y)
        if not np.isin(y, (0, 1)).all():
            raise ValueError(
                "y must contain only 0 and 1 for several labels per example, got other values"
            )
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight must be None for several labels per example, got "
                f"{self.class_weight!r}; pass sample_weight instead"
            )
        C = getattr(self, "C_", self._cost()[0])
        costs = weighed(C, check_weights(sample_weight, len(y)))
        alike = np.flatnonzero((y == y[:1]).all(axis=0))
        if len(alike):
            raise ValueError(
                f"y must contain 0 and 1 for every label, but label {alike[0]} is "
                f"{y[0, alike[0]]} for all examples; remove that column"
            )
        loss, norm = losses.get(self.loss, "classifier"), norms.as_norm(self.norm)
        tau = sum_constraint(self.fit_intercept)
        return [Problem.of(loss, norm, np.where(one > 0, 1.0, -1.0), costs, tau) for one in y.T], y
