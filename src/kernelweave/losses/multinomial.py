"""The empirical risk of multinomial logistic regression.

    V(f; c) = log sum_k exp(f_k) - f_c

f_k is the output of class k, and c the class of the example. Minus the gradient of the risk is
alpha_ik = C_i ([k = c_i] - p_ik), with p_i the softmax of the outputs of example i. The conjugate
of the risk at -alpha is sum_i C_i sum_k p_ik log p_ik. Gradient, Hessian and conjugate are exact,
so that duality gaps are, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from ..common.types import Numbers
from .class_bias import ClassCurvature, soft_bias
from .class_risk import ClassRisk
from .risk import Response

BELOW = -1e-12  # negative probabilities not below this are rounding errors


@dataclass(frozen=True, eq=False)
class MultinomialRisk(ClassRisk):
    """The multinomial logistic loss of n examples of K classes."""

    @property
    def is_smooth(self) -> bool:
        return True

    def value(self, F: np.ndarray, bias: Numbers = 0.0) -> float:
        """Return the risk of outputs F, shape (K n,), with a bias for each class."""
        f = self.table(F) + np.reshape(bias, (-1, 1))
        return float(self.costs @ (logsumexp(f, axis=0) - f[self.codes, np.arange(f.shape[1])]))

    def conjugate(self, alpha: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the conjugate of the risk at -alpha, shape (K n,); inf outside its domain."""
        p = self.shares(alpha)
        if np.any(p < BELOW) or np.any(self.table(alpha)[:, self.costs == 0]):
            return np.inf
        p = np.maximum(p, 0.0)
        return float(self.costs @ xlogy(p, p).sum(axis=0))

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> np.ndarray:
        """Return the bias of each class, shape (K,), that minimises the risk of outputs F."""
        if self.tau is None:
            return np.zeros(self.n_outputs)
        present, paid = self.class_costs > 0, self.costs > 0
        some = self.table(F)[np.ix_(present, paid)]
        bias = soft_bias(some, self.costs[paid], self.class_costs[present])
        return self._with_absent(F, bias)

    def feasible_alpha(self) -> np.ndarray:
        """Return minus the gradient at the constant model, shape (K n,), a dual feasible point."""
        return self.response(np.zeros_like(self.y)).alpha

    def response(self, F: np.ndarray) -> Response:
        """Return the risk, its gradient and its Hessian at outputs F, shape (K n,)."""
        bias, C = self.best_bias(F), self.costs
        p = softmax(self.table(F) + bias[:, None], axis=0)
        present = self.class_costs > 0
        curvature = None
        if self.has_intercept:
            curvature = ClassCurvature.of(p[present], C)

        def curved(change: np.ndarray) -> np.ndarray:
            weighted = C * p * change
            return np.asarray(weighted - p * weighted.sum(axis=0))

        def hessian(change: np.ndarray) -> np.ndarray:
            moved = curved(self.table(change))
            if curvature is not None:
                adapted = np.zeros((self.n_outputs, 1))
                adapted[present, 0] = curvature.solve(moved[present].sum(axis=1))
                moved = moved - curved(np.broadcast_to(adapted, moved.shape))
            return moved.ravel()

        alpha = (C * (self.own - p)).ravel()
        return Response(alpha, self.value(F, bias), hessian)
