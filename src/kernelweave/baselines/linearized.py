"""A linear SVM (LIBLINEAR) on concatenated approximate features of several kernels.

Moeller et al. (2018) call this baseline LIBLINEAR+. It solves

    min  C sum_i V(f(x_i), y_i) + 1/2 sum_m ||w_m||^2,     f(x) = sum_m <w_m, z_m(x)> + b,

for a loss V. The features z_m satisfy <z_m(x), z_m(y)> ~ k_m(x, y) for each of M kernels. Apart
from this approximation and the regularisation of b by LIBLINEAR it is the problem of
`MKLClassifier(norm=inf)`. Features are centred first, which makes b small and the problem better
conditioned. Memory is O(n M n_components).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..common.core import single_threaded_blas
from ..common.numbers import as_count, is_whole, thread_count
from ..common.types import Data, Tabular
from ..estimators.documentation import Documented
from ..estimators.parameters import check_parameters
from ..estimators.validation import check_examples, check_targets
from ..kernels.compile.normalize import Kernels
from ..kernels.default_of_views import default_of_views
from .feature_maps import Fourier, Nystroem, Sampling

FEATURES = ("nystroem", "fourier")


class LinearizedMKL(ClassifierMixin, Documented, BaseEstimator):
    """Linear classifier on approximate features of several kernels.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        As for `MKLClassifier`.
    features : {"nystroem", "fourier"}
        Nystroem features (Williams and Seeger, 2001), for all kernels, or random Fourier features
        (Rahimi and Recht, 2007), for RBF kernels.
    n_components : int
        Largest number of features of each kernel.
    C : float
        Cost of the loss, as in scikit-learn's LinearSVC.
    loss : {"squared_hinge", "hinge"}
    normalize : {"variance", "unit", "trace", "center", None}
        Normalisation of the kernels; "unit" or None for Fourier features.
    tol : float
        Tolerance of LIBLINEAR.
    max_iter : int
        Maximum number of iterations of LIBLINEAR.
    n_jobs : int or None
        Number of threads for the evaluation of kernels. None means 1, -1 all processors.
    class_weight : dict, "balanced" or None
        Factors of C for each class, as in scikit-learn.
    random_state : int, RandomState or None
        Seed of the choice of landmarks or frequencies.

    Attributes
    ----------
    weights_ : array of shape (M,), or (classes, M)
        Norm of the coefficients of the features of each kernel, scaled to sum to 1.
    kernel_names_ : tuple of M strings
    coef_ : array of shape (1, features), or (classes, features)
        Coefficients of the concatenated features.
    intercept_ : array of shape (1,), or (classes,)
    classes_ : array of class labels

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelweave import LinearizedMKL
    >>> from kernelweave.kernels import RBF
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = LinearizedMKL(RBF([0.01, 0.1]), n_components=50, random_state=0)
    >>> model = model.fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.1f}")
    1.0
    """

    def __init__(
        self,
        kernels: Kernels | None = None,
        *,
        features: str = "nystroem",
        n_components: int = 150,
        C: float = 1.0,
        loss: str = "squared_hinge",
        normalize: str | None = "variance",
        tol: float = 1e-3,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernels = kernels
        self.features = features
        self.n_components = n_components
        self.C = C
        self.loss = loss
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Data, y: object) -> LinearizedMKL:
        """Fit the model.

        Parameters
        ----------
        X : n training examples
        y : array of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._check_features()
        examples: Tabular = check_examples(self, X, reset=True)
        y = check_targets(self, examples, y, numeric=False)
        check_classification_targets(y)
        random = check_random_state(self.random_state)
        self._map = self._make_map(examples, random)
        features = self._features(examples)
        centre = features.mean(axis=0)
        features -= centre
        # Newton's method in the primal is much faster than dual coordinate descent on nearly
        # collinear features, but requires a differentiable loss.
        dual = self.loss == "hinge"
        linear = LinearSVC(
            C=self.C, loss=self.loss, tol=self.tol, max_iter=self.max_iter, dual=dual,
            class_weight=self.class_weight, random_state=random,
        ).fit(features, y)  # fmt: skip
        self.classes_, self.coef_ = linear.classes_, linear.coef_
        self.intercept_ = linear.intercept_ - linear.coef_ @ centre
        self.kernel_names_ = self._map.names
        self.weights_ = self._group_norms()
        self.n_iter_ = int(linear.n_iter_)
        return self

    def _check_features(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"features must be one of {list(FEATURES)}, got {self.features!r}")
        as_count("n_components", self.n_components)
        if not (is_whole(self.max_iter) and 1 <= self.max_iter < 2**31):
            raise ValueError(
                f"max_iter must be an integer from 1 to {2**31 - 1}, got {self.max_iter!r}"
            )
        if self.loss not in ("hinge", "squared_hinge"):
            raise ValueError(f"loss must be 'hinge' or 'squared_hinge', got {self.loss!r}")

    def _make_map(self, X: Tabular, random: np.random.RandomState) -> Nystroem | Fourier:
        kernels = self.kernels
        if kernels is None:
            kernels = default_of_views(X, np.ones(X.shape[0]))
        kind = Fourier if self.features == "fourier" else Nystroem
        sampling = Sampling(self.n_components, random, thread_count(self.n_jobs))
        return kind.of(kernels, self.normalize, X, sampling)

    def _features(self, X: Data) -> np.ndarray:
        with single_threaded_blas():
            return self._map(X, thread_count(self.n_jobs))

    def _group_norms(self) -> np.ndarray:
        ends = np.cumsum(self._map.sizes)[:-1]
        groups = np.split(self.coef_, ends, axis=1)
        norms = np.stack([np.linalg.norm(group, axis=1) for group in groups], axis=1)
        total = norms.sum(axis=1, keepdims=True)
        weights = np.divide(norms, total, out=np.zeros_like(norms), where=total > 0)
        return weights[0] if len(weights) == 1 else weights

    def decision_function(self, X: Data) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        X : n examples

        Returns
        -------
        array of shape (n,), or (n, classes) for more than two classes
        """
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values: np.ndarray = self._features(X) @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.coef_) == 1 else values

    def predict(self, X: Data) -> np.ndarray:
        """Return the predicted class labels.

        Parameters
        ----------
        X : n examples

        Returns
        -------
        array of shape (n,)
        """
        values = self.decision_function(X)
        index = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[index]

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.kernels is None
        return tags
