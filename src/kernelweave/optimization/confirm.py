"""A gap is claimed where rounding cannot have made it: results are confirmed, or in doubt.

A solver follows its outputs through many changes of alpha, and reads both objectives off them. So
the values that it stops at are those of its model but for rounding. Here rounding is bounded: the
primal value by losses at outputs that are wrong to the worse side, the dual value by energies that
are too small, by alphas that do not quite add up, and both by the sizes of the terms that they are
sums of (`rounding` says what a bound means). Where that leaves open whether the gap is below the
tolerance, outputs are computed anew, and where need be the solver goes on (`solve`), to a gap that
is smaller by what rounding may hide.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.rounding import UNIT, RoundingBounds, root_of_squares
from .certifier import certified
from .result import Result

HIDDEN = 1e-7  # part of what the best constant costs that may be hidden by rounding
LOGARITHMS = 40.0  # no share of a box that is a number has a larger logarithm


def confirmed(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds, tol: float
) -> Result:
    """Return a result whose alpha the engine holds, with how far its gap is in doubt.

    Where rounding leaves open whether the gap is below tol, outputs are computed anew.
    """
    if isinstance(problem, HardMarginProblem) or not problem.risk.separates:
        return result  # no bound on rounding is known for rescaled outputs and for risk sets
    result = judged(problem, engine, result, rounding, tol)
    if result.converged or result.gap > tol:
        return result
    engine.move_to(result.alpha)
    near = replace(rounding, neighbours=True)
    return judged(problem, engine, _certified(problem, engine, result), near, tol)


def judged(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds, tol: float
) -> Result:
    """Return a result that has converged only if its gap is below tol whatever rounding did."""
    if not np.isfinite(result.gap):
        return result
    if not result.weights.any():
        return _judged_constant(problem, engine, result, rounding)
    error = rounding_error(problem, engine, result, rounding)
    least = result.scale - error - 2 * UNIT * abs(result.constant)
    worst = (result.primal - result.dual + error) / least if least > 0 else np.inf
    doubt = 0.0 if error == 0 else max(worst - result.gap, 0.0)
    return replace(result, doubt=doubt, converged=result.gap + doubt <= tol)


def _judged_constant(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds
) -> Result:
    """Return the best constant, in doubt where rounding may hide that there is more to learn.

    Its dual value is one that rounding has not raised: how far it is below the cost of the constant
    is what a model could gain at most, and that is told.
    """
    equal = replace(result, weights=problem.norm.start(engine.n_kernels))
    error = rounding_error(problem, engine, equal, rounding)
    dual = result.dual - (error if error < np.inf else np.inf)  # NaN says nothing, either
    sure = result.constant - dual <= HIDDEN * result.constant or problem.constant_is_optimal(dual)
    return replace(
        result, dual=dual, doubt=0.0 if sure else 1.0, converged=result.converged and sure
    )


def rounding_error(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds
) -> float:
    """Return how far a model's primal and dual value may be further apart than they seem."""
    theta, outputs = result.weights, problem.n_outputs
    alpha, F = engine.alpha, engine.combined(theta)
    parts = alpha.reshape(outputs, -1)
    dF, ds = rounding.errors(theta, parts, engine.accumulated_update.reshape(outputs, -1))
    s = np.zeros_like(ds) if problem.norm.is_linear else engine.quadratic()
    norm, growth = problem.norm, (1 + np.sqrt(len(alpha))) * UNIT
    bias = np.repeat(result.bias, len(alpha) // outputs)
    f = F + bias
    losses = problem.loss.value(f, problem.y)
    off = dF.ravel() + UNIT * (np.abs(F) + np.abs(bias) + np.abs(f) + np.abs(problem.y))
    up, down = (problem.loss.value(f + move, problem.y) - losses for move in (off, -off))
    terms = problem.C @ losses + abs(problem.tau) * np.abs(result.bias).sum()
    energy = abs(norm.regularizer(theta, s + ds) - norm.regularizer(theta, s))
    regular = abs(result.primal - problem.C @ losses - problem.tau * np.sum(result.bias))
    # What outputs that are off cost to both sides adds up, and what is a gain to one side need not.
    second, slope = 0.5 * problem.C * (up + down), 0.5 * problem.C * (up - down)
    above = second.sum() + root_of_squares(slope) + 0.5 * energy
    below = 0.5 * abs(norm.dual(s + ds) - norm.dual(s)) + _off_sum(problem, parts, result.bias)
    sizes = terms + 2 * regular + _conjugate_sizes(problem, alpha)
    return float(above + below + growth * sizes)


def _conjugate_sizes(problem: Problem, alpha: np.ndarray) -> float:
    """Return the sizes of the terms of the dual value that are no energies, added up."""
    term = problem.term
    linear = (np.abs(term.lin) + term.eps + 0.5 * term.curv * np.abs(alpha)) * np.abs(alpha)
    return float(linear.sum() + LOGARITHMS * term.ent.sum())


def _off_sum(problem: Problem, alpha: np.ndarray, bias: np.ndarray) -> float:
    """Return what a dual value gains by alphas, shape (outputs, n), that miss their sum.

    That is the distance times the multiplier of the constraint, which is the bias.
    """
    added = (2 + np.log2(alpha.size)) * UNIT * np.abs(alpha).sum(axis=1)
    return float(np.abs(np.atleast_1d(bias)) @ (np.abs(alpha.sum(axis=1) - problem.tau) + added))


def _certified(problem: Problem, engine: Engine, result: Result) -> Result:
    """Return a result with the values that the engine gives it now."""
    theta = result.weights
    certificate = certified(problem, engine, theta)
    if problem.constant_is_optimal(certificate.dual):
        theta = np.zeros_like(theta)
    return replace(result, **vars(certificate), weights=theta)
