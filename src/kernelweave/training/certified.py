"""The alpha that an engine holds, certified: what a problem asks of it."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..problem import Certificate, Problem

TINY = np.finfo(float).tiny


def energies(problem: Problem, engine: Engine) -> np.ndarray:
    """Return s, shape (M,), of the alpha of an engine.

    A norm that leaves no choice asks for its sum under the given weights only, which combined
    outputs tell: s is spread evenly.
    """
    norm = problem.norm
    if not norm.is_given:
        return engine.quadratic()
    given = norm.best(np.zeros(engine.n_kernels))
    total = float(engine.alpha @ engine.combined(given))
    return np.full(len(given), total / max(given.sum(), TINY))


def certified(problem: Problem, engine: Engine, weights: np.ndarray) -> Certificate:
    """Certify the alpha of an engine with weights, shape (M,)."""
    s, F = energies(problem, engine), engine.combined(weights)
    return problem.certificate(engine.alpha, F, s, weights)
