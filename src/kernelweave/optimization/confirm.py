"""Confirm that a gap is below the tolerance despite rounding errors.

A solver updates its outputs through many changes of alpha, and computes both objectives from them,
so its certificate has rounding errors. This module bounds them (`problem.rounding`). The error of
the primal value follows from losses at perturbed outputs. The error of the dual value follows from
perturbed squared block norms and from the error of the sum of alpha. Both include the rounding of
their own summation. If the bound leaves open whether the gap is below the tolerance, outputs are
recomputed. If that is not enough, training continues to a gap that is smaller by the bound
(`solve`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.rounding import UNIT, PairRounding, RoundingBounds, root_of_squares
from .certifier import certified
from .result import Result

HIDDEN = 1e-7  # improvement over the constant model that rounding may hide, relative to its cost
LOGARITHMS = 40.0  # bound of |log z| for z = (alpha - lo) / (hi - lo) in double precision


def confirmed(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds | PairRounding, tol: float
) -> Result:
    """Return a result with the rounding bound of its gap (`doubt`).

    If rounding leaves open whether the gap is below tol, outputs are recomputed.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Holds the alpha of the result.
    result : Result
    rounding : RoundingBounds
        Bounds of the rounding errors of the kernels.
    tol : float
        Relative duality gap.
    """
    if isinstance(problem, HardMarginProblem) or not problem.risk.separates:
        return result  # no bound on rounding is known for rescaled outputs and for risk sets
    result = judged(problem, engine, result, rounding, tol)
    if result.converged or result.gap > tol:
        return result
    engine.move_to(result.alpha)
    sharper = rounding.with_neighbours()
    return judged(problem, engine, _certified(problem, engine, result), sharper, tol)


def judged(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds | PairRounding, tol: float
) -> Result:
    """Return a result that has converged only if its gap plus its rounding bound is below tol."""
    if not np.isfinite(result.gap):
        return result
    if not result.weights.any():
        return _judged_constant(problem, engine, result, rounding)
    error = rounding_error(problem, engine, result, rounding)
    least_scale = result.scale - error - 2 * UNIT * abs(result.constant)
    worst = (result.primal - result.dual + error) / least_scale if least_scale > 0 else np.inf
    doubt = 0.0 if error == 0 else max(worst - result.gap, 0.0)
    return replace(result, doubt=doubt, converged=result.gap + doubt <= tol)


def _judged_constant(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds | PairRounding
) -> Result:
    """Return the constant model; it has converged if rounding cannot hide a better model.

    The dual value is lowered by the rounding bound. Its distance from the cost of the constant
    model bounds the possible improvement.
    """
    equal = replace(result, weights=problem.norm.start(engine.n_kernels))
    error = rounding_error(problem, engine, equal, rounding)
    dual = result.dual - (error if error < np.inf else np.inf)  # also if NaN
    sure = result.constant - dual <= HIDDEN * result.constant or problem.constant_is_optimal(dual)
    return replace(
        result, dual=dual, doubt=0.0 if sure else 1.0, converged=result.converged and sure
    )


def rounding_error(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds | PairRounding
) -> float:
    """Return a bound of the rounding error of the primal minus the dual value."""
    theta = result.weights
    outputs = problem.n_outputs if problem.risk.sizes is None else 1  # else one after the other
    alpha, F = engine.alpha, engine.combined(theta)
    parts = alpha.reshape(outputs, -1)
    dF, ds = rounding.errors(theta, parts, engine.accumulated_update.reshape(outputs, -1))
    s = np.zeros_like(ds) if problem.norm.is_linear else engine.quadratic()
    norm, growth = problem.norm, (1 + np.sqrt(len(alpha))) * UNIT
    bias = problem.risk.per_example(result.bias)
    f = F + bias
    losses = problem.loss.value(f, problem.y)
    off = dF.ravel() + UNIT * (np.abs(F) + np.abs(bias) + np.abs(f) + np.abs(problem.y))
    up, down = (problem.loss.value(f + move, problem.y) - losses for move in (off, -off))
    terms = problem.C @ losses + abs(problem.tau) * np.abs(result.bias).sum()
    norm_error = abs(norm.regularizer(theta, s + ds) - norm.regularizer(theta, s))
    regular = abs(result.primal - problem.C @ losses - problem.tau * np.sum(result.bias))
    # Second-order errors of the losses add up; first-order errors have random signs.
    second, slope = 0.5 * problem.C * (up + down), 0.5 * problem.C * (up - down)
    above = second.sum() + root_of_squares(slope) + 0.5 * norm_error
    below = 0.5 * abs(norm.dual(s + ds) - norm.dual(s)) + _off_sum(problem, alpha, result.bias)
    sizes = terms + 2 * regular + _conjugate_sizes(problem, alpha)
    return float(above + below + growth * sizes)


def _conjugate_sizes(problem: Problem, alpha: np.ndarray) -> float:
    """Return the sum of the absolute values of all terms of the conjugate losses."""
    term = problem.term
    linear = (np.abs(term.lin) + term.eps + 0.5 * term.curv * np.abs(alpha)) * np.abs(alpha)
    return float(linear.sum() + LOGARITHMS * term.ent.sum())


def _off_sum(problem: Problem, alpha: np.ndarray, bias: np.ndarray) -> float:
    """Return the error of the dual value if the alphas of an output do not sum to tau.

    It is the error of the sum times the multiplier of the constraint, which is the bias.
    """
    sums = problem.risk.sums
    added = (2 + np.log2(alpha.size)) * UNIT * sums(np.abs(alpha))
    return float(np.abs(np.atleast_1d(bias)) @ (np.abs(sums(alpha) - problem.tau) + added))


def _certified(problem: Problem, engine: Engine, result: Result) -> Result:
    """Return a result with a new certificate from the engine's present outputs."""
    theta = result.weights
    certificate = certified(problem, engine, theta)
    if problem.constant_is_optimal(certificate.dual):
        theta = np.zeros_like(theta)
    return replace(result, **vars(certificate), weights=theta)
