"""Confirm that a gap is below the tolerance despite rounding errors.

A solver updates its outputs through many changes of alpha, and computes both objectives from them,
so its certificate has rounding errors. This module bounds them (`problem.rounding`). The error of
the primal value follows from losses at perturbed outputs. The error of the dual value follows from
perturbed squared block norms and from the error of the sum of alpha. Both include the rounding of
their own summation. If the gap may exceed the tolerance by its rounding error, outputs are
recomputed. If that is not enough, training continues to a gap that is smaller by the bound
(`solve`).

In the code, F are combined outputs and s squared block norms; dF and ds bound their errors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..common.types import Numbers
from ..engines.base import Engine
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.rounding import UNIT, PairRounding, RoundingBounds
from .certifier import certified
from .result import Result

HIDDEN = 1e-7  # improvements over the constant model below this fraction of its cost are ignored
NEGLIGIBLE = 0.01  # rounding bounds below this fraction of the gap do not matter
LOGARITHMS = 40.0  # bound of |log z| for z = (alpha - lo) / (hi - lo) in double precision


def confirmed(
    problem: Problem,
    engine: Engine,
    result: Result,
    rounding: RoundingBounds,
    tol: float,
) -> Result:
    """Return a result with the rounding bound of its gap (`rounding_bound`).

    Outputs are recomputed first if their rounding error may decide whether the gap is below `tol`,
    or if it is not small relative to the gap.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the alpha of the result.
    result : Result
        Solution whose gap is to be confirmed.
    rounding : RoundingBounds
        Bounds of the rounding errors of the kernels.
    tol : float
        Largest relative duality gap, including its rounding bound, of a converged result.
    """
    if isinstance(problem, HardMarginProblem):
        return result  # no rounding bound is known for rescaled outputs
    result = judged(problem, engine, result, rounding, tol)
    if result.converged or (result.gap > tol and result.rounding_bound <= NEGLIGIBLE * result.gap):
        return result
    engine.move_to(result.alpha)
    sharper = replace(rounding, neighbours=True)
    return judged(problem, engine, _certified(problem, engine, result), sharper, tol)


def judged(
    problem: Problem,
    engine: Engine,
    result: Result,
    rounding: RoundingBounds,
    tol: float,
) -> Result:
    """Return a result that has converged only if its gap plus its rounding bound is below tol."""
    if not np.isfinite(result.gap):
        return result
    if not result.weights.any():
        return _judged_constant(problem, engine, result, rounding)
    return _with_error(result, rounding_error(problem, engine, result, rounding), tol)


def _judged_constant(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds
) -> Result:
    """Return the constant model; it has converged if rounding cannot hide a better model.

    The dual value is lowered by its rounding bound. The difference between the cost of the constant
    model and this dual value bounds the possible improvement.
    """
    if result.constant == 0 and not problem.tau:  # losses are not negative
        return result
    equal = replace(result, weights=problem.norm.start(engine.n_kernels))
    error = rounding_error(problem, engine, equal, rounding)
    dual = result.dual - (error if error < np.inf else np.inf)  # also if NaN
    sure = result.constant - dual <= HIDDEN * result.constant or problem.constant_is_optimal(dual)
    return replace(
        result, dual=dual, rounding_bound=0.0 if sure else 1.0, converged=result.converged and sure
    )


def rounding_error(
    problem: Problem, engine: Engine, result: Result, rounding: RoundingBounds
) -> float:
    """Return a bound of the rounding error of the primal minus the dual value."""
    theta = result.weights
    # Outputs of different sizes are one row of alphas.
    outputs = problem.n_outputs if problem.risk.sizes is None else 1
    alpha, F = engine.alpha, engine.combined(theta)
    parts = alpha.reshape(outputs, -1)
    dF, ds = rounding.errors(theta, parts, engine.accumulated_update.reshape(outputs, -1))
    if not problem.risk.separates:
        return _joint_error(problem, engine, result, dF.ravel(), ds)
    s = np.zeros_like(ds) if problem.norm.is_linear else engine.quadratic()
    norm, growth = problem.norm, (1 + np.sqrt(len(alpha))) * UNIT
    bias = problem.risk.per_example(result.bias)
    parts_of = loss_errors(problem, alpha, F, bias, dF.ravel())
    losses, second, slope, conjugates = (part.sum() for part in parts_of)
    tau = problem.tau or 0.0
    terms = losses + abs(tau) * np.abs(result.bias).sum()
    norm_error = abs(norm.regularizer(theta, s + ds) - norm.regularizer(theta, s))
    regular = abs(result.primal - losses - tau * np.sum(result.bias))
    above = second + np.sqrt(slope) + 0.5 * norm_error
    below = 0.5 * abs(norm.dual(s + ds) - norm.dual(s)) + _off_sum(problem, alpha, result.bias)
    return float(above + below + growth * (terms + 2 * regular + conjugates))


def _joint_error(
    problem: Problem, engine: Engine, result: Result, dF: np.ndarray, ds: np.ndarray
) -> float:
    """Return a bound of the rounding error of P - D if the risk is not a sum over the examples.

    The risk is evaluated at perturbed outputs. At the optimum its gradient is -alpha. So errors
    with the signs of -alpha increase it most, and those with the signs of alpha decrease it most.

    Parameters
    ----------
    problem, engine, result : Problem, Engine, Result
    dF : ndarray of shape (n,)
        Bounds of the errors of the outputs.
    ds : ndarray of shape (M,)
        Bounds of the errors of the squared block norms.
    """
    risk, norm, theta, alpha = problem.risk, problem.norm, result.weights, engine.alpha
    F, growth = engine.combined(theta), (1 + np.sqrt(len(alpha))) * UNIT
    off = np.where(alpha > 0, -1.0, 1.0) * (dF + UNIT * np.abs(F))
    cost = risk.value(F, result.bias)
    moved = max(abs(risk.value(F + move, result.bias) - cost) for move in (off, -off))
    s = np.zeros_like(ds) if norm.is_linear else engine.quadratic()
    weighted = abs(norm.regularizer(theta, s + ds) - norm.regularizer(theta, s))
    below = 0.5 * abs(norm.dual(s + ds) - norm.dual(s))
    sizes = abs(cost) + abs(result.primal) + abs(result.dual)
    return float(moved + 0.5 * weighted + below + growth * sizes)


def loss_errors(
    problem: Problem, alpha: np.ndarray, F: np.ndarray, bias: np.ndarray, dF: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the contributions of each example to the rounding error of a certificate.

    Second-order errors of the losses add up; first-order errors have random signs.

    Parameters
    ----------
    problem : Problem
    alpha, F, bias, dF : ndarrays of shape (n,)
        Dual variables, outputs, the bias of each example, and bounds of the output errors.

    Returns
    -------
    losses : ndarray of shape (n,)
        Costs times losses.
    second, slope : ndarrays of shape (n,)
        Second-order errors of the losses, and squares of their first-order errors.
    conjugates : ndarray of shape (n,)
        Absolute values of all terms of the conjugate losses.
    """
    C, y, f, term = problem.C, problem.y, F + bias, problem.term
    losses = problem.risk.losses(f)
    off = dF + UNIT * (np.abs(F) + np.abs(bias) + np.abs(f) + np.abs(y))
    up, down = (problem.risk.losses(f + move) - losses for move in (off, -off))
    linear = (np.abs(term.lin) + term.eps + 0.5 * term.curv * np.abs(alpha)) * np.abs(alpha)
    return (
        C * losses,
        0.5 * C * (up + down),
        (0.5 * C * (up - down)) ** 2,
        linear + LOGARITHMS * term.ent,
    )


