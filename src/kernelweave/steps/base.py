"""What a solver asks of a weight step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


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
        alpha under weights theta is linear - 1/2 theta . s.
    """

    theta: np.ndarray
    s: np.ndarray
    linear: float


class Step(Protocol):
    """A rule for the kernel weights."""

    def __call__(self, turn: Turn) -> np.ndarray:
        """Return the next weights, shape (M,)."""


def keep_weights(turn: Turn) -> np.ndarray:
    """Leave the weights as they are: one machine on a fixed combination."""
    return turn.theta
