"""The small convex problems that weight steps solve, by an interior point method.

    min over v      1/2 v' P v + q . v
    such that       v >= lower,    rows v <= ends,    ball(v_1 .. v_M) <= 0

The first M variables are kernel weights; `ball` says whether a norm allows them. Every iteration
replaces it by its second-order Taylor expansion, so that this is also the sequence of
Taylor-expanded programs of Kloft et al. (2009), one Newton step each.

`model_minimum` is such a problem: the minimum of a quadratic model of J(theta), the optimal value
of the inner problem,

    gradient . theta + 1/2 (theta - theta_0)' H (theta - theta_0).

The model is trusted near theta_0 only: in one step a weight may shrink, but not vanish. That also
keeps weights positive, as J has kinks where kernels of low rank lose their whole weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ...common.core import _core
from ...norms import Norm
from ..iterate import Iterate
from ..kkt_system import longest_step

ROUNDS = 80
ENOUGH = 1e-12  # complementarity and residuals, for a problem whose coefficients are about 1
CENTRE = 0.1  # how far complementarity is lowered in one iteration
SAFE = 0.99  # how much of the way to the boundary is taken
FLOOR = 1e-3  # times the relative gap and the mean weight: below it a weight no longer shrinks
FEW = 50  # weights, and slopes, that a model is minimised over at first
# Differences of slopes that steps on pairs of weights leave, or part of the first one if that is
# less, after so many of them for each weight at most.
PAIRED, PART_LEFT, PAIRS_PER_WEIGHT = 1e-7, 1e-2, 300
ROUNDING = 1e-6  # relative error of a multiplier
MOST_WEIGHTS = 5000  # of which matrices are made; several of these fit in memory, and take minutes


@dataclass(frozen=True, eq=False)
class Master:
    """A small convex problem in N variables with K rows.

    Attributes
    ----------
    norm : Norm
        Says by its `ball` which weights are feasible.
    P : array of shape (N, N), positive semidefinite
    q : array of shape (N,)
    lower : array of shape (N,), -inf where a variable has no bound
    rows : array of shape (K, N)
    ends : array of shape (K,)
    """

    norm: Norm
    P: np.ndarray
    q: np.ndarray
    lower: np.ndarray
    rows: np.ndarray
    ends: np.ndarray

    def minimise(self, v: np.ndarray, theta: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the minimum, shape (N,).

        Parameters
        ----------
        v : array of shape (N,), above `lower`
            Where the search starts.
        theta : array of shape (M,)
            All kernel weights, of which only those that vary are changed.
        free : array of shape (k,)
            Positions of the weights that vary. They are the first k variables.
        """
        point = _Point(self, v, theta, free)
        for _ in range(ROUNDS):
            if point.complementarity() <= ENOUGH and point.residual() <= 1e3 * ENOUGH:
                break
            if not point.advance():
                break
        return point.v


class _Point:
    """A primal-dual iterate: v with slacks and multipliers of bounds, rows and ball."""

    def __init__(self, master: Master, v: np.ndarray, theta: np.ndarray, free: np.ndarray):
        self.master, self.theta, self.free = master, theta.copy(), free
        self.v = v.astype(float)
        self.bounded = np.isfinite(master.lower)
        self.bound_price = np.where(self.bounded, 1.0, 0.0)
        self.row_slack = np.maximum(master.ends - master.rows @ v, 1e-2)
        self.row_price = np.ones(len(master.ends)) / max(len(master.ends), 1)
        self.theta[free] = v[: len(free)]
        self.ball_slack, self.ball_price = max(-master.norm.ball(self.theta)[0], 1e-2), 1.0
        self.measure()

    def measure(self) -> None:
        """Bring room, the Taylor expansion of the ball and the residuals up to date."""
        master = self.master
        self.room = np.where(self.bounded, self.v - master.lower, 1.0)
        k = len(self.free)
        self.theta[self.free] = self.v[:k]
        value, slope = master.norm.ball(self.theta)
        self.ball_slope = np.concatenate([slope[self.free], np.zeros(len(self.v) - k)])
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
        if not self.room.all():  # rounding has made the distance to a bound 0
            return False
        target = CENTRE * self.complementarity()
        with np.errstate(divide="ignore", invalid="ignore"):  # a weight has reached its bound
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
        k, bend = len(self.free), self.master.norm.ball_hessian(self.theta, self.free)
        system[:k, :k] += self.ball_price * bend
        system[np.diag_indices_from(system)] += self.bound_price / self.room
        right = -self.off_dual - self.bound_price + self.bounded * target / self.room
        right -= rows.T @ (target / self.row_slack - self.row_price + pull * self.off_rows)
        ball_right = target / self.ball_slack - self.ball_price + ball_pull * self.off_ball
        right -= ball_right * self.ball_slope
        step: np.ndarray
        _, step, failed = dposv(system, right)  # cho_factor and cho_solve would take twice as long
        return None if failed else step  # not positive definite, or not finite: rounding prevails


