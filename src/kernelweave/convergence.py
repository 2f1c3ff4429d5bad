"""What to say of models whose gap is above the tolerance, or in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .problem import Result

ZERO = 1e-9  # an objective that is 0 but for rounding, relative to where its solver came from


def complaint(estimator: Any, results: Sequence[Result], lost: str | None) -> str | None:
    """Return what to warn of, if anything.

    Parameters
    ----------
    estimator : whose parameters `tol`, `max_iter` and `max_time` were.
    results : one for each output.
    lost : which digits were lost, where so many were that gaps are in doubt.
    """
    worst = max(results, key=lambda result: (not result.converged, result.gap))
    if worst.converged and lost is None:
        return None
    above = "" if worst.converged else f", above tol={estimator.tol:g}"
    advice = lost if worst.converged else _advice(estimator, worst, lost)
    return (
        f"{type(estimator).__name__} stopped after {worst.n_iter} turns at a relative duality gap "
        f"of {worst.gap:.2e}{above}; {advice}"
    )


def nothing_learned(estimator: Any, results: Sequence[Result]) -> str | None:
    """Return what to say of models that are constant since there was nothing to learn, if any."""
    constant = [result for result in results if not result.weights.any()]
    if not constant:
        return None
    gain = max(result.constant - result.dual for result in constant)
    cost = max(result.constant for result in constant)
    some = f" ({len(constant)} of {len(results)} outputs)" if len(results) > 1 else ""
    less = f" by more than {gain:.1e}, which is rounding" if gain > 0 else ""
    advice = "; raise C or take other kernels" if cost > 0 else ""
    return (
        f"{type(estimator).__name__} has nothing to learn{some}: the best constant costs {cost:.3g}"
        f", and no model costs less{less}. The model is that constant, with weights of 0{advice}"
    )


def _advice(estimator: Any, result: Result, lost: str | None) -> str:
    """Return what to do about a result that has not converged."""
    values = [abs(past.dual) for past in result.history if np.isfinite(past.dual)]
    if abs(result.primal) < ZERO * max(values, default=0.0):
        return (
            "its objective is 0, relative to which there is no gap: with these kernels nothing "
            "tells the examples apart from the origin (RBF kernels do)"
        )
    if result.late:
        return f"raise max_time={estimator.max_time:g} or tol"
    if estimator.max_iter is not None and result.n_iter >= estimator.max_iter:
        return f"raise max_iter={estimator.max_iter} or tol"
    return lost or (
        "it could get no further: raise tol, scale the data, lower C or the weights of examples, "
        "or take another solver"
    )
