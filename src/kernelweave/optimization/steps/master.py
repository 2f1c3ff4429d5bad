"""Master problems: the small convex problems that weight steps solve by an interior point method.

    minimise        1/2 v' P v + q . v      over v
    subject to      v >= lower,    rows v <= ends,    ball(v_1 .. v_M) <= 0

The first M variables are kernel weights, and ball(theta) <= 0 is the norm constraint. Every
iteration replaces it by its second-order Taylor expansion. So this is also the sequence of
Taylor-expanded programs of Kloft et al. (2009), with one Newton step each.

`model_minimum` solves such a problem: it minimises a quadratic model of J(theta), the optimal value
of the inner problem,

    gradient . theta + 1/2 (theta - theta_0)' H (theta - theta_0).

The lower bounds are a trust region around theta_0: in one step a weight may shrink, but not vanish.
They also keep weights positive, since J has kinks where kernels of low rank get weight 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ...common.core import _core
from ...norms import Norm
from ..iterate import Iterate
from ..kkt_system import longest_step


@dataclass(frozen=True)
class MasterTuning:
    """Constants of master problems. Coefficients of a problem are scaled to about 1.

    Attributes
    ----------
    iterations : maximum number of interior point iterations.
    complementarity : mean product of slacks and multipliers at which iterations stop.
    residual : residual of the linear conditions at which they stop.
    centring : factor by which one iteration tries to reduce the complementarity.
    step_fraction : fraction of the step to the boundary that is taken.
    floor : weights below this do not shrink further, in units of the relative gap times the mean
        weight.
    first_weights : a model is first minimised over this number of the largest weights, and of the
        weights with the steepest descent.
    pair_tol, pair_rtol : SMO steps on pairs of weights (p = 1) stop at this difference of their
        slopes, absolute and relative to the first difference; the smaller one counts.
    pairs_per_weight : maximum number of these steps per weight.
    multiplier_rounding : relative error of the multiplier of the norm constraint.
    """

    iterations: int = 80
    complementarity: float = 1e-12
    residual: float = 1e-9
    centring: float = 0.1
    step_fraction: float = 0.99
    floor: float = 1e-3
    first_weights: int = 50
    pair_tol: float = 1e-7
    pair_rtol: float = 1e-2
    pairs_per_weight: int = 300
    multiplier_rounding: float = 1e-6


TUNING = MasterTuning()


@dataclass(frozen=True, eq=False)
class Master:
    """A convex problem: minimise 1/2 v' P v + q . v over N variables v.

    The constraints are v >= lower, rows v <= ends, and the norm constraint of the weights, which
    are the first variables.

    Attributes
    ----------
    norm : Norm
        Its `ball` is the norm constraint.
    P : ndarray of shape (N, N)
        Hessian of the objective, positive semidefinite.
    q : ndarray of shape (N,)
        Gradient of the objective at 0.
    lower : ndarray of shape (N,)
        Lower bounds; -inf for none.
    rows, ends : ndarrays of shape (T, N) and (T,)
        Coefficients and right-hand sides of the linear constraints, such as cuts.
    tuning : MasterTuning
        Stopping criteria.
    """

    norm: Norm
    P: np.ndarray
    q: np.ndarray
    lower: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    tuning: MasterTuning = TUNING

    def minimise(self, v: np.ndarray, theta: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the minimiser, shape (N,).

        Parameters
        ----------
        v : ndarray of shape (N,)
            Start, above `lower`.
        theta : ndarray of shape (M,)
            All kernel weights; those that are not free stay fixed.
        free : ndarray of shape (k,)
            Positions of the free weights. They are the first k variables.
        """
        point, tuning = _Point(self, v, theta, free), self.tuning
        for _ in range(tuning.iterations):
            small = point.complementarity() <= tuning.complementarity
            if small and point.residual() <= tuning.residual:
                break
            if not point.advance():
                break
        return point.v


