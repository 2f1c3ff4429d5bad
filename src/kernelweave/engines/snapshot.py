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
    """

    alpha: np.ndarray
    outputs: np.ndarray | None = None
    theta: np.ndarray | None = None

    def scaled(self, factor: float) -> Snapshot:
        """Return the snapshot at factor * alpha."""
        outputs = None if self.outputs is None else factor * self.outputs
        return Snapshot(factor * self.alpha, outputs, self.theta)
