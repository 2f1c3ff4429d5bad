"""The convex problem inside a working set: what is known of it, and how good an alpha is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...losses import DualTerm
from .violations import Violations


@dataclass(frozen=True, eq=False)
class Subproblem:
    """q examples whose alphas are to be the best ones, given those outside the working set.

    Attributes
    ----------
    kernel : array of shape (q, q)
    term : their dual terms.
    alpha, F : arrays of shape (q,)
        Where it starts, and the combined outputs there. The sum of the alphas stays what it is.
    anew : callable, or None
        Where the kernel has few digits: returns it with all of them.
    """

    kernel: np.ndarray
    term: DualTerm
    alpha: np.ndarray
    F: np.ndarray
    anew: Callable[[], np.ndarray] | None = None

    def exact(self) -> Subproblem:
        """Return the problem with all digits of its kernel, which an ill-conditioned one needs."""
        return replace(self, kernel=self.kernel if self.anew is None else self.anew(), anew=None)

    def after(self, alpha: np.ndarray) -> Subproblem:
        """Return the same problem, starting from other alphas, shape (q,)."""
        return replace(self, alpha=alpha, F=self.F + self.kernel @ (alpha - self.alpha))

    def part(self, idx: np.ndarray) -> Subproblem:
        """Return the problem of some of the examples."""
        kernel = self.kernel[np.ix_(idx, idx)]
        return Subproblem(kernel, self.term.take(idx), self.alpha[idx], self.F[idx])

    def gain(self, other: Subproblem) -> float:
        """Return by how much the dual value at other alphas is above that at these."""
        move = other.alpha - self.alpha
        costs = self.term.conjugate(other.alpha) - self.term.conjugate(self.alpha)
        return -float(0.5 * move @ (self.F + other.F) + costs.sum())

    @property
    def violation(self) -> float:
        """How far the alphas are from being the best ones."""
        return Violations(self.term, self.alpha, self.F).size


def balanced(
    alpha: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float, free: np.ndarray
) -> np.ndarray:
    """Return alphas that add up to `total`, which alphas between the bounds can.

    The missing sum is spread over those that are free, or over all where those lack room. All
    arrays have shape (q,).
    """
    missing = total - alpha.sum()
    room = hi - alpha if missing > 0 else alpha - lo
    of_free = np.where(free, room, 0.0)
    room = of_free if of_free.sum() > abs(missing) else room
    if np.isinf(room).any():
        room = np.isinf(room).astype(float)
    if missing:
        alpha = np.clip(alpha + missing * (room / room.sum()), lo, hi)
    widest = np.argmax(np.where(free, np.minimum(alpha - lo, hi - alpha), 0.0))
    alpha[widest] = np.clip(alpha[widest] + total - alpha.sum(), lo[widest], hi[widest])  # rounding
    return alpha