class _Point:
    """A primal-dual iterate of a `Master` problem: the variables v, slacks and multipliers.

    Each of the three groups of constraints has slacks and multipliers: the bounds v >= lower, the
    rows of the linear constraints, and the norm constraint (`ball`).
    """

    def __init__(self, master: Master, v: np.ndarray, theta: np.ndarray, free: np.ndarray):
        self.master, self.theta, self.free = master, theta.copy(), free
        self.v = v.astype(float)
        self.bounded = np.isfinite(master.lower)
        self.bound_multiplier = np.where(self.bounded, 1.0, 0.0)
        self.row_slack = np.maximum(master.ends - master.rows @ v, 1e-2)
        self.row_multiplier = np.ones(len(master.ends)) / max(len(master.ends), 1)
        self.theta[free] = v[: len(free)]
        self.ball_slack, self.ball_multiplier = max(-master.norm.ball(self.theta)[0], 1e-2), 1.0
        self.measure()

    def measure(self) -> None:
        """Update slacks of bounds, the expansion of the norm constraint, and residuals."""
        master = self.master
        self.bound_slack = np.where(self.bounded, self.v - master.lower, 1.0)
        k = len(self.free)
        self.theta[self.free] = self.v[:k]
        value, slope = master.norm.ball(self.theta)
        self.ball_gradient = np.concatenate([slope[self.free], np.zeros(len(self.v) - k)])
        self.row_residual = master.rows @ self.v + self.row_slack - master.ends
        self.ball_residual = value + self.ball_slack
        self.dual_residual = (
            master.P @ self.v
            + master.q
            - self.bound_multiplier
            + master.rows.T @ self.row_multiplier
            + self.ball_multiplier * self.ball_gradient
        )

    def complementarity(self) -> float:
        """Return the mean product of slacks and multipliers."""
        total = self.bound_slack @ self.bound_multiplier + self.row_slack @ self.row_multiplier
        count = self.bounded.sum() + len(self.row_slack) + 1
        return float(total + self.ball_slack * self.ball_multiplier) / count

    def residual(self) -> float:
        """Return the largest residual of primal and dual feasibility."""
        row_residual = np.abs(self.row_residual).max(initial=0.0)
        return float(max(np.abs(self.dual_residual).max(), row_residual, abs(self.ball_residual)))

    def advance(self) -> bool:
        """Take one Newton step; return False if rounding prevents it."""
        if not self.bound_slack.all():  # the distance to a bound rounds to 0
            return False
        target = self.master.tuning.centring * self.complementarity()
        with np.errstate(divide="ignore", invalid="ignore"):  # slacks may underflow
            dv = self._direction(target)
        if dv is None:
            return False
        d_row_slack = -self.row_residual - self.master.rows @ dv
        d_ball_slack = -self.ball_residual - self.ball_gradient @ dv
        d_bound_multiplier = (
            target - self.bound_multiplier * dv
        ) / self.bound_slack - self.bound_multiplier
        d_bound_multiplier *= self.bounded
        d_row_multiplier = (
            target - self.row_multiplier * d_row_slack
        ) / self.row_slack - self.row_multiplier
        d_ball_multiplier = (
            target - self.ball_multiplier * d_ball_slack
        ) / self.ball_slack - self.ball_multiplier
        slacks = [(self.bound_slack, dv * self.bounded), (self.row_slack, d_row_slack)]
        multipliers = [
            (self.bound_multiplier, d_bound_multiplier),
            (self.row_multiplier, d_row_multiplier),
        ]
        ball = [
            (
                np.array([self.ball_slack, self.ball_multiplier]),
                np.array([d_ball_slack, d_ball_multiplier]),
            )
        ]
        fraction = self.master.tuning.step_fraction
        length = min(1.0, *(fraction * longest_step(*pair) for pair in slacks + multipliers + ball))
        self.v = self.v + length * dv
        self.row_slack = self.row_slack + length * d_row_slack
        self.ball_slack += length * d_ball_slack
        self.bound_multiplier = self.bound_multiplier + length * d_bound_multiplier
        self.row_multiplier = self.row_multiplier + length * d_row_multiplier
        self.ball_multiplier += length * d_ball_multiplier
        self.measure()
        return length > 1e-12

    def _direction(self, target: float) -> np.ndarray | None:
        """Return the Newton direction of v, shape (N,), or None if the system is singular.

        The step makes all products of slacks and multipliers `target`, to first order.
        """
        rows, row_ratio = self.master.rows, self.row_multiplier / self.row_slack
        ball_ratio = self.ball_multiplier / self.ball_slack
        system = self.master.P + (rows.T * row_ratio) @ rows
        system += ball_ratio * np.outer(self.ball_gradient, self.ball_gradient)
        k, ball_hessian = len(self.free), self.master.norm.ball_hessian(self.theta, self.free)
        system[:k, :k] += self.ball_multiplier * ball_hessian
        system[np.diag_indices_from(system)] += self.bound_multiplier / self.bound_slack
        right = (
            -self.dual_residual - self.bound_multiplier + self.bounded * target / self.bound_slack
        )
        right -= rows.T @ (
            target / self.row_slack - self.row_multiplier + row_ratio * self.row_residual
        )
        ball_right = (
            target / self.ball_slack - self.ball_multiplier + ball_ratio * self.ball_residual
        )
        right -= ball_right * self.ball_gradient
        step: np.ndarray
        _, step, failed = dposv(system, right)  # half the time of cho_factor
        return None if failed else step  # failed: not positive definite, or not finite


