"""The empirical risk of the multi-class hinge loss of Crammer and Singer (2001).

    V(f; c) = max over k of  ([k != c] + f_k)  - f_c

f_k is the output of class k, and c the class of the example; [k != c] is 1 for k != c and 0 for c.
The conjugate of the risk at -alpha is linear, -sum_i alpha_{i c_i}. Its domain is given by
alpha_{i c_i} <= C_i, alpha_ik <= 0 for the other classes k, and sum_k alpha_ik = 0. The dual
problem is to maximise sum_i alpha_{i c_i} minus the regulariser over this domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.cached_property import cached_property
from ..common.types import Numbers
from .class_bias import hard_bias
from .class_risk import ClassRisk

OUTSIDE = 1e-12  # violation of a bound that is rounding, relative to the cost


@dataclass(frozen=True, eq=False)
class CrammerSingerRisk(ClassRisk):
    """The multi-class hinge loss of n examples of K classes."""

    @property
    def is_smooth(self) -> bool:
        return False

    def value(self, F: np.ndarray, bias: Numbers = 0.0) -> float:
        """Return the risk of outputs F, shape (K n,), with a bias for each class."""
        f = self.table(F) + np.reshape(bias, (-1, 1))
        own = f[self.codes, np.arange(f.shape[1])]
        return float(self.costs @ ((f + ~self.own).max(axis=0) - own))

    def conjugate(self, alpha: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the conjugate of the risk at -alpha, shape (K n,); inf outside its domain."""
        slack = OUTSIDE * self.C
        if np.any(alpha > np.where(self.y > 0, self.C, 0.0) + slack):
            return np.inf
        return -float(alpha[self.y > 0].sum())

    def feasible_alpha(self) -> np.ndarray:
        """Return alpha = 0, shape (K n,), which is always feasible."""
        return np.zeros_like(self.y)

    @cached_property
    def constant_model(self) -> tuple[float, np.ndarray]:
        """Value and biases of the constant model.

        Biases are equal, unless one class has more than half of the total cost. Then its bias
        exceeds the others by 1.
        """
        bias, F = np.zeros(self.n_outputs), np.zeros_like(self.y)
        total, largest = self.class_costs.sum(), self.class_costs.argmax()
        if self.has_intercept and self.class_costs[largest] > 0.5 * total:
            bias[largest] = 1.0
        return self.value(F, bias), bias - bias.mean()

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> np.ndarray:
        """Return biases, shape (K,), which minimise the risk of outputs F if alpha is optimal."""
        if self.tau is None:
            return np.zeros(self.n_outputs)
        present, paid = self.class_costs > 0, self.costs > 0
        some, parts = np.ix_(present, paid), self.class_costs[present]
        p = self.own if alpha is None else self.shares(alpha)
        outputs = (self.table(F) + ~self.own)[some]
        bias = hard_bias(outputs, self.costs[paid], parts, p[some].astype(float))
        return self._with_absent(F, bias)
