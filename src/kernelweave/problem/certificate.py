"""The certificate of a model: primal value, dual value, and the gap between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.types import Numbers


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Objective values of a model and its relative duality gap.

    Attributes
    ----------
    primal, dual : float
        Values of the primal and of the dual problem.
    constant : float
        Primal value of the constant model (intercept only).
    gap : float
        ``(primal - dual) / min(|primal|, constant - dual)``.
    bias : float or ndarray of shape (n_outputs,)
        The best intercept of the model, one for each output that shares the kernel weights.
    """

    primal: float
    dual: float
    constant: float
    gap: float
    bias: Numbers

    @property
    def scale(self) -> float:
        """Denominator of the gap: min(|primal|, constant - dual)."""
        return min(abs(self.primal), self.constant - self.dual)

    @property
    def finite(self) -> bool:
        """Whether the values are numbers; the dual value of an infeasible alpha is -inf."""
        return bool(np.isfinite(self.primal)) and self.dual < np.inf
