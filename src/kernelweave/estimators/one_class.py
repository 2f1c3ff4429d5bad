"""Novelty detection with learned kernel weights."""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin

from .. import losses, norms
from ..machine import Machine
from ..problem import Problem
from ..stored import stored
from ..validation import check_examples, check_parameters, check_weights, weighed


@stored("MKLOneClass", fields=())
class MKLOneClass(OutlierMixin, Machine):
    """Novelty detection with learned kernel weights (Schölkopf et al. 2001).

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    nu : float in (0, 1]
        Bound on the part of the training examples that are left outside.

    Attributes
    ----------
    offset_ : float
        decision_function(X) = score_samples(X) - offset_.
    """

    def __init__(
        self,
        kernels=None,
        *,
        norm=2.0,
        nu=0.5,
        solver="auto",
        interleaved=True,
        normalize="variance",
        tol=1e-3,
        max_iter=None,
        max_time=None,
        working_set="auto",
        cache_mb=1024,
        n_jobs=None,
        checkpoint=None,
        verbose=0,
        random_state=None,
    ):
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

    def fit(self, X, y=None, sample_weight=None):
        """Learn the region of n examples X; y is ignored."""
        self._forget()
        check_parameters(self)
        X = check_examples(self, X, reset=True)
        problem = self._problem(X, sample_weight)
        self._train(X, [problem], problem.y)
        self.offset_ = -float(self.intercept_[0])
        return self

    def _problem(self, X, sample_weight):
        """Return the only problem."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        costs = weighed(1.0, check_weights(sample_weight, n))
        return Problem(
            losses.OneClass(), norms.as_norm(self.norm), np.ones(n), costs, self.nu * costs.sum()
        )

    def _check_loaded(self):
        super()._check_loaded()
        if self.offset_ != -self._model.intercept[0]:
            raise ValueError("offset_ must be that of the decision function")

    def decision_function(self, X):
        """Return how far inside the region each example lies, shape (n,)."""
        return self._decide(X)[:, 0]

    def score_samples(self, X):
        """Return the decision values without the offset, shape (n,)."""
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """Return +1 for examples inside the region and -1 for those outside, shape (n,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
