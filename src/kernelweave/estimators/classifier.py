"""Classification with learned kernel weights."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .. import losses, norms
from ..problem import Problem
from ..stored import stored
from ..validation import (
    check_class_weights,
    check_examples,
    check_parameters,
    check_targets,
    check_weights,
    weighed,
)
from .base import MKLEstimator


@stored("MKLClassifier", fields=())
class MKLClassifier(ClassifierMixin, MKLEstimator):
    """Classification with learned kernel weights.

    Solves, for two classes (and one against the rest for more),

        min  C sum_i V(f(x_i), y_i) + 1/2 sum_m ||w_m||^2 / theta_m,   ||theta|| <= 1, theta >= 0

    to a certified relative duality gap of `tol`.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        Each may be a family. None: a linear kernel and RBF kernels of seven widths.
    norm : float >= 1, inf, or an object of `kernelweave.norms`
        1 gives sparse weights, inf the plain sum of the kernels.
    C : float
        Cost of a loss.
    loss : {"hinge", "squared_hinge", "logistic", "smooth_hinge"} or a loss object
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
        output. A run that was killed goes on from there; one that ends removes its files.
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
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        norm: float | norms.Norm = 2.0,
        C: float = 1.0,
        loss: str | losses.Loss = "hinge",
        solver: Any = "auto",
        interleaved: bool = True,
        normalize: str | None = "variance",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        working_set: int | str = "auto",
        cache_mb: float = 1024,
        n_jobs: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        share_weights: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.C = C
        self.loss = loss
        self.solver = solver
        self.interleaved = interleaved
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.working_set = working_set
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.share_weights = share_weights
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKLClassifier:
        """Learn from n examples X with labels y, shape (n,)."""
        self._forget()
        check_parameters(self)
        X = check_examples(self, X, reset=True)
        classes, codes = self._labels(X, y)
        costs = weighed(self.C, self._costs(classes, codes, sample_weight))
        problems = self._problems(codes, costs, norms.as_norm(self.norm))
        self._train(X, problems, codes, self.share_weights)
        self.classes_ = classes
        return self

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
        return classes, codes

    def _problems(self, codes: np.ndarray, costs: np.ndarray, norm: norms.Norm) -> list[Problem]:
        """Return one problem per class, or a single one for two."""
        loss, count = losses.get(self.loss, "classifier"), codes.max() + 1
        positives = [1] if count == 2 else range(count)
        return [Problem(loss, norm, np.where(codes == c, 1.0, -1.0), costs) for c in positives]

    def _costs(
        self, classes: np.ndarray, codes: np.ndarray, sample_weight: Any = None
    ) -> np.ndarray:
        if isinstance(self.class_weight, dict):
            check_class_weights(self.class_weight)
        per_class = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
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
        if self.classes_.shape != (max(outputs, 2),) or outputs == 2:
            raise ValueError("there must be a class for each decision function, or two for one")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values, shape (n,), or (n, classes) with more than two classes."""
        values = self._decide(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, shape (n,)."""
        values = self.decision_function(X)
        index = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        labels: np.ndarray = self.classes_[index]
        return labels
