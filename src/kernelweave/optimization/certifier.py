"""Certificates (primal and dual value, gap, bias) of an engine's present alpha."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..problem.certificate import Certificate
from ..problem.problem import Problem

TINY = np.finfo(float).tiny


class Certifier:
    """Computes certificates of an engine's alpha, and keeps the combined outputs.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the examples and alpha.

    Attributes
    ----------
    F : ndarray of shape (n,)
        Combined outputs of the last `certify`.
    """

    def __init__(self, problem: Problem, engine: Engine):
        self.problem, self.engine = problem, engine
        self._certified: tuple[np.ndarray, np.ndarray, Certificate] | None = None  # s, weights

    def certify(self, weights: np.ndarray, s: np.ndarray | None = None) -> Certificate:
        """Return the certificate of alpha and weights, shape (M,), and keep the combined outputs.

        `s`: squared block norms of alpha, shape (M,), if they are known.
        """
        s = block_norms(self.problem, self.engine) if s is None else s
        if self._certified is None or not (
            self._certified[0] is s and np.array_equal(self._certified[1], weights)
        ):
            engine = self.engine
            self.F = engine.combined(weights)
            certificate = self.problem.certificate(engine.alpha, self.F, s, weights, engine.origin)
            self._certified = s, weights, certificate
        return self._certified[2]

    def primal(self, weights: np.ndarray, s: np.ndarray) -> float:
        """Return the primal value with exactly these weights, shape (M,).

        `s` are the squared block norms of alpha, shape (M,). With a block norm `Problem.primal`
        would use the best weights for s instead.
        """
        own = self.problem.norm.regularizer(weights, s)
        return self.certify(weights, s).primal + 0.5 * (float(weights @ s) - own)


def block_norms(problem: Problem, engine: Engine) -> np.ndarray:
    """Return the squared block norms s_m = alpha' K_m alpha of an engine's alpha, shape (M,).

    With fixed weights only theta . s is needed, which follows from the combined outputs. Then all
    s_m are set to the same value.
    """
    norm = problem.norm
    if not norm.is_fixed:
        return engine.quadratic()
    theta = norm.best(np.zeros(engine.n_kernels))
    total = float(engine.alpha @ engine.combined(theta))
    return np.full(len(theta), total / max(theta.sum(), TINY))


def certified(problem: Problem, engine: Engine, weights: np.ndarray) -> Certificate:
    """Return the certificate of an engine's alpha with weights, shape (M,)."""
    s, F = block_norms(problem, engine), engine.combined(weights)
    return problem.certificate(engine.alpha, F, s, weights, engine.origin)
