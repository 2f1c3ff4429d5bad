"""The dual problem restricted to a working set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...losses import DualTerm
from .violations import Violations


@dataclass(frozen=True, eq=False)
class Subproblem:
    """The dual problem of q examples, with all other alphas fixed.

    Attributes
    ----------
    kernel : ndarray of shape (q, q)
        Combined kernel matrix of the examples.
    term : DualTerm
        Their dual terms.
    alpha, F : ndarrays of shape (q,)
        Initial alphas, whose sum is fixed, and the combined outputs at them.
    exact_kernel : callable, or None
        If `kernel` is in single precision: returns it in double precision.
    """

    kernel: np.ndarray
    term: DualTerm
    alpha: np.ndarray
    F: np.ndarray
    exact_kernel: Callable[[], np.ndarray] | None = None

    def exact(self) -> Subproblem:
        """Return the problem in double precision, which ill-conditioned kernels need."""
        kernel = self.kernel if self.exact_kernel is None else self.exact_kernel()
        return replace(self, kernel=kernel, exact_kernel=None)

    def after(self, alpha: np.ndarray) -> Subproblem:
        """Return the same problem at other alphas, shape (q,)."""
        return replace(self, alpha=alpha, F=self.F + self.kernel @ (alpha - self.alpha))

    def part(self, idx: np.ndarray) -> Subproblem:
        """Return the problem restricted to the examples idx, an array of positions."""
        kernel = self.kernel[np.ix_(idx, idx)]
        return Subproblem(kernel, self.term.take(idx), self.alpha[idx], self.F[idx])

    def gain(self, other: Subproblem) -> float:
        """Return the dual value at the alphas of `other` minus that at these alphas."""
        move = other.alpha - self.alpha
        costs = self.term.conjugate(other.alpha) - self.term.conjugate(self.alpha)
        return -float(0.5 * move @ (self.F + other.F) + costs.sum())

    @property
    def violation(self) -> float:
        """Largest KKT violation of the alphas."""
        return Violations(self.term, self.alpha, self.F).size


def balanced(
    alpha: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float, free: np.ndarray
) -> np.ndarray:
    """Return alphas between their bounds with a given sum, shape (q,).

    Parameters
    ----------
    alpha : ndarray of shape (q,)
        Alphas whose sum is wrong.
    lo, hi : ndarrays of shape (q,)
        Bounds that allow the sum.
    total : float
        Sum of the result.
    free : ndarray of bool, shape (q,)
        Alphas that are changed; if their bounds do not allow the sum, all are.
    """
    missing = total - alpha.sum()
    room = hi - alpha if missing > 0 else alpha - lo
    free_room = np.where(free, room, 0.0)
    room = free_room if free_room.sum() > abs(missing) else room
    if np.isinf(room).any():
        room = np.isinf(room).astype(float)
    if missing:
        alpha = np.clip(alpha + missing * (room / room.sum()), lo, hi)
    widest = np.argmax(np.where(free, np.minimum(alpha - lo, hi - alpha), 0.0))
    alpha[widest] = np.clip(alpha[widest] + total - alpha.sum(), lo[widest], hi[widest])  # rounding
    return alpha
