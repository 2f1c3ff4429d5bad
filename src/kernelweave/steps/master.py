"""The small convex problems that weight steps solve, by an interior point method.

    min over v      1/2 v' P v + q . v
    such that       v >= lower,    rows v <= ends,    ball(v_1 .. v_M) <= 0

The first M variables are kernel weights; `ball` says whether a norm allows them. Every iteration
replaces it by its second-order Taylor expansion, so that this is also the sequence of
Taylor-expanded programs of Kloft et al. (2009), one Newton step each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..kkt_system import longest_step
from ..norms import Norm

ROUNDS = 80
ENOUGH = 1e-12  # complementarity and residuals, for a problem whose coefficients are about 1
CENTRE = 0.1  # how far complementarity is lowered in one iteration
SAFE = 0.99  # how much of the way to the boundary is taken


@dataclass(frozen=True, eq=False)
class Ball:
    """The weights that a norm allows, all but some of them fixed.

    Attributes
    ----------
    norm : says which weights are feasible.
    theta : all weights, shape (M,).
    free : positions of those that vary, shape (k,).
    """

    norm: Norm
    theta: np.ndarray
    free: np.ndarray

    @classmethod
    def of(cls, norm: Norm, M: int) -> Ball:
        """Return the ball of M weights."""
        return cls(norm, np.ones(M), np.arange(M))

    def at(self, v: np.ndarray) -> np.ndarray:
        """Return all weights, shape (M,), where those that vary are v, shape (k,)."""
        theta = self.theta.copy()
        theta[self.free] = v
        return theta

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return a function that is at most 0 for feasible v, shape (k,), and its gradient."""
        value, slope = self.norm.ball(self.at(v))
        return value, slope[self.free]

    def hessian(self, v: np.ndarray) -> np.ndarray:
        """Return its Hessian, shape (k, k)."""
        return self.norm.ball_hessian(self.at(v), self.free)


@dataclass(frozen=True, eq=False)
class Master:
    """A small convex problem in N variables with K rows.

    Attributes
    ----------
    P : array of shape (N, N), positive semidefinite
    q : array of shape (N,)
    lower : array of shape (N,), -inf where a variable has no bound
    rows : array of shape (K, N)
    ends : array of shape (K,)
    ball : Ball
        Of M weights > 0.
    """

    P: np.ndarray
    q: np.ndarray
    lower: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    ball: Ball

    def minimise(self, v: np.ndarray, M: int) -> np.ndarray:
        """Return the minimum, shape (N,), from a v > lower, the first M variables being weights."""
        point = _Point(self, v, M)
        for _ in range(ROUNDS):
            if point.complementarity() <= ENOUGH and point.residual() <= 1e3 * ENOUGH:
                break
            if not point.advance():
                break
        return point.v


class _Point:
    """A primal-dual iterate: v with slacks and multipliers of bounds, rows and ball."""

    def __init__(self, master: Master, v: np.ndarray, M: int):
        self.master, self.M = master, M
        self.v = v.astype(float)
        self.bounded = np.isfinite(master.lower)
        self.bound_price = np.where(self.bounded, 1.0, 0.0)
        self.row_slack = np.maximum(master.ends - master.rows @ v, 1e-2)
        self.row_price = np.ones(len(master.ends)) / max(len(master.ends), 1)
        self.ball_slack, self.ball_price = max(-master.ball(v[:M])[0], 1e-2), 1.0
        self.measure()

    def measure(self) -> None:
        """Bring room, the Taylor expansion of the ball and the residuals up to date."""
        master = self.master
        self.room = np.where(self.bounded, self.v - master.lower, 1.0)
        value, slope = master.ball(self.v[: self.M])
        self.ball_slope = np.concatenate([slope, np.zeros(len(self.v) - self.M)])
        self.off_rows = master.rows @ self.v + self.row_slack - master.ends
        self.off_ball = value + self.ball_slack
        self.off_dual = (
            master.P @ self.v
            + master.q
            - self.bound_price
            + master.rows.T @ self.row_price
            + self.ball_price * self.ball_slope
        )

    def complementarity(self) -> float:
        """Return the mean product of slacks and multipliers."""
        total = self.room @ self.bound_price + self.row_slack @ self.row_price
        count = self.bounded.sum() + len(self.row_slack) + 1
        mean: float = float(total + self.ball_slack * self.ball_price) / count
        return mean

    def residual(self) -> float:
        """Return the largest violation of the linear conditions."""
        off_rows = np.abs(self.off_rows).max(initial=0.0)
        return float(max(np.abs(self.off_dual).max(), off_rows, abs(self.off_ball)))

    def advance(self) -> bool:
        """Take one Newton step; return False when none is possible."""
        target = CENTRE * self.complementarity()
        dv = self._direction(target)
        if dv is None:
            return False
        d_rows = -self.off_rows - self.master.rows @ dv
        d_ball = -self.off_ball - self.ball_slope @ dv
        d_bound_price = (target - self.bound_price * dv) / self.room - self.bound_price
        d_bound_price *= self.bounded
        d_row_price = (target - self.row_price * d_rows) / self.row_slack - self.row_price
        d_ball_price = (target - self.ball_price * d_ball) / self.ball_slack - self.ball_price
        slacks = [(self.room, dv * self.bounded), (self.row_slack, d_rows)]
        prices = [(self.bound_price, d_bound_price), (self.row_price, d_row_price)]
        ball = [(np.array([self.ball_slack, self.ball_price]), np.array([d_ball, d_ball_price]))]
        length = min(1.0, *(SAFE * longest_step(*pair) for pair in slacks + prices + ball))
        self.v = self.v + length * dv
        self.row_slack = self.row_slack + length * d_rows
        self.ball_slack += length * d_ball
        self.bound_price = self.bound_price + length * d_bound_price
        self.row_price = self.row_price + length * d_row_price
        self.ball_price += length * d_ball_price
        self.measure()
        return length > 1e-12

    def _direction(self, target: float) -> np.ndarray | None:
        rows, pull = self.master.rows, self.row_price / self.row_slack
        ball_pull = self.ball_price / self.ball_slack
        system = self.master.P + (rows.T * pull) @ rows
        system += ball_pull * np.outer(self.ball_slope, self.ball_slope)
        system[: self.M, : self.M] += self.ball_price * self.master.ball.hessian(self.v[: self.M])
        system[np.diag_indices_from(system)] += self.bound_price / self.room
        right = -self.off_dual - self.bound_price + self.bounded * target / self.room
        right -= rows.T @ (target / self.row_slack - self.row_price + pull * self.off_rows)
        ball_right = target / self.ball_slack - self.ball_price + ball_pull * self.off_ball
        right -= ball_right * self.ball_slope
        try:
            step: np.ndarray = cho_solve(cho_factor(system), right)
            return step
        except (LinAlgError, ValueError):  # not positive definite, or not finite: rounding rules
            return None
