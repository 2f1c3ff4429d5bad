"""Warnings about models whose gap is above the tolerance, or uncertain because of rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.warnings import warn
from ..optimization.confirm import HIDDEN
from ..optimization.result import Result
from ..problem.rounding import RoundingBounds

if TYPE_CHECKING:
    from .base import MKLEstimator

ZERO = 1e-9  # objective that is 0 up to rounding, relative to its largest value during training
NAMED = 3  # maximum number of kernels named in a message
NOTICEABLE = 0.1  # kernels with at least this fraction of the largest rounding error are named


def warn_of(
    estimator: MKLEstimator,
    results: Sequence[Result],
    names: Sequence[str],
    rounding: RoundingBounds,
) -> None:
    """Warn if a gap is above the tolerance, or uncertain due to rounding, or a model is constant.

    Parameters
    ----------
    estimator : MKLEstimator
        Gives the tolerance and the limits that messages name.
    results : sequence of Result
        One for each output.
    names : sequence of str
        Names of the M kernels.
    rounding : RoundingBounds
        Bounds of the rounding errors of the kernels.
    """
    if (message := convergence_message(estimator, results, names, rounding)) is not None:
        warn(message, ConvergenceWarning)
    if (message := constant_model_message(estimator, results)) is not None:
        warn(message, UserWarning)


def convergence_message(
    estimator: MKLEstimator,
    results: Sequence[Result],
    names: Sequence[str],
    rounding: RoundingBounds,
) -> str | None:
    """Return a warning if a gap is above the tolerance or uncertain due to rounding, else None."""
    worst = max(results, key=lambda result: (not result.converged, result.gap))
    if worst.converged:
        return None
    tol = estimator.tol
    above = f", above tol={tol:g}" if worst.gap > tol else ""
    message = (
        f"{type(estimator).__name__} stopped after {worst.n_iter} iterations at a relative "
        f"duality gap of {worst.gap:.2e}{above}; {_advice(estimator, worst, names, rounding)}"
    )
    others = [one for one in results if not one.converged and one is not worst]
    uncertain = [one for one in others if one.gap <= tol or one.rounding_bound > tol]
    if above and uncertain:
        constant = not worst.weights.any()
        # Rounding of a learned model and that of a constant one have messages of their own.
        other = max(uncertain, key=lambda one: (one.weights.any() == constant, one.rounding_bound))
        message += f". The gap of another output is {other.gap:.2e}, but "
        message += _rounding_message(estimator, other, names, rounding)
    return message


def constant_model_message(estimator: MKLEstimator, results: Sequence[Result]) -> str | None:
    """Return a warning if the constant model is optimal for some output, otherwise None."""
    constant = [result for result in results if not result.weights.any()]
    if not constant:
        return None
    gain = max(result.constant - result.dual for result in constant)
    cost = max(result.constant for result in constant)
    some = f" ({len(constant)} of {len(results)} outputs)" if len(results) > 1 else ""
    less = f" by more than {gain:.1e}, which is rounding error" if gain > 0 else ""
    rare = " or class_weight='balanced'" if hasattr(estimator, "class_weight") else ""
    advice = f"; raise C or use other kernels{rare}" if cost > 0 else ""
    return (
        f"{type(estimator).__name__}: the constant model is optimal{some}: it costs {cost:.3g}, "
        f"and no model costs less{less}. All kernel weights are 0{advice}"
    )


def _advice(
    estimator: MKLEstimator, result: Result, names: Sequence[str], rounding: RoundingBounds
) -> str:
    """Return advice about a result that has not converged."""
    if result.gap <= estimator.tol:
        return _rounding_message(estimator, result, names, rounding)
    values = [abs(past.dual) for past in result.history if np.isfinite(past.dual)]
    if hasattr(estimator, "nu") and abs(result.primal) < ZERO * max(values, default=0.0):
        return (
            "the objective is 0, so that a relative gap is undefined: these kernels do not "
            "separate the examples from the origin (RBF kernels do)"
        )
    if result.rounding_bound > max(estimator.tol, result.gap):  # more iterations would not help
        return _rounding_message(estimator, result, names, rounding)
    if result.late:
        return f"raise max_time={estimator.max_time:g} or tol"
    if estimator.max_iter is not None and result.n_iter >= estimator.max_iter:
        return f"raise max_iter={estimator.max_iter} or tol"
    if result.rounding_bound > estimator.tol:
        return _rounding_message(estimator, result, names, rounding)
    solver = None if result.plan is None else result.plan.solver
    return getattr(solver, "when_stopped", "") or (
        "it made no further progress: raise tol, scale the data, lower C or the sample weights, "
        "or use another solver"
    )


def _rounding_message(
    estimator: MKLEstimator, result: Result, names: Sequence[str], rounding: RoundingBounds
) -> str:
    """Return the kernels whose rounding makes the gap of a result uncertain, and advice."""
    if not result.weights.any():
        return (
            f"rounding hides whether some model costs less than the constant model, by {HIDDEN:g} "
            "of its cost or more; lower C or the sample weights if that matters"
        )
    alpha = result.alpha.reshape(-1, rounding.examples.n)
    weights = np.broadcast_to(result.weights, len(names))
    # Kernels of weight 0 count, too: the dual value depends on their s_m = alpha' K_m alpha.
    moves = rounding.errors(weights, alpha, np.abs(alpha))[1]
    shares = np.nan_to_num(np.where(weights > 0, weights, weights.max()) * moves, nan=np.inf)
    worst = np.argsort(-shares)[:NAMED]
    named = ", ".join(repr(names[m]) for m in worst if shares[m] >= NOTICEABLE * shares[worst[0]])
    return (
        f"rounding alone may change that gap by {result.rounding_bound:.1e}: the values of "
        f"{named or 'the kernels'} have too little numerical precision for tol={estimator.tol:g} "
        "with these costs and targets. Scale the data or choose kernel parameters that suit their "
        "scale, lower C or the sample weights, or raise tol"
    )
