"""What a weight step sees and returns.

J(theta) stands for the optimal value of the inner problem, in which the weights theta are given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..norms import Norm


@dataclass(frozen=True, eq=False)
class Turn:
    """What a weight step sees of the present model.

    Attributes
    ----------
    theta : array of shape (M,)
        The weights so far.
    s : array of shape (M,)
        alpha' K_m alpha.
    linear : float
        The part of the dual value that does not depend on the weights, so that the dual value of
        alpha under weights theta is linear - 1/2 theta . s. It bounds J(theta) from below; -1/2 s
        is the gradient of J if alpha is optimal.
    primal : callable
        Returns the primal value of the model, which bounds J(theta) from above.
    hessian : callable
        Returns the Hessian of J at theta, shape (M, M), as far as it is known.
    at : callable
        Solves the inner problem with other weights, shape (M,), and returns its turn. Line searches
        use it.
    tol : float
        The relative duality gap that the solver is to reach.
    """

    theta: np.ndarray
    s: np.ndarray
    linear: float
    primal: Callable[[], float]
    hessian: Callable[[], np.ndarray]
    at: Callable[[np.ndarray], Turn]
    tol: float = field(kw_only=True)

    @property
    def value(self) -> float:
        """The dual value of alpha under the weights."""
        return self.linear - 0.5 * float(self.theta @ self.s)

    def gap(self, norm: Norm) -> float:
        """Return how far the primal value is above the dual value under the best weights."""
        return self.primal() - (self.linear - 0.5 * norm.dual(self.s))


Step = Callable[[Turn], np.ndarray]
"""A rule for the kernel weights: from a turn to the next weights, shape (M,)."""


def keep_weights(turn: Turn) -> np.ndarray:
    """Leave the weights as they are: one kernel machine on a given combination."""
    return turn.theta
