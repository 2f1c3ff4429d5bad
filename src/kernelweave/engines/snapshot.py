"""A saved state of an engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Snapshot(NamedTuple):
    """An alpha and its cached outputs: the arguments of `Engine.move_to`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Dual variables.
    outputs : ndarray of shape (M, n) or (n,), or None
        Outputs of each kernel, (M, n), or combined outputs, (n,); None if they were out of date.
    theta : ndarray of shape (M,) or None
        Kernel weights of combined outputs.
    origin : ndarray of shape (n,) or None
        Outputs at which the gradient of the risk is -alpha, if known (`Engine.origin`).
    """

    alpha: np.ndarray
    outputs: np.ndarray | None = None
    theta: np.ndarray | None = None
    origin: np.ndarray | None = None

    def scaled(self, factor: float) -> Snapshot:
        """Return the snapshot at factor * alpha.

        Parameters
        ----------
        factor : float > 0

        Returns
        -------
        Snapshot
        """
        outputs = None if self.outputs is None else factor * self.outputs
        return Snapshot(factor * self.alpha, outputs, self.theta)
