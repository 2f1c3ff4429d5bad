"""The iterate of a solver, as weight steps see it.

J(theta) denotes the optimal value of the inner problem, in which the weights theta are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from ..norms import Norm
from ..problem.certificate import Certificate
from .certifier import Certifier, block_norms

TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Iterate:
    """The present weights and block norms of a solver: the input of a weight step.

    Attributes
    ----------
    theta : ndarray of shape (M,)
        Present weights.
    s : ndarray of shape (M,)
        Squared block norms alpha' K_m alpha.
    linear : float
        Part of the dual value that does not depend on the weights: the dual value of alpha under
        weights theta is linear - 1/2 theta . s. It is a lower bound of J(theta), the optimal value
        of the inner problem, and -1/2 s is the gradient of J if alpha is optimal.
    primal : callable
        Returns the primal value of the model, an upper bound of J(theta).
    at : callable
        Solves the inner problem at other weights, shape (M,), for line searches; returns the new
        iterate.
    tol : float
        Relative duality gap that the solver must reach.
    constant : float
        Primal value of the constant model.
    """

    theta: np.ndarray
    s: np.ndarray
    linear: float
    primal: Callable[[], float]
    at: Callable[[np.ndarray], Iterate]
    tol: float = field(kw_only=True)
    constant: float = field(kw_only=True)

    @classmethod
    def of(
        cls,
        certifier: Certifier,
        theta: np.ndarray,
        at: Callable[[np.ndarray], Iterate],
        tol: float,
    ) -> Iterate:
        """Return the iterate of an engine's alpha and weights theta, shape (M,)."""
        problem, engine = certifier.problem, certifier.engine
        s = block_norms(problem, engine)
        if not np.isfinite(s).all():
            raise FloatingPointError("alpha' K alpha is not finite")
        return cls(
            theta,
            s,
            -problem.risk.conjugate(engine.alpha, engine.origin),
            cache(partial(certifier.primal, theta, s)),  # weight steps query it several times
            at,
            tol=tol,
            constant=problem.constant,
        )

    @property
    def value(self) -> float:
        """Dual value of alpha under the weights."""
        return self.linear - 0.5 * float(self.theta @ self.s)

    def gap(self, norm: Norm) -> float:
        """Return the primal value minus the dual value under the best weights for alpha."""
        return self.primal() - (self.linear - 0.5 * norm.dual(self.s))

    def gap_due_to_weights(self, norm: Norm, certificate: Certificate) -> float:
        """Return the part of the relative gap that the best weights would close; inf if unknown."""
        part = 0.5 * (norm.dual(self.s) - self.theta @ self.s) if norm.has_ball else np.inf
        return part / max(certificate.scale, TINY)

    @property
    def scale(self) -> float:
        """Denominator of relative gaps of the inner problem."""
        return max(min(abs(self.primal()), self.constant - self.value), TINY)


Step = Callable[[Iterate], np.ndarray]
"""A weight step: from an iterate to the next weights, shape (M,)."""
