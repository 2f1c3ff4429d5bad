"""Novelty detection with learned kernel weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from .. import losses, norms
from ..common.types import Data
from ..kernels import Kernel
from ..kernels.default import default_region_kernel
from ..kernels.default_of_views import default_of_views
from ..model.files.registry import registered
from ..problem.problem import Problem
from .base import MKLEstimator
from .formulation import Outputs
from .validation import check_weights, weighed


@registered("MKLOneClass", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLOneClass(OutlierMixin, MKLEstimator):
    """Novelty detection with learned kernel weights (Schölkopf et al. 2001).

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        None: one RBF kernel on all standardised columns, with gamma = 1 / (number of columns), plus
        kernels of texts, sequences and missing values. Without labels the data do not determine the
        width: weights of RBF kernels with several widths mainly reflect the normalisation.
    norm : float >= 1, inf, or an object of `kernelweave.norms`
        1 gives sparse weights, inf the plain sum of the kernels.
    nu : float in (0, 1]
        Upper bound on the fraction of training examples outside the region (outliers), and lower
        bound on the fraction of support vectors.
    normalize : {"variance", "unit", "trace", None}
        "center" is not supported: the model separates the examples from the origin, which would be
        their mean.

    Attributes
    ----------
    offset_ : float
        decision_function(X) = score_samples(X) - offset_.
    weights_, kernel_names_, support_, dual_coef_, intercept_, duality_gap_
        And the other fitted attributes of `MKLClassifier`, for one output.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = MKLOneClass(nu=0.1).fit(X)
    >>> print(model.predict([[0.0, 0.0], [8.0, 8.0]]))
    [ 1 -1]
    """

    norm: float | norms.Norm = 2.0
    nu: float = 0.5
    checkpoint: str | os.PathLike[str] | None = None

    _chooses: ClassVar[bool] = False  # without labels, default kernels cannot be compared
    _extrapolates: ClassVar[bool] = False  # it needs centred kernels, whose mean is the origin

    def fit(self, X: Data, y: object = None, sample_weight: object = None) -> MKLOneClass:
        """Fit the region that contains most of the training examples.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : ignored
        sample_weight : array-like of shape (n,), optional
            Factors of the costs of the examples.

        Returns
        -------
        MKLOneClass
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid.
        """
        X = self._begin(X)
        if self.normalize == "center":
            raise ValueError(
                "normalize='center' moves the mean of the examples to the origin, from which "
                "MKLOneClass separates them; pass 'variance', 'unit', 'trace' or None"
            )
        problem = self._problem(X, sample_weight)
        self._train(X, Outputs([problem], problem.y))
        return self

    @property
    def offset_(self) -> float:
        """The negative intercept."""
        return -float(self.intercept_[0])

    def _problem(self, X: Any, sample_weight: object) -> Problem:
        """Return the one-class problem of n examples."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        costs = weighed(1.0, check_weights(sample_weight, n))
        return Problem.of(
            losses.OneClass(), norms.as_norm(self.norm), np.ones(n), costs, self.nu * costs.sum()
        )

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        return default_of_views(X, costs, default_region_kernel)

    def decision_function(self, X: Data) -> np.ndarray:
        """Return decision values: positive inside the region, negative outside.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._decide(X)[:, 0]

    def score_samples(self, X: Data) -> np.ndarray:
        """Return the decision values plus `offset_`.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Data) -> np.ndarray:
        """Return +1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
