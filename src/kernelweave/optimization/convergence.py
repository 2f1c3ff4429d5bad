"""What to say of models whose gap is above the tolerance, or in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.warnings import warn
from ..problem.rounding import RoundingBounds
from .confirm import HIDDEN
from .result import Result

ZERO = 1e-9  # an objective that is 0 but for rounding, relative to where its solver came from
NAMED = 3  # kernels in a message, at most
NOTICEABLE = 0.1  # part of the worst kernel's rounding from which on another one is named, too


def warn_of(
    estimator: Any, results: Sequence[Result], names: Sequence[str], rounding: RoundingBounds
) -> None:
    """Warn of gaps above the tolerance or in doubt, and of models that are constant.

    Parameters
    ----------
    estimator : whose parameters `tol`, `max_iter` and `max_time` were.
    results : one for each output.
    names : of the M kernels that were learned with.
    rounding : their rounding.
    """
    if (message := complaint(estimator, results, names, rounding)) is not None:
        warn(message, ConvergenceWarning)
    if (message := nothing_learned(estimator, results)) is not None:
        warn(message, UserWarning)


def complaint(
    estimator: Any, results: Sequence[Result], names: Sequence[str], rounding: RoundingBounds
) -> str | None:
    """Return what to say of gaps above the tolerance or in doubt, if there are any."""
    worst = max(results, key=lambda result: (not result.converged, result.gap))
    if worst.converged:
        return None
    above = f", above tol={estimator.tol:g}" if worst.gap > estimator.tol else ""
    said = (
        f"{type(estimator).__name__} stopped after {worst.n_iter} turns at a relative duality gap "
        f"of {worst.gap:.2e}{above}; {_advice(estimator, worst, names, rounding)}"
    )
    doubtful = [one for one in results if one.gap <= estimator.tol and not one.converged]
    if above and doubtful:
        other = max(doubtful, key=lambda result: result.doubt)
        said += f". Of another output the gap is {other.gap:.2e}, but "
        said += _lost(estimator, other, names, rounding)
    return said


def nothing_learned(estimator: Any, results: Sequence[Result]) -> str | None:
    """Return what to say of models that are constant since there was nothing to learn, if any."""
    constant = [result for result in results if not result.weights.any()]
    if not constant:
        return None
    gain = max(result.constant - result.dual for result in constant)
    cost = max(result.constant for result in constant)
    some = f" ({len(constant)} of {len(results)} outputs)" if len(results) > 1 else ""
    less = f" by more than {gain:.1e}, which is rounding" if gain > 0 else ""
    rare = " or class_weight='balanced'" if hasattr(estimator, "class_weight") else ""
    advice = f"; raise C or take other kernels{rare}" if cost > 0 else ""
    return (
        f"{type(estimator).__name__} has nothing to learn{some}: the best constant costs {cost:.3g}"
        f", and no model costs less{less}. The model is that constant, with weights of 0{advice}"
    )


def _advice(estimator: Any, result: Result, names: Sequence[str], rounding: RoundingBounds) -> str:
    """Return what to do about a result that has not converged."""
    if result.gap <= estimator.tol:
        return _lost(estimator, result, names, rounding)
    values = [abs(past.dual) for past in result.history if np.isfinite(past.dual)]
    if hasattr(estimator, "nu") and abs(result.primal) < ZERO * max(values, default=0.0):
        return (
            "its objective is 0, relative to which there is no gap: with these kernels nothing "
            "tells the examples apart from the origin (RBF kernels do)"
        )
    if result.doubt > max(estimator.tol, result.gap):  # more turns would not help
        return _lost(estimator, result, names, rounding)
    if result.late:
        return f"raise max_time={estimator.max_time:g} or tol"
    if estimator.max_iter is not None and result.n_iter >= estimator.max_iter:
        return f"raise max_iter={estimator.max_iter} or tol"
    if result.doubt > estimator.tol:
        return _lost(estimator, result, names, rounding)
    return getattr(estimator.plan_.solver, "when_stopped", "") or (
        "it could get no further: raise tol, scale the data, lower C or the weights of examples, "
        "or take another solver"
    )


def _lost(estimator: Any, result: Result, names: Sequence[str], rounding: RoundingBounds) -> str:
    """Return which kernels' rounding leaves the gap of a result in doubt."""
    if not result.weights.any():
        return (
            f"rounding hides whether some model costs less than the best constant, by {HIDDEN:g} "
            "of its cost or more; lower C or the weights of examples if that matters"
        )
    alpha = result.alpha.reshape(-1, rounding.examples.n)
    weights = np.broadcast_to(result.weights, len(names))
    # A kernel without weight counts, too: its s is part of the dual value.
    errors = rounding.errors(weights, alpha, np.abs(alpha))[1]
    shares = np.nan_to_num(np.where(weights > 0, weights, weights.max()) * errors, nan=np.inf)
    worst = np.argsort(-shares)[:NAMED]
    named = ", ".join(repr(names[m]) for m in worst if shares[m] >= NOTICEABLE * shares[worst[0]])
    return (
        f"rounding alone may move that gap by {result.doubt:.1e}: the values of "
        f"{named or 'the kernels'} have too few digits for tol={estimator.tol:g} with these costs "
        "and targets. Scale the data or "
        "choose parameters that suit their scale, lower C or the weights of examples, or raise tol"
    )
