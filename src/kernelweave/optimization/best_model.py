"""The best model of a fit whose turns or time may run out: gaps rise now and then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..problem.certificate import Certificate

if TYPE_CHECKING:
    from .result import Result


class BestModel:
    """The certified model with the smallest gap so far: a copy of its alpha and its weights.

    Parameters
    ----------
    tol : relative duality gap at which a fit ends by itself. Whether that has been reached is not
        judged here, since rounding may have made such a gap (`confirm`).
    """

    def __init__(self, tol: float):
        self._tol = tol
        self._best: tuple[Certificate, np.ndarray, np.ndarray] | None = None

    def note(self, certificate: Certificate, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Take in a certified model with alpha, shape (n,), and weights, shape (M,).

        An alpha of 0, where most fits start, is the best constant: whoever asks for a few turns
        wants what they have learned, also where its gap is still wider.
        """
        least = np.inf if self._best is None else self._best[0].gap
        if self._tol < certificate.gap < least and alpha.any():
            self._best = certificate, alpha.copy(), weights.copy()

    def instead_of(self, last: Result) -> Result:
        """Return the best model in place of the last one of a fit, where its gap is smaller.

        The doubt of the last one stays: how far rounding may move a gap differs little.
        """
        if self._best is None or not self._best[0].gap < last.gap:
            return last
        certificate, alpha, weights = self._best
        return replace(last, **vars(certificate), alpha=alpha, weights=weights)
