"""The hard-margin problem, C = inf.

    P:  min over w, b, theta    1/2 sum_m ||w_m||^2 / theta_m     with y_i f_i >= 1 for all i
    D:  max over alpha          sum_i |alpha_i| - 1/2 ||s||_dual  with y_i alpha_i >= 0, and
                                sum_i alpha_i = 0 with an intercept

`problem` defines the symbols. With the hinge loss the dual value of an alpha does not depend on C,
which only bounds alpha. This has two consequences. A soft-margin solution whose alphas stay below
their bounds solves the hard-margin problem. The dual value of every soft-margin alpha is a lower
bound on the hard-margin optimum.

A model whose smallest y_i f_i is between 0 and 1 becomes feasible when it is divided by this
number. Its primal value is defined as that of the feasible model.
`optimization.methods.hard_margin` solves the problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.cached_property import cached_property
from ..common.types import Numbers
from ..losses import HardMargin, Hinge, Loss
from ..losses.risk import Risk
from ..norms import Norm
from .problem import Problem


@dataclass(frozen=True, eq=False)
class HardMarginProblem(Problem):
    """The hard-margin problem: examples of cost 1 are constraints, those of cost 0 are ignored."""

    @classmethod
    def separating(
        cls,
        loss: Loss,
        norm: Norm,
        y: np.ndarray,
        counts: np.ndarray,
        tau: float | None = 0.0,
    ) -> HardMarginProblem:
        """Return the problem of targets y, shape (n,), on the examples that a mask selects.

        `counts` is this mask, shape (n,). `loss` is the loss whose limit for C = inf is wanted.
        `tau` is 0 with an intercept and None without.

        Raises
        ------
        ValueError
            If the loss is neither the hinge nor the squared hinge loss.
        """
        if loss.name not in ("hinge", "squared_hinge"):
            raise ValueError(
                f"C=inf, a hard margin, is for loss='hinge' or 'squared_hinge', got {loss.name!r}; "
                "choose a finite C"
            )
        return cls(Risk(HardMargin(), y, np.where(counts, 1.0, 0.0), tau), norm)

    def soft(self, cost: float) -> Problem:
        """Return the soft-margin problem with the hinge loss and C = `cost`."""
        costs = np.where(self.C > 0, cost, 0.0)
        return Problem.of(Hinge(), self.norm, self.y, costs, self.tau, self.n_outputs)

    def margin(self, F: np.ndarray, bias: Numbers) -> float:
        """Return the smallest y_i f_i of outputs F, shape (n,), and a bias."""
        f = F + np.repeat(bias, len(F) // self.n_outputs)
        return float((self.y * f)[self.C > 0].min())

    def primal(self, F: np.ndarray, s: np.ndarray, theta: np.ndarray, bias: Numbers) -> float:
        """Return the primal value of a model; inf if some y_i f_i <= 0.

        If the smallest y_i f_i is below 1, the model is first divided by it.
        """
        margin = self.margin(F, bias)
        if margin <= 0:
            return np.inf
        return 0.5 * self.norm.regularizer(theta, s) / min(1.0, margin) ** 2

    @cached_property
    def constant_model(self) -> tuple[float, Numbers]:
        """Value and bias of the constant model.

        The value is 0 if the examples of every output are of one class, and inf otherwise. Without
        an intercept the constant model is f = 0, which violates all constraints y_i f_i >= 1.
        """
        if not self.risk.has_intercept:
            return np.inf, self.best_bias(np.zeros_like(self.y))
        single = [np.ptp(one.y[one.C > 0]) == 0 for one in self.risk.per_output]
        return 0.0 if all(single) else np.inf, self.best_bias(np.zeros_like(self.y))

    def constant_is_optimal(self, dual: float) -> bool:
        """Return whether the constant model satisfies the constraints, for any dual value."""
        return self.constant == 0

    @property
    def _zero(self) -> float:
        return float(np.finfo(float).tiny)
