"""The best model of a fit, returned if iterations or time run out: the last gap may be larger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..problem.certificate import Certificate

if TYPE_CHECKING:
    from .result import Result


class BestModel:
    """The model of the smallest duality gap so far, with copies of its alpha and weights.

    Parameters
    ----------
    tol : float
        Relative duality gap at which a fit ends. Models with a smaller gap are not stored:
        `confirm` must first check that rounding did not cause it.
    """

    def __init__(self, tol: float):
        self._tol = tol
        self._best: tuple[Certificate, np.ndarray, np.ndarray] | None = None

    def note(self, certificate: Certificate, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Store a model if its duality gap is the smallest so far.

        The constant model (alpha = 0), at which most fits start, is not stored: users expect a
        trained model even if its gap is larger.

        Parameters
        ----------
        certificate : Certificate
        alpha : ndarray of shape (n,)
        weights : ndarray of shape (M,)
        """
        least = np.inf if self._best is None else self._best[0].gap
        if self._tol < certificate.gap < least and alpha.any():
            self._best = certificate, alpha.copy(), weights.copy()

    def instead_of(self, last: Result) -> Result:
        """Return the best model instead of the last one of a fit, if its gap is smaller.

        It has the `rounding_bound` of the last model, which hardly differs.
        """
        if self._best is None or not self._best[0].gap < last.gap:
            return last
        certificate, alpha, weights = self._best
        return replace(last, **vars(certificate), alpha=alpha, weights=weights)
