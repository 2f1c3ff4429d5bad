"""s_m = alpha' K_m alpha, as far as a certificate needs it."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..problem import Problem

TINY = np.finfo(float).tiny


def energies(problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Return s, shape (M,), of the alpha of an engine.

    Where weights are given only its sum under them matters, which combined outputs tell.
    """
    if not problem.norm.is_given:
        return engine.quadratic()
    total = float(engine.alpha @ engine.combined(weights))
    return np.full(len(weights), total / max(weights.sum(), TINY))
