"""Newton's method on the KKT conditions, from a nearly optimal solution.

An interior point method stops slightly inside the feasible set, and the gap of a loss with kinks is
proportional to that distance. But its solution identifies the alphas at a bound (or at a kink) and
the kernels of weight 0. With those fixed, the others satisfy smooth equations: for free examples
i and kernels m of nonzero weight,

    conj'(alpha_i) + sum_m theta_m g_mi + b = 0,        sum_i alpha_i = tau,
    s_m = lambda d ball(theta) / d theta_m,             ball(theta) = 0,

where conj is the convex conjugate of the loss of an example, g_m = K_m alpha, s_m = alpha' K_m
alpha, ball(theta) = 0 is a smooth form of ||theta|| = 1, and lambda is its multiplier. At p = 1 the
second line says that all s_m / cost_m are equal. If the weights are fixed (p = inf), it is omitted.
Without an intercept b stays 0 and the sum of alpha is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engines.base import Engine, kernel_blocks
from ...norms import Norm
from ...problem.problem import Problem

SINGULAR = 1e-13  # singular values below this, relative to the largest, count as zero


@dataclass(frozen=True, eq=False)
class Point:
    """A nearly optimal solution.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
    theta : ndarray of shape (M,)
    bias : float
    """

    alpha: np.ndarray
    theta: np.ndarray
    bias: float


def polish(problem: Problem, engine: Engine, point: Point) -> Point:
    """Return the point after one Newton step.

    The engine ends at the start of the step, with bounded alphas exactly at their bounds. The
    result may violate bounds if the point was not close enough to the optimum.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the point is too far from the optimum for a Newton step.
    """
    alpha, free = _bounded_and_free(problem, engine, point)
    engine.move_to(alpha)
    weighted = _weighted(problem.norm, engine.quadratic(), point.theta)
    step = _step(problem, engine, Point(alpha, point.theta, point.bias), free, weighted)
    alpha, theta = alpha.copy(), point.theta.copy()
    alpha[free] += step[: len(free)]
    theta[weighted] *= np.maximum(1.0 + step[len(free) + 1 :][: len(weighted)], 0.0)
    if not (size := problem.norm.value(theta)) > 0:
        raise np.linalg.LinAlgError("a Newton step leaves no kernel any weight")
    return Point(alpha, theta / size, point.bias + step[len(free)])


def _bounded_and_free(
    problem: Problem, engine: Engine, point: Point
) -> tuple[np.ndarray, np.ndarray]:
    """Return alpha, (n,), with bounded ones moved to their bounds, and the positions of free ones.

    An alpha counts as bounded if its distance to the next bound (or kink), relative to the largest
    alpha, is below the residual of its KKT condition, relative to the largest output.
    """
    term, alpha = problem.term, point.alpha
    F = engine.combined(point.theta)
    places = np.stack([term.lo, np.where(term.eps > 0, 0.0, term.lo), term.hi])
    place = places[np.abs(alpha - places).argmin(axis=0), np.arange(len(alpha))]
    residual = _slope(problem, alpha) + F + point.bias
    distance = np.abs(alpha - place) * np.abs(F).max()
    free = distance >= np.abs(residual) * np.abs(alpha).max()
    return np.where(free, alpha, place), np.flatnonzero(free)


def _slope(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return conj'(alpha_i) of each example, shape (n,), for losses without an entropy term."""
    term = problem.term
    return term.lin + term.curv * alpha + term.eps * np.sign(alpha)


def _weighted(norm: Norm, s: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the kernels whose weights a Newton step changes; none if the weights are fixed."""
    if norm.is_plain_sum:
        return np.empty(0, dtype=int)
    if not norm.is_sparse:
        return np.flatnonzero(theta)
    height = s / norm.costs(len(s))
    if not height.max() > 0:  # rounding may leave small negative numbers
        raise np.linalg.LinAlgError(
            "no squared block norm is positive, so that no kernel is active"
        )
    return np.flatnonzero(theta / theta.max() > 1.0 - height / height.max())


def _step(
    problem: Problem, engine: Engine, point: Point, free: np.ndarray, weighted: np.ndarray
) -> np.ndarray:
    """Return the changes of alpha[free], of b, of theta[weighted], and of lambda.

    The changes of theta are relative: near p = 1 weights differ by hundreds of orders of magnitude.
    """
    alpha, theta = point.alpha, point.theta
    g = kernel_blocks(engine).outputs_at(free)
    kernel = engine.block(free, theta) + np.diag(problem.term.curv[free])
    fixed_sum = problem.tau is not None
    one, corner = np.full((len(free), 1), float(fixed_sum)), np.array([[float(not fixed_sum)]])
    missed = 0.0 if problem.tau is None else float(alpha.sum()) - problem.tau
    first = _slope(problem, alpha)[free] + theta @ g + point.bias
    if not weighted.size:
        matrix = np.block([[kernel, one], [one.T, corner]])
        return _solved(matrix, np.append(first, missed))
    s = engine.quadratic()[weighted]
    value, slope, hessian = problem.norm.ball_in_logarithms(theta, weighted)
    multiplier = slope @ s / (slope @ slope)
    k, G, slope, size = len(weighted), g[weighted], slope[:, None], theta[weighted]
    matrix = np.block(
        [
            [kernel, one, G.T * size, 0.0 * one],
            [one.T, corner, np.zeros((1, k + 1))],
            [2.0 * G, np.zeros((k, 1)), -multiplier * hessian, -slope],
            [0.0 * one.T, np.zeros((1, 1)), slope.T * size, np.zeros((1, 1))],
        ]
    )
    others = [missed], s - multiplier * slope[:, 0], [value]
    return _solved(matrix, np.concatenate([first, *others]))


def _solved(matrix: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the Newton step of minimum norm; duplicate kernels make the matrix singular."""
    return -np.linalg.lstsq(matrix, residual, rcond=SINGULAR)[0]
