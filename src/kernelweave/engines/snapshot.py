"""What it takes to come back to an alpha."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Snapshot(NamedTuple):
    """An alpha, and what an engine keeps of its outputs.

    Attributes
    ----------
    alpha : array of shape (n,)
    outputs : array of shape (M, n), of shape (n,) where outputs are combined, or None
    theta : array of shape (M,) or None
        The weights under which outputs are combined.
    of_support : array of shape (M, k) or None
        The outputs of all kernels for the k examples whose alphas are not 0, in about six digits.
    """

    alpha: np.ndarray
    outputs: np.ndarray | None = None
    theta: np.ndarray | None = None
    of_support: np.ndarray | None = None

    def scaled(self, factor: float) -> Snapshot:
        """Return the snapshot at factor * alpha, factor > 0."""
        outputs = None if self.outputs is None else factor * self.outputs
        of_support = None if self.of_support is None else factor * self.of_support
        return Snapshot(factor * self.alpha, outputs, self.theta, of_support)
