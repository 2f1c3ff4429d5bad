"""Novelty detection with learned kernel weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from .. import losses, norms
from ..kernels import Kernel
from ..kernels.default import default_region_kernel
from ..kernels.default_of_views import default_of_views
from ..model.files.registry import stored
from ..problem.problem import Problem
from .base import MKLEstimator
from .parameters import check_parameters
from .validation import check_weights, weighed


@stored("MKLOneClass", fields=())
@dataclass(eq=False, repr=False, kw_only=True)
class MKLOneClass(OutlierMixin, MKLEstimator):
    """Novelty detection with learned kernel weights (Schölkopf et al. 2001).

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        None: one RBF kernel on all columns, standardised, with gamma = 1 / (number of columns).
        Without labels nothing says which kernel is the right one: among kernels of several widths
        weights follow the normalisation, not the data.
    nu : float in (0, 1]
        Bound on the part of the training examples that are left outside.
    normalize : "variance", "unit", "trace" or None
        Not "center": examples are told apart from the origin, which would be their mean.

    Attributes
    ----------
    offset_ : float
        decision_function(X) = score_samples(X) - offset_.

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

    _chooses: ClassVar[bool] = False  # no labels to compare with
    _extrapolates: ClassVar[bool] = False  # centred kernels have the mean at the origin

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MKLOneClass:
        """Learn the region of n examples X; y is ignored."""
        self._forget()
        check_parameters(self)
        if self.normalize == "center":
            raise ValueError(
                "normalize='center' moves the mean of the examples to the origin, from which "
                "MKLOneClass tells them apart: nothing is left to learn; take another one"
            )
        X = self._checked(X, reset=True)
        problem = self._problem(X, sample_weight)
        self._train(X, [problem], problem.y)
        return self

    @property
    def offset_(self) -> float:
        """The negative intercept."""
        return -float(self.intercept_[0])

    def _problem(self, X: Any, sample_weight: Any) -> Problem:
        """Return the only problem."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        costs = weighed(1.0, check_weights(sample_weight, n))
        return Problem.of(
            losses.OneClass(), norms.as_norm(self.norm), np.ones(n), costs, self.nu * costs.sum()
        )

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        return default_of_views(X, costs, default_region_kernel)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far inside the region each example lies, shape (n,)."""
        values: np.ndarray = self._decide(X)[:, 0]
        return values

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the decision values without the offset, shape (n,)."""
        scores: np.ndarray = self.decision_function(X) + self.offset_
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Return +1 for examples inside the region and -1 for those outside, shape (n,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
