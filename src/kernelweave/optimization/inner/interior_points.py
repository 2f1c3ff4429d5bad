"""Interior points: the best alphas inside a working set, whatever the condition of its kernel.

The conditions of optimality of a smooth dual term on lo <= alpha <= hi, sum alpha fixed, are

    conj'(alpha) + F + b - z_lo + z_hi = 0,    z_lo (alpha - lo) = z_hi (hi - alpha) = mu,   mu = 0.

Newton's method follows their solutions as mu falls (Mehrotra, 1992: a predictor, which aims at
mu = 0, and a corrector). Each step factorises the kernel once; some twenty of them are enough,
where pairs of examples may need millions. An alpha whose dual term has a kink at 0 is the
difference of two parts, alpha = y - y' with 0 <= y <= hi and 0 <= y' <= -lo.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError

from ..kkt_system import KKTSystem, longest_step
from .subproblem import Subproblem, balanced

MOST = 60  # steps
INSET = 0.1  # part of its box, or of the largest alpha, that a part starts away from its bounds
SHORT = 0.99  # part of the longest step up to the next bound that is taken
ROUNDING = 1e-20  # of mu, relative to where it starts, below which it is rounding


def interior_points(problem: Subproblem) -> Iterator[np.ndarray]:
    """Yield alphas on the way to the best ones, each of shape (q,)."""
    path = _Path(problem)
    for _ in range(MOST):
        yield path.settled()
        if path.ended:
            return
        try:
            path.advance()
        except LinAlgError:
            return


class _Path:
    """The parts y of all alphas on their way, the bias, and the room of y with its multipliers z.

    The first q parts are those of the alphas, the others the second parts of `twofold` alphas. With
    k parts room and z have shape (2, k): that to lo and to hi, and 1 where there is no bound. Room
    falls by parts of itself and never to 0, as y - lo does by rounding.
    """

    def __init__(self, problem: Subproblem):
        self.problem, self.total = problem, float(problem.alpha.sum())
        term, alpha = problem.term, problem.alpha
        self.twofold = np.flatnonzero(term.eps > 0)
        self.lo = self._parts(np.where(term.eps > 0, 0.0, term.lo), 0.0 * alpha)
        self.hi = self._parts(term.hi, -term.lo)
        self.signs = self._slopes(np.ones_like(alpha))
        self.lin, self.curv = self._slopes(term.lin), self._parts(term.curv, term.curv)
        self.lin += self._parts(term.eps, term.eps)
        self.bounded = np.isfinite([self.lo, self.hi])
        self.size = np.abs(alpha).max() or 1.0
        inset = INSET * np.minimum(self.hi - self.lo, self.size)
        self.y = np.clip(self._parts(alpha, -alpha), self.lo + inset, self.hi - inset)
        self.room = np.where(self.bounded, [self.y - self.lo, self.hi - self.y], 1.0)
        self.bias = -np.median(term.lin + term.curv * alpha + problem.F)
        self.slope_size = np.abs(self._residual()).max() or 1.0
        self.z = np.where(self.bounded, self.slope_size, 0.0)

    def _parts(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return what belongs to the parts, (k,), from what belongs to both of all alphas, (q,)."""
        return np.concatenate([first, second[self.twofold]])

    def _slopes(self, slope: np.ndarray) -> np.ndarray:
        """Return derivatives in the parts, (k,), from those in the alphas, (q,)."""
        return self._parts(slope, -slope)

    def _sums(self, parts: np.ndarray) -> np.ndarray:
        """Return alphas, (q,), from their parts, (k,)."""
        q = len(self.problem.alpha)
        sums = parts[:q].copy()
        sums[self.twofold] -= parts[q:]
        return sums

    def _residual(self) -> np.ndarray:
        """Return the derivative of the objective in the parts, (k,), without the multipliers."""
        F = self.problem.after(self._sums(self.y)).F
        residual: np.ndarray = self.lin + self.curv * self.y + self._slopes(F + self.bias)
        return residual

    def settled(self) -> np.ndarray:
        """Return alphas, with those at their bounds whose multipliers exceed their room."""
        at_lo, at_hi = self.bounded & (self.room * self.slope_size < self.z * self.size)
        parts = np.where(at_lo, self.lo, np.where(at_hi, self.hi, self.y))
        free = self._sums(np.where(at_lo | at_hi, 0.0, self.signs)) > 0  # some part is not settled
        term = self.problem.term
        return balanced(self._sums(parts), term.lo, term.hi, self.total, free)

    @property
    def ended(self) -> bool:
        """Whether all alphas are at the end of the path but for rounding."""
        most = float((self.z * self.room).max())
        return bool(self.bounded.any()) and most <= ROUNDING * self.slope_size * self.size

    def advance(self) -> None:
        """Take one step."""
        room, z = self.room, self.z
        stiff = self.curv + (z / room).sum(axis=0)
        # The inverse stiffness of an alpha with two parts is the sum of those of its parts.
        stiffness = 1.0 / self._sums(self.signs / stiff)
        system = KKTSystem.definite(self.problem.kernel, stiffness)
        residual = self._residual() - z[0] + z[1]
        missing = self.total - self._sums(self.y).sum()

        def newton(products: np.ndarray) -> tuple[np.ndarray, ...]:
            """The step that changes z * room by `products`, (2, k), to first order."""
            pull = np.where(self.bounded, products / room, 0.0)
            force = pull[0] - pull[1] - residual
            free_move = self._sums(force / stiff)
            dalpha, dbias = system.solve(stiffness * free_move, missing)
            dslope = stiffness * (free_move - dalpha)
            dy = (force - self._slopes(dslope)) / stiff
            droom = np.where(self.bounded, [dy, -dy], 0.0)
            return dy, dbias, droom, pull - z * droom / room

        dy, dbias, droom, dz = newton(-z * room)
        if self.bounded.any():
            foreseen = (z + longest_step(z, dz, 1.0) * dz) * (
                room + longest_step(room, droom, 1.0) * droom
            )
            mu = (z * room).sum() / self.bounded.sum()
            centre = mu * (foreseen.sum() / (z * room).sum()) ** 3
            dy, dbias, droom, dz = newton(centre - z * room - dz * droom)
        step = min(longest_step(room, droom, 1.0), longest_step(z, dz, 1.0))
        step = step if step == 1.0 else SHORT * step
        self.y, self.bias = self.y + step * dy, self.bias + step * dbias
        self.room, self.z = room + step * droom, z + step * dz
