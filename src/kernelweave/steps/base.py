"""What a solver asks of a weight step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..norms import Norm


@dataclass(frozen=True, eq=False)
class Turn:
    """What a weight step sees of a solver.

    Attributes
    ----------
    theta : array of shape (M,)
        The weights so far.
    s : array of shape (M,)
        alpha' K_m alpha.
    linear : float
        The part of the dual value that does not depend on the weights, so that the dual value of
        alpha under weights theta is linear - 1/2 theta . s. It bounds the value J(theta) of the
        best machine with these weights from below; -1/2 s is the gradient of J if alpha is optimal.
    primal : callable
        Returns the primal value of the model, which bounds J(theta) from above.
    curvature : callable
        Returns the second derivative of J at theta, shape (M, M), as far as it is known.
    tol : float
        The relative duality gap that the solver is to reach.
    """

    theta: np.ndarray
    s: np.ndarray
    linear: float
    primal: Callable[[], float]
    curvature: Callable[[], np.ndarray]
    tol: float = field(kw_only=True)

    @property
    def value(self) -> float:
        """The dual value of alpha under the weights."""
        return self.linear - 0.5 * float(self.theta @ self.s)

    def gap(self, norm: Norm) -> float:
        """Return how far the primal value is above the dual value under the best weights."""
        return self.primal() - (self.linear - 0.5 * norm.dual(self.s))


@dataclass(frozen=True, eq=False)
class SolvedTurn(Turn):
    """What a weight step sees when alpha solves the machine with the present weights.

    Attributes
    ----------
    at : callable
        Solves the machine with other weights, shape (M,), and returns its turn. Line searches
        use it; each call costs a complete solve.
    """

    at: Callable[[np.ndarray], SolvedTurn]


class Step(Protocol):
    """A rule for the kernel weights."""

    def __call__(self, turn: Turn) -> np.ndarray:
        """Return the next weights, shape (M,)."""


def keep_weights(turn: Turn) -> np.ndarray:
    """Leave the weights as they are: one machine on a fixed combination."""
    return turn.theta
