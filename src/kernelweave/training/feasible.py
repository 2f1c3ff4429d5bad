"""A feasible alpha for every loss."""

from __future__ import annotations

import numpy as np

from ..problem import Problem


def feasible_alpha(problem: Problem) -> np.ndarray:
    """Return an alpha, shape (n,), inside its bounds, with sum tau and finite slopes.

    Zero does where it may be; losses with an entropy need every alpha strictly inside its bounds,
    and one-class problems need a positive sum.
    """
    return np.concatenate([_feasible(output) for output in problem.per_output])


def _feasible(problem: Problem) -> np.ndarray:
    """Return the start of one output."""
    term = problem.term
    if problem.tau == 0 and not term.ent.any():
        return np.zeros_like(problem.y)
    if problem.tau == 0:
        return _balanced(term.lo, term.hi)
    return problem.tau / term.hi.sum() * term.hi


def _balanced(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Half of the way to the far bound, less on the side with more room, so that the sum is 0."""
    above, below = hi.sum(), -lo.sum()
    less = 0.5 * min(above, below)
    if less == 0:  # one side has no weight: nothing can move
        return np.zeros_like(lo)
    return np.where(hi > 0, hi * (less / above), lo * (less / below))