def least_weights(
    iterate: Iterate, norm: Norm, reach: float, tuning: MasterTuning = TUNING
) -> np.ndarray:
    """Return lower bounds of the next weights, shape (M,).

    Parameters
    ----------
    iterate : Iterate
    norm : Norm
    reach : float
        A weight may not fall below this fraction of its present value in one step.
    tuning : MasterTuning
        Weights below its `floor` do not shrink.
    """
    gap = iterate.gap(norm)
    relative = gap / max(iterate.scale, gap)
    floor = tuning.floor * relative * iterate.theta.mean()
    return np.maximum(reach * iterate.theta, np.minimum(floor, iterate.theta))


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """A model of J(theta): gradient . d + 1/2 d' (H + ridge I) d, with d = theta - centre.

    Attributes
    ----------
    centre, gradient : ndarrays of shape (M,)
        Weights, and the gradient of the model there, scaled to about 1.
    H : ndarray of shape (M, M)
        Hessian in the same units.
    ridge : float
        Added to the diagonal of H.
    """

    centre: np.ndarray
    gradient: np.ndarray
    H: np.ndarray
    ridge: float

    @classmethod
    def of(cls, centre: np.ndarray, gradient: np.ndarray, H: np.ndarray) -> QuadraticModel:
        """Return the model with a ridge that keeps its Hessian regular."""
        return cls(centre, gradient, H, 1e-9 * H.trace() / len(H) + 1e-14)

    def gradient_at(self, theta: np.ndarray) -> np.ndarray:
        """Return the gradient at other weights, shape (M,)."""
        d = theta - self.centre
        return np.asarray(self.gradient + self.H @ d + self.ridge * d)

    def part(self, free: np.ndarray, theta: np.ndarray) -> QuadraticModel:
        """Return the model of the free weights, a mask; the others have their values in theta."""
        gradient, H = self.gradient_at(theta)[free], self.H[np.ix_(free, free)]
        return QuadraticModel(theta[free], gradient, H, self.ridge)


def model_minimum(
    model: QuadraticModel, lower: np.ndarray, norm: Norm, tuning: MasterTuning = TUNING
) -> np.ndarray:
    """Return the feasible weights, shape (M,), that minimise a quadratic model.

    If weights are many, most end at their lower bounds. An active set method therefore starts with
    the largest and the steepest weights. It adds weights with a negative reduced gradient, the
    steepest first, and at most doubles their number in each iteration.

    Parameters
    ----------
    model : QuadraticModel
    lower : ndarray of shape (M,)
        Lower bounds of the weights.
    norm : Norm
    tuning : MasterTuning
    """
    theta = model.centre
    free = _largest(theta, tuning.first_weights)
    free |= _largest(-model.gradient, tuning.first_weights)
    while True:
        all_free = bool(free.all())
        best = theta.copy() if all_free else np.where(free, theta, lower)
        part = model if all_free else model.part(free, best)
        found = None
        if norm.is_sparse:
            costs = norm.ball(theta)[1]
            total = 1.0 - float(costs[~free] @ lower[~free])
            found = _by_pairs(part, lower[free], costs[free], total, tuning)
        if found is None:
            P = part.H.copy()
            P.flat[:: len(P) + 1] += part.ridge
            no_rows, q = np.zeros((0, len(P))), part.gradient - P @ part.centre
            master = Master(norm, P, q, lower[free], no_rows, np.zeros(0), tuning)
            start = np.maximum(0.95 * theta + 1e-3 * norm.start(len(theta)), lower * (1 + 1e-3))
            found = master.minimise(start[free], best, np.flatnonzero(free))
        best[free] = np.maximum(found, lower[free])
        if all_free:
            return best / norm.value(best)
        slope, normal = model.gradient_at(best), norm.ball(best)[1]
        # If the ball is not monotone (`Elliptic`), a larger weight may reduce the norm.
        reduced = slope + _multiplier(slope, normal, np.where(free, best - lower, 0.0)) * normal
        entering = np.flatnonzero(~free & (reduced < -tuning.multiplier_rounding * np.abs(slope)))
        if not entering.size:
            return best / norm.value(best)
        free[entering[_largest(-reduced[entering], free.sum())]] = True


def _by_pairs(
    model: QuadraticModel, lower: np.ndarray, costs: np.ndarray, total: float, tuning: MasterTuning
) -> np.ndarray | None:
    """Return the k weights >= lower that minimise a model at p = 1, where costs . theta = total.

    Like the alphas of an SVM, the weights times their costs have a fixed sum, and are found by SMO,
    two at a time. Returns None if that takes so many steps that interior points are faster.
    """
    return _core.even_weights(
        model.H,
        model.ridge,
        model.gradient,
        model.centre,
        lower,
        costs,
        total,
        tuning.pair_tol,
        tuning.pair_rtol,
        tuning.pairs_per_weight,
    )


def _multiplier(slope: np.ndarray, normal: np.ndarray, room: np.ndarray) -> float:
    """Return the least-squares multiplier of the norm constraint.

    Each condition counts in proportion to the distance of its weight from the lower bound, since
    the condition of a weight at its bound also contains the multiplier of the bound.

    Parameters
    ----------
    slope, normal, room : ndarrays of shape (M,)
        Gradient of the model, gradient of the norm constraint, and distances of the weights from
        their lower bounds.
    """
    size = float((room * normal) @ normal)
    return max(0.0, -float((room * slope) @ normal) / size) if size > 0 else 0.0


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return a mask, shape (M,), of the `count` largest values, or of all if there are fewer."""
    if len(values) <= count:
        return np.ones(len(values), dtype=bool)
    largest = np.zeros(len(values), dtype=bool)
    largest[np.argsort(-values, kind="stable")[:count]] = True
    return largest
