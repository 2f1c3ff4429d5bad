"""The result of every solver: a model and its duality gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..common.types import Numbers
from ..problem.certificate import Certificate
from .log import Progress
from .observers import placed

if TYPE_CHECKING:
    from .plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(Certificate):
    """A model, its primal and dual value, and the iterations that led to it.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Signed dual variables.
    weights : ndarray of shape (M,)
        Kernel weights theta; all 0 if the constant model is optimal.
    n_iter : int
        Number of outer iterations.
    history : sequence of Progress
        The models of all iterations with their duality gaps, oldest first.
    converged : bool
        Whether the gap is at most the tolerance. `confirm` requires this of the gap plus
        `rounding_bound`.
    late : bool
        Whether the time limit was reached before convergence.
    optimality : (eps1, eps2), optional
        Accuracy of the support kernel machine, see `methods.optimality`.
    rounding_bound : float
        Bound on the effect of rounding on the gap.
    plan : Plan, optional
        The plan that was followed; None for the result of a component of a plan.
    """

    alpha: np.ndarray
    weights: np.ndarray
    n_iter: int
    history: Sequence[Progress]
    converged: bool
    late: bool = False
    optimality: tuple[float, float] | None = None
    rounding_bound: float = 0.0
    plan: Plan | None = None

    def moved(self, centre: Numbers) -> Result:
        """Return the result for targets shifted by a number, or by one number per output."""
        history = [replace(past, bias=past.bias + centre) for past in self.history]
        return replace(self, bias=self.bias + centre, history=history) if np.any(centre) else self

    def spread(self, kernels: np.ndarray, M: int) -> Result:
        """Return the result for all M kernels, from that of a subset of them.

        Parameters
        ----------
        kernels : ndarray
            Positions of the kernels of this result. If it has a single weight, that of their plain
            sum, each of them gets this weight.
        """
        if len(self.weights) == M:
            return self
        history = [replace(past, weights=placed(past.weights, kernels, M)) for past in self.history]
        return replace(self, weights=placed(self.weights, kernels, M), history=history)
