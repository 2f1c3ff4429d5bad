"""The budget of a solver: iterations and time."""

from __future__ import annotations

import time

import numpy as np


class Budget:
    """Iterations and time that a solver may use.

    Parameters
    ----------
    max_iter : int or None
        Maximum number of iterations.
    deadline : float
        Time at which to stop, on the clock of `time.monotonic`.

    Attributes
    ----------
    used : int
        Number of iterations so far.
    """

    def __init__(self, max_iter: int | None = None, deadline: float = np.inf):
        self.max_iter, self.deadline, self.used = max_iter, deadline, 0

    @property
    def iterations_left(self) -> int | None:
        """Number of iterations left, or None if it is not limited."""
        return None if self.max_iter is None else max(self.max_iter - self.used, 0)

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() >= self.deadline

    @property
    def spent(self) -> bool:
        """Whether no iteration or no time is left."""
        return self.iterations_left == 0 or self.out_of_time
