"""The analytic weight step: the best weights for the present w (Kloft et al., 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..norms import Norm

if TYPE_CHECKING:
    from ..training.loop import Turn

SLACK = 0.25  # part of the tolerance that may be lost to weights which numbers can hold


@dataclass(frozen=True)
class Analytic:
    """Minimise sum_m ||w_m||^2 / theta_m over the feasible weights, w being what it is."""

    norm: Norm

    def __call__(self, turn: Turn) -> np.ndarray:
        theta = self.norm.analytic(turn.theta, turn.s)
        return self.norm.held(theta, SLACK * turn.tol)
