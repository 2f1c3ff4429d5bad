"""Our estimators behind the names and parameters of scikit-learn's SVC, SVR and OneClassSVM."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid


class FitsSeen:
    """How often an adapter was fitted; the run of a test compares before and after."""

    count = 0


class Adapter(BaseEstimator):
    """Methods of all three: a kernel by name, and attributes of a fitted model."""

    made: ClassVar[type]
    ours: ClassVar[tuple[str, ...]]

    def _kernel(self) -> Any:
        # No word for gamma means more than our own; "auto" is the same.
        if callable(self.kernel):
            return self.kernel
        kernels = {
            "linear": lambda: Linear(),
            "rbf": lambda: RBF(self.gamma),
            "poly": lambda: Polynomial(self.degree, self.gamma, self.coef0),
            "sigmoid": lambda: Sigmoid(self.gamma, self.coef0),
            "precomputed": lambda: Precomputed(),
        }
        if self.kernel not in kernels:
            raise ValueError(f"The 'kernel' parameter must be one of {set(kernels)}")
        return kernels[self.kernel]()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit our estimator with the plain sum of one kernel."""
        FitsSeen.count += 1
        given = {name: getattr(self, name) for name in self.ours}
        tol = min(self.tol, 1e-9)  # LIBSVM's criterion is a stricter one
        limit = None if self.max_iter == -1 else self.max_iter
        self.model_ = self.made(
            self._kernel(), norm=np.inf, normalize=None, tol=tol, max_iter=limit, **given
        )
        if sample_weight is not None:  # LIBSVM leaves out what has a negative one
            sample_weight = np.maximum(sample_weight, 0.0)
        self.model_.fit(X, y, sample_weight=sample_weight)
        self.X_ = X.tocsr() if sp.issparse(X) else X
        for name in ("support_", "dual_coef_", "intercept_", "n_features_in_"):
            if hasattr(self.model_, name):  # texts have no features
                setattr(self, name, getattr(self.model_, name))
        if sp.issparse(X):  # as LIBSVM's are
            self.dual_coef_ = sp.csr_matrix(self.dual_coef_)
        return self

    @property
    def support_vectors_(self) -> Any:
        """The support examples."""
        check_is_fitted(self)
        X = self.X_ if sp.issparse(self.X_) else np.asarray(self.X_)
        return X[self.support_]

    @property
    def n_support_(self) -> Any:
        """The number of support examples."""
        check_is_fitted(self)
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def coef_(self) -> Any:
        """The vector w of a linear kernel, shape (outputs, d)."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self.dual_coef_ @ self.support_vectors_

    def predict(self, X: Any) -> Any:
        """Predict as our estimator does."""
        check_is_fitted(self)
        return self.model_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class SVC(ClassifierMixin, Adapter):
    """`MKLClassifier` as scikit-learn's SVC."""

    made = MKLClassifier
    ours = ("C", "class_weight", "random_state")

    def __init__(
        self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True,
        probability=False, tol=1e-3, cache_size=200, class_weight=None, verbose=False,
        max_iter=-1, decision_function_shape="ovr", break_ties=False, random_state=None,
    ):  # fmt: skip
        self.C, self.kernel, self.degree, self.gamma, self.coef0 = C, kernel, degree, gamma, coef0
        self.shrinking, self.probability, self.tol, self.cache_size = (
            shrinking,
            probability,
            tol,
            cache_size,
        )
        self.class_weight, self.verbose, self.max_iter = class_weight, verbose, max_iter
        self.decision_function_shape, self.break_ties = decision_function_shape, break_ties
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and note the classes."""
        super().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X: Any) -> Any:
        """Return decision values, one against the rest."""
        check_is_fitted(self)
        return self.model_.decision_function(X)

    @property
    def n_support_(self) -> Any:
        """Support examples of each class, by the sign of their coefficient."""
        signs = np.sign(self.model_.dual_coef_)
        return np.array([(signs < 0).sum(), (signs > 0).sum()], dtype=np.int32)


class SVR(RegressorMixin, Adapter):
    """`MKLRegressor` as scikit-learn's SVR."""

    made = MKLRegressor
    ours = ("C", "epsilon")

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, C=1.0, epsilon=0.1,
        shrinking=True, cache_size=200, verbose=False, max_iter=-1,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol = (
            kernel,
            degree,
            gamma,
            coef0,
            tol,
        )
        self.C, self.epsilon, self.shrinking, self.cache_size = C, epsilon, shrinking, cache_size
        self.verbose, self.max_iter = verbose, max_iter


class OneClassSVM(OutlierMixin, Adapter):
    """`MKLOneClass` as scikit-learn's OneClassSVM."""

    made = MKLOneClass
    ours = ("nu",)

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, nu=0.5,
        shrinking=True, cache_size=200, verbose=False, max_iter=-1,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol = (
            kernel,
            degree,
            gamma,
            coef0,
            tol,
        )
        self.nu, self.shrinking, self.cache_size = nu, shrinking, cache_size
        self.verbose, self.max_iter = verbose, max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and note the offset."""
        super().fit(X, None, sample_weight)
        self.offset_ = self.model_.offset_
        return self

    def decision_function(self, X: Any) -> Any:
        """Return decision values: positive inside the region."""
        check_is_fitted(self)
        return self.model_.decision_function(X)

    def score_samples(self, X: Any) -> Any:
        """Return decision values without the offset."""
        check_is_fitted(self)
        return self.model_.score_samples(X)
