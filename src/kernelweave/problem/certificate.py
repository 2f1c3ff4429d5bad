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
        Values of the primal and of the dual objective; the optimum is between them.
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
        """Whether primal is finite and dual below inf; it is -inf for an infeasible alpha."""
        return bool(np.isfinite(self.primal)) and self.dual < np.inf