def judged_pairs(
    problem: Problem,
    engine: Engine,
    results: list[Result],
    rounding: PairRounding,
    theta: np.ndarray,
    tol: float,
) -> list[Result]:
    """Return the results of outputs that were solved one by one under fixed weights.

    This is `judged` for all outputs at once. Results that are constant models are not changed.

    Parameters
    ----------
    problem : Problem
        All outputs as one problem.
    engine : Engine
        Stores all alphas one after the other, with outputs that were computed from scratch.
    results : list of Result
        One for each output.
    rounding : PairRounding
        Bounds of the rounding errors of the kernel.
    theta : ndarray of shape (1,)
        Fixed weight of the only kernel.
    tol : float
        Largest relative duality gap of a converged result.
    """
    alpha, F = engine.alpha, engine.combined(theta)
    bias = np.array([float(one.bias) for one in results])
    dF, ds = rounding.of_outputs(theta, alpha, engine.accumulated_update)
    parts_of = loss_errors(problem, alpha, F, problem.risk.per_example(bias), dF)
    losses, second, slope, conjugates = (problem.risk.sums(part) for part in parts_of)
    sizes = np.array([len(rows) for rows in rounding.rows])
    primal = np.array([one.primal for one in results])
    sums = problem.risk.sums
    missed = np.abs(sums(alpha)) + (2 + np.log2(sizes)) * UNIT * sums(np.abs(alpha))
    growth = (1 + np.sqrt(sizes)) * UNIT * (losses + 2 * np.abs(primal - losses) + conjugates)
    errors = second + np.sqrt(slope) + ds @ theta + np.abs(bias) * missed + growth
    return [
        _with_error(one, float(error), tol) if one.weights.any() else one
        for one, error in zip(results, errors, strict=True)
    ]


def _with_error(result: Result, error: float, tol: float) -> Result:
    """Return a result with its rounding bound; it has converged if gap plus bound is <= tol.

    `error` bounds the rounding error of the primal minus the dual value.
    """
    least_scale = result.scale - error - 2 * UNIT * abs(result.constant)
    worst = (result.primal - result.dual + error) / least_scale if least_scale > 0 else np.inf
    bound = 0.0 if error == 0 else max(worst - result.gap, 0.0)
    return replace(result, rounding_bound=bound, converged=result.gap + bound <= tol)


def _off_sum(problem: Problem, alpha: np.ndarray, bias: Numbers) -> float:
    """Return the error of the dual value caused by alphas that do not add up to tau.

    It is the error of the sum times the multiplier of the constraint, which is the bias.
    """
    if problem.tau is None:
        return 0.0
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
