"""Novelty detection with learned kernel weights."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from .. import losses, norms
from ..kernels import Kernel
from ..kernels.default import default_region_kernel
from ..kernels.default_of_views import default_of_views
from ..problem import Problem
from ..stored import stored
from ..validation import check_parameters, check_weights, weighed
from .base import MKLEstimator


@stored("MKLOneClass", fields=())
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

    Attributes
    ----------
    offset_ : float
        decision_function(X) = score_samples(X) - offset_.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        norm: float | norms.Norm = 2.0,
        nu: float = 0.5,
        solver: Any = "auto",
        interleaved: bool = True,
        normalize: str | None = "variance",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        working_set: int | str = "auto",
        cache_mb: float = 1024,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.nu = nu
        self.solver = solver
        self.interleaved = interleaved
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.working_set = working_set
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MKLOneClass:
        """Learn the region of n examples X; y is ignored."""
        self._forget()
        check_parameters(self)
        X = self._checked(X, reset=True)
        problem = self._problem(X, sample_weight)
        self._train(X, [problem], problem.y)
        self.offset_ = -float(self.intercept_[0])
        return self

    def _problem(self, X: Any, sample_weight: Any) -> Problem:
        """Return the only problem."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        costs = weighed(1.0, check_weights(sample_weight, n))
        return Problem(
            losses.OneClass(), norms.as_norm(self.norm), np.ones(n), costs, self.nu * costs.sum()
        )

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        return default_of_views(X, costs, default_region_kernel)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.offset_ != -self._model.intercept[0]:
            raise ValueError("offset_ must be that of the decision function")

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
