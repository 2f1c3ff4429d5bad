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
        The convex conjugates of their losses.
    alpha, F : ndarrays of shape (q,)
        Initial alphas, and the combined outputs at them.
    exact_kernel : callable, or None
        If `kernel` is in single precision: returns it in double precision.
    fixed_sum : bool
        Whether the sum of the alphas is fixed; False without an intercept.
    """

    kernel: np.ndarray
    term: DualTerm
    alpha: np.ndarray
    F: np.ndarray
    exact_kernel: Callable[[], np.ndarray] | None = None
    fixed_sum: bool = True

    @property
    def total(self) -> float | None:
        """Sum of the alphas, None if it is not fixed."""
        return float(self.alpha.sum()) if self.fixed_sum else None

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
        term, alpha, F = self.term.take(idx), self.alpha[idx], self.F[idx]
        return Subproblem(kernel, term, alpha, F, fixed_sum=self.fixed_sum)

    def with_free_alpha(self) -> Subproblem:
        """Return an equivalent problem with a fixed sum of the alphas.

        If the sum is not fixed, one more example, the last one, takes up the difference. It has no
        loss and no bounds, and all of its kernel values are 0.
        """
        if self.fixed_sum:
            return self
        return Subproblem(
            np.pad(self.kernel, (0, 1)),
            self.term.with_free_alpha(),
            np.append(self.alpha, 0.0),
            np.append(self.F, 0.0),
        )

    def gain(self, other: Subproblem) -> float:
        """Return the dual value at the alphas of `other` minus that at these alphas."""
        move = other.alpha - self.alpha
        costs = self.term.conjugate(other.alpha) - self.term.conjugate(self.alpha)
        return -float(0.5 * move @ (self.F + other.F) + costs.sum())

    @property
    def violation(self) -> float:
        """Largest KKT violation of the alphas."""
        return Violations(self.term, self.alpha, self.F, fixed_sum=self.fixed_sum).size


def balanced(
    alpha: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float | None, free: np.ndarray
) -> np.ndarray:
    """Return alphas between their bounds with a given sum, shape (q,).

    Parameters
    ----------
    alpha : ndarray of shape (q,)
        Alphas whose sum is wrong.
    lo, hi : ndarrays of shape (q,)
        Bounds that allow the sum.
    total : float or None
        Sum of the result; None returns the alphas as they are.
    free : ndarray of bool, shape (q,)
        Alphas that may change. If their bounds do not allow the sum, all alphas may change.
    """
    if total is None:
        return alpha
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
