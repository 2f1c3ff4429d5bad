"""Models with at most k kernels: a heuristic, and a lower bound on the objective of any choice.

Choosing the best k of M kernels is a combinatorial problem. The estimator solves the problem
without the limit. Its dual value is a lower bound for every choice of kernels. The heuristic keeps
the k kernels with the largest weights, trains on them, and exchanges kernels while the objective
falls. A kernel that enters has a large s_m = alpha' K_m alpha: -s_m / 2 is the derivative of the
optimal value in its weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from ..common.core import single_threaded_blas
from ..common.numbers import is_whole, thread_count
from ..common.types import Data
from ..engines import TrainingSet
from ..engines.streamed import StreamedEngine
from ..kernels.compose.member import Member
from ..norms import as_norm
from .base import MKLEstimator

LEAVE = 2  # number of kernels, those with the smallest weights, that may leave
ENTER = 4  # number of kernels, those with the largest s_m, that may enter
IMPROVEMENT = 1e-6  # relative decrease of the objective below which an exchange is not made


@dataclass(frozen=True, eq=False)
class FewKernels:
    """A model with at most k kernels, and a bound on its distance to the best such model.

    Attributes
    ----------
    model : estimator
        Fitted on the chosen kernels; its duality gap certifies it among these.
    kernels : ndarray of shape (k,)
        Positions of the chosen kernels among the M kernels of the estimator.
    objective : float
        Primal value of the model.
    lower_bound : float
        Dual value without the limit: no model costs less, with any number of kernels.
    gap : float
        ``(objective - lower_bound) / min(|objective|, constant - lower_bound)``, the relative
        distance to the optimum without the limit. It bounds the distance to the best model with at
        most k kernels.
    n_fits : int
        Number of choices of kernels that were tried.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, few_kernels
    >>> from kernelweave.kernels import Linear, per_feature
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> found = few_kernels(
    ...     MKLClassifier(per_feature(Linear()), norm=1), X, X[:, 0] + X[:, 3] > 0, max_kernels=2
    ... )
    >>> found.kernels.tolist(), found.objective >= found.lower_bound
    ([0, 3], True)
    """

    model: Any
    kernels: np.ndarray
    objective: float
    lower_bound: float
    gap: float
    n_fits: int


def few_kernels(
    estimator: object,
    X: Data,
    y: object,
    max_kernels: int,
    *,
    sample_weight: object = None,
    swaps: int = 20,
) -> FewKernels:
    """Fit a model with at most `max_kernels` kernels, and bound its distance to the best one.

    Parameters
    ----------
    estimator : MKLClassifier or MKLRegressor
        Not changed. It must have one row of weights: two classes, one target, or shared weights.
    X : array, table, views or sequences with n examples
    y : array-like of shape (n,)
        Targets.
    max_kernels : int
        Maximum number of kernels with a nonzero weight.
    sample_weight : array-like of shape (n,), optional
        Factors of C.
    swaps : int
        Maximum number of exchanges of two kernels that are tried. Each costs a fit on
        `max_kernels` kernels.

    Returns
    -------
    FewKernels

    Raises
    ------
    TypeError
        If the estimator has no parameters `kernels` and `norm`.
    ValueError
        If `max_kernels` is no positive integer, or the outputs have different weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLRegressor, few_kernels
    >>> from kernelweave.kernels import RBF, per_feature
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> each = MKLRegressor(per_feature(RBF([0.1, 1.0])), norm=1)
    >>> found = few_kernels(each, X, np.sin(X[:, 2]), max_kernels=1)
    >>> len(found.model.weights_)
    1
    """
    if not isinstance(estimator, MKLEstimator) or not hasattr(estimator, "norm"):
        raise TypeError(
            "estimator must be an MKLClassifier or MKLRegressor, which have a parameter norm, got "
            f"{type(estimator).__name__}"
        )
    if not is_whole(max_kernels) or max_kernels < 1:
        raise ValueError(f"max_kernels must be an integer of at least 1, got {max_kernels!r}")
    search = _Search(estimator, X, y, sample_weight)
    return search.run(int(max_kernels), swaps)


class _Search:
    """Fits of one estimator to one data set, on different kernels."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any):
        self.estimator, self.X, self.y, self.sample_weight = estimator, X, y, sample_weight
        self.relaxed = clone(estimator).fit(X, y, sample_weight)
        if self.relaxed.weights_.ndim > 1:
            raise ValueError(
                f"estimator must have one row of weights, got {len(self.relaxed.weights_)}; pass "
                "share_weights=True, or one target at a time"
            )
        self.n_fits = 0

    def run(self, k: int, swaps: int) -> FewKernels:
        """Return the best model with at most k kernels that was found."""
        usable = self.relaxed._model.compiled.varying
        order = usable[np.argsort(-self.relaxed.weights_[usable], kind="stable")]
        chosen = np.sort(order[:k])
        best, issued = self._fitted(chosen)
        improved = len(chosen) < len(usable)
        while improved:
            improved = False
            for candidate in self._neighbours(best, chosen, usable):
                if self.n_fits > swaps or self._gap(best) <= self.estimator.tol:
                    break
                model, found = self._fitted(candidate)
                if model.primal_objective_ < (1 - IMPROVEMENT) * best.primal_objective_:
                    best, issued, chosen, improved = model, found, candidate, True
                    break
        for one in issued:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return FewKernels(
            best,
            chosen,
            best.primal_objective_,
            self.relaxed.dual_objective_,
            self._gap(best),
            self.n_fits,
        )

    def _fitted(self, chosen: np.ndarray) -> tuple[Any, list[warnings.WarningMessage]]:
        """Return the estimator fitted on some kernels, and the warnings of this fit."""
        own = self.estimator.kernels
        own = self.relaxed._default if own is None else own
        members = [Member(own, int(m)) for m in chosen]
        norm = as_norm(self.estimator.norm).among(chosen)
        model = clone(self.estimator).set_params(kernels=members, norm=norm, C=self.relaxed.C_)
        self.n_fits += 1
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            model.fit(self.X, self.y, self.sample_weight)
        return model, issued

    def _neighbours(
        self, model: Any, chosen: np.ndarray, usable: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield sets of kernels that differ from `chosen` in one kernel, most promising first."""
        leaving = chosen[np.argsort(model.weights_, kind="stable")[:LEAVE]]
        others = np.setdiff1d(usable, chosen)
        height = self._heights(model)
        entering = others[np.argsort(-height[others], kind="stable")[:ENTER]]
        for enters, leaves in product(entering, leaving):
            yield np.sort(np.append(chosen[chosen != leaves], enters))

    def _heights(self, model: Any) -> np.ndarray:
        """Return s_m = alpha' K_m alpha of a model for all M kernels, divided by `Norm.costs`.

        Shape (M,). The larger the quotient, the more promising it is that the kernel enters.
        """
        compiled, n_jobs = self.relaxed._model.compiled, thread_count(self.estimator.n_jobs)
        with single_threaded_blas():
            examples = compiled.training(self.relaxed._checked(self.X, reset=False), n_jobs=n_jobs)
            engine = StreamedEngine(TrainingSet(compiled.listing, examples, n_jobs=n_jobs))
            s = np.zeros(compiled.n_kernels)
            for coef in model.dual_coef_:
                alpha = np.zeros(engine.n)
                alpha[model.support_] = coef
                engine.move_to(alpha)
                s += engine.quadratic()
        return np.asarray(s / as_norm(self.estimator.norm).costs(len(s)))

    def _gap(self, model: Any) -> float:
        """Return the relative distance of a model to the optimum with any number of kernels."""
        lower, objective = self.relaxed.dual_objective_, model.primal_objective_
        scale = min(abs(objective), self.relaxed.constant_objective_ - lower)
        if scale <= 0:
            return 0.0 if objective <= lower else float(np.inf)
        return float((objective - lower) / scale)