def refuse_many(step: str | None, norm: Norm, M: int) -> None:
    """Raise ValueError where a step, by its name, would make matrices that are too large.

    At p = 1 cutting planes are rows of a linear program, and Newton steps move few weights at once.
    """
    makes = step == "level" or (step in ("cutting plane", "newton") and not norm.is_sparse)
    if makes and M > MOST_WEIGHTS:
        raise ValueError(
            f"solver: {step} steps make matrices of {M:,} x {M:,} numbers for {M:,} kernels, and "
            f'serve up to {MOST_WEIGHTS:,}; take solver="auto"'
        )


def least_weights(iterate: Iterate, norm: Norm, reach: float) -> np.ndarray:
    """Return what each weight is left at least, (M,): the part `reach` of itself, or the floor."""
    gap = iterate.gap(norm)
    relative = gap / max(iterate.scale, gap)
    floor = FLOOR * relative * iterate.theta.mean()
    least: np.ndarray = np.maximum(reach * iterate.theta, np.minimum(floor, iterate.theta))
    return least


def model_minimum(
    theta: np.ndarray, gradient: np.ndarray, H: np.ndarray, lower: np.ndarray, norm: Norm
) -> np.ndarray:
    """Return the feasible weights above `lower`, shape (M,), that minimise the model around theta.

    Of many weights most end at their bounds. So the model is minimised over those that are large or
    steep, then also over those that would leave their bounds at the price that these pay, the
    steepest first and at most as many as there are, and so on.

    Parameters
    ----------
    theta, gradient, lower : arrays of shape (M,)
    H : symmetric, of shape (M, M)
        Like the gradient in units in which that is about 1.
    """
    M = len(theta)
    ridge = 1e-9 * H.trace() / M + 1e-14
    free = _largest(theta, FEW) | _largest(-gradient, FEW)

    def slopes(best: np.ndarray) -> np.ndarray:
        return np.asarray(gradient + H @ (best - theta) + ridge * (best - theta))

    while True:
        every = bool(free.all())
        best = theta.copy() if every else np.where(free, theta, lower)
        own = H.copy() if every else H[np.ix_(free, free)]
        slope = gradient if every else slopes(best)[free]
        found = _by_pairs(own, ridge, slope, lower, theta, free, norm) if norm.is_sparse else None
        if found is None:
            own.flat[:: len(own) + 1] += ridge
            none, slope = np.zeros((0, len(slope))), slope - own @ theta[free]
            model = Master(norm, own, slope, lower[free], none, np.zeros(0))
            start = np.maximum(0.95 * theta + 1e-3 * norm.start(M), lower * (1 + 1e-3))
            found = model.minimise(start[free], best, np.flatnonzero(free))
        best[free] = np.maximum(found, lower[free])
        if every:
            return best / norm.value(best)
        slope, across = slopes(best), norm.ball(best)[1]
        # Where the ball is not monotone (`Elliptic`) a larger weight may even shorten all others.
        reduced = slope + _multiplier(slope, across, np.where(free, best - lower, 0.0)) * across
        wanted = np.flatnonzero(~free & (reduced < -ROUNDING * np.abs(slope)))
        if not wanted.size:
            return best / norm.value(best)
        free[wanted[_largest(-reduced[wanted], free.sum())]] = True


def _by_pairs(
    P: np.ndarray,
    ridge: float,
    slope: np.ndarray,
    lower: np.ndarray,
    theta: np.ndarray,
    free: np.ndarray,
    norm: Norm,
) -> np.ndarray | None:
    """Return the k free weights at norm 1 that minimise the model with P + ridge I, at p = 1.

    Its slopes at theta are given, shape (k,). The other weights are at their bounds. Weights times
    their costs have a fixed sum, like the alphas of a working set of examples, and are found in the
    same way, two at a time. None where that takes so many steps that interior points are faster.
    """
    costs = norm.ball(theta)[1]
    total = 1.0 - float(costs[~free] @ lower[~free])
    model = P, ridge, slope, theta[free], lower[free], costs[free], total
    return _core.even_weights(*model, PAIRED, PART_LEFT, PAIRS_PER_WEIGHT)


def _multiplier(slope: np.ndarray, across: np.ndarray, room: np.ndarray) -> float:
    """Return the multiplier of the ball with which weights that have room stay as they are.

    Weights next to their bounds, which may stay for another reason, hardly count.
    """
    size = float((room * across) @ across)
    return max(0.0, -float((room * slope) @ across) / size) if size > 0 else 0.0


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return which values, shape (M,), are among so many largest, as far as there are so many."""
    if len(values) <= count:
        return np.ones(len(values), dtype=bool)
    largest = np.zeros(len(values), dtype=bool)
    largest[np.argsort(-values, kind="stable")[:count]] = True
    return largest
