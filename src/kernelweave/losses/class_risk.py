"""Risks of several classes that compare the outputs of an example with each other.

    R(F, b) = sum_i C_i V(f_i1, ..., f_iK; c_i),    f_ik = F_ik + b_k

c_i is the class of example i. V does not change when a constant is added to all outputs of an
example, so that the K alphas of an example add up to 0. With an intercept, the alphas of each class
add up to 0, too. Every V here is a maximum, or a soft maximum, over the classes, minus the output
of the class c_i:

    V(f; c) = max over p of  sum_k p_k (f_k + D_k) - H(p)  - f_c,    p >= 0,  sum_k p_k = 1

with margins D_k and a convex function H. For the multinomial loss, D_k = 0 and
H(p) = sum_k p_k log p_k; for the loss of Crammer and Singer, D_k = [k != c] and H = 0. Every such p
gives a dual feasible alpha_ik = C_i ([k = c_i] - p_ik); the maximiser gives minus the gradient.
With an intercept, p must also satisfy sum_i C_i p_ik = N_k, the total cost of class k.

Arrays over all outputs contain those of the first class for all examples, then those of the second
class, and so on, as in other risks of several outputs (`risk`). Targets are 1 for the examples of
the class and -1 for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..common.cached_property import cached_property
from .base import Loss
from .risk import SUM_ROUNDING, TINY, Risk

Own = TypeVar("Own", bound="ClassRisk")
NEVER = 800.0  # distance of the bias of classes without cost; exp(-800) is 0 in double precision


@dataclass(frozen=True, eq=False)
class ClassRisk(Risk):
    """A risk of n examples of K classes whose loss compares the K outputs of an example."""

    @classmethod
    def of(
        cls: type[Own],
        loss: Loss,
        codes: np.ndarray,
        costs: np.ndarray,
        n_classes: int,
        tau: float | None = 0.0,
    ) -> Own:
        """Return the risk of n examples with given classes and costs.

        `codes` are the classes, from 0 to K - 1; `codes` and `costs` have shape (n,). `tau` is 0
        with an intercept and None without.
        """
        y = np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0)
        C = np.tile(np.asarray(costs, dtype=float), n_classes)
        return cls(loss, y.ravel(), C, tau, n_classes)

    @cached_property
    def own(self) -> np.ndarray:
        """Mask, shape (K, n), that is True if k is the class of example i."""
        return self.table(self.y) > 0

    @cached_property
    def codes(self) -> np.ndarray:
        """Class of each example, shape (n,)."""
        return np.asarray(self.own.argmax(axis=0))

    @cached_property
    def costs(self) -> np.ndarray:
        """Cost of each example, shape (n,)."""
        return self.table(self.C)[0]

    @cached_property
    def class_costs(self) -> np.ndarray:
        """Total cost of each class, shape (K,)."""
        return np.asarray(np.bincount(self.codes, self.costs, minlength=self.n_outputs))

    def table(self, values: np.ndarray) -> np.ndarray:
        """Return values of all outputs, shape (K n,), as an array of shape (K, n)."""
        return values.reshape(self.n_outputs, -1)

    def shares(self, alpha: np.ndarray) -> np.ndarray:
        """Return p_ik = [k = c_i] - alpha_ik / C_i, shape (K, n); 0 for examples of cost 0."""
        paid = self.costs > 0
        p = np.zeros(self.own.shape)
        p[:, paid] = self.own[:, paid] - self.table(alpha)[:, paid] / self.costs[paid]
        return p

    @property
    def separates(self) -> bool:
        return False

    def is_feasible(self, alpha: np.ndarray) -> bool:
        """Return whether the alphas of each example, and of each class, add up to 0 up to rounding.

        The sums of the classes are only checked if there is an intercept.
        """
        each = self.table(alpha)
        drift, size = np.abs(each.sum(axis=0)), np.abs(each).sum(axis=0)
        balanced = bool(np.all(drift <= SUM_ROUNDING * size))
        return balanced and super().is_feasible(alpha)

    @property
    def zero(self) -> float:
        return float(TINY)

    def _with_absent(self, F: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Return the biases of all classes, shape (K,), given those of classes of positive cost.

        Classes whose examples all have cost 0 get a bias so low that they are never predicted. The
        biases of the others have mean 0.
        """
        present, outputs = self.class_costs > 0, self.table(F)[:, self.costs > 0]
        bias = bias - bias.mean()
        if present.all():
            return bias
        found = np.empty(self.n_outputs)
        found[present] = bias
        least = (outputs[present] + bias[:, None]).max(axis=0).min()
        found[~present] = least - outputs[~present].max(axis=1) - NEVER
        return found
