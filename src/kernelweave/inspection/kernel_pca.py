"""Kernel principal component analysis with a learned combination of kernels."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..common.core import single_threaded_blas
from ..common.numbers import is_whole, thread_count
from ..common.types import Data
from ..model.kernel_values import combined_values
from .combined_kernel import read_examples
from .words import fitted_model, output_of


class MKLKernelPCA(TransformerMixin, BaseEstimator):
    """Coordinates of examples by kernel PCA of the learned kernel sum_m theta_m k_m.

    theta_m are the kernel weights learned for the targets, k_m the normalised kernels. Distances
    between coordinates approximate distances in the feature space of the learned kernel. Use the
    coordinates for plots, clustering, or as input of another estimator.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, MKLOneClass or a search of them
        Its weights are used if it is fitted; otherwise `fit` fits a clone.
    n_components : int
        Number of coordinates.
    target : label, optional
        The class whose weights are taken, for three or more classes.
    n_jobs : int or None
        Number of threads; None is one, -1 all processors.

    Attributes
    ----------
    estimator_ : the fitted estimator
    eigenvalues_ : array of shape (n_components,)
        Eigenvalues of the centred kernel matrix in descending order.
    explained_ratio_ : array of shape (n_components,)
        Eigenvalues divided by the sum of all eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelweave import MKLClassifier, MKLKernelPCA
    >>> from kernelweave.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(RBF(gamma=[0.1, 1.0]), norm=2)
    >>> MKLKernelPCA(model, 2).fit_transform(X[:100], y[:100]).shape
    (100, 2)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        n_components: int = 2,
        *,
        target: object = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.n_components = n_components
        self.target = target
        self.n_jobs = n_jobs

    def fit(self, X: Data, y: object = None) -> MKLKernelPCA:
        """Fit the estimator unless it is fitted, then the components on X.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : array-like of shape (n,), optional
            Targets; not needed if the estimator is fitted.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `n_components` is not an integer from 1 to n.
        """
        try:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
        except NotFittedError:
            self.estimator_ = clone(self.estimator).fit(X, y)
        threads = thread_count(self.n_jobs)
        model, output = fitted_model(self.estimator_), output_of(self.estimator_, self.target)
        self._weights = model.weights[output]
        with single_threaded_blas():
            self._examples = read_examples(self.estimator_, X, threads)
            n = self._examples.n
            if not is_whole(self.n_components) or not 1 <= self.n_components <= n:
                raise ValueError(
                    f"n_components must be an integer from 1 to {n}, the number of examples, got "
                    f"{self.n_components!r}"
                )
            kernel = combined_values(
                model.compiled, self._weights, self._examples, self._examples, threads
            )
        pca = KernelPCA(self.n_components, kernel="precomputed", eigen_solver="auto")
        self._pca = pca.fit(kernel)
        self.eigenvalues_ = self._pca.eigenvalues_
        total = np.trace(kernel) - kernel.mean() * n  # trace of the centred matrix
        self.explained_ratio_ = self.eigenvalues_ / total if total > 0 else 0 * self.eigenvalues_
        return self

    def transform(self, X: Data) -> np.ndarray:
        """Return the coordinates of examples.

        Parameters
        ----------
        X : n examples

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self)
        threads = thread_count(self.n_jobs)
        with single_threaded_blas():
            compiled = fitted_model(self.estimator_).compiled
            new = read_examples(self.estimator_, X, threads)
            kernel = combined_values(compiled, self._weights, new, self._examples, threads)
        return self._pca.transform(kernel)
