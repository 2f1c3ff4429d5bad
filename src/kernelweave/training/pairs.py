"""How the problem inside a working set is solved: by pairs of examples, then by Newton's method.

Steps on pairs (sequential minimal optimisation) solve most such problems quickly. Where the kernel
is ill-conditioned (columns that differ in scale, large C, weights far apart) they may take millions
of steps. So after a bounded number of pairs a method takes over whose work hardly depends on the
condition number: interior points, or Newton's method on the primal where dual terms have entropies.
Its alphas are nearly optimal, and pairs do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core import _core
from .interior_points import interior_points
from .margin_newton import margin_newton
from .subproblem import Subproblem

PAIRS = 50  # pairs per example; they take about as long as the method after them
FEW = 1000  # pairs that cost nothing
ROUNDS = 3  # of pairs, and of what takes over

Method = Callable[[Subproblem], Iterator[np.ndarray]]
Late = Callable[[], bool]


def never() -> bool:
    """Return False: there is time enough."""
    return False


def solve_subproblem(problem: Subproblem, tolerance: float, late: Late = never) -> np.ndarray:
    """Return the best alphas of a working set, shape (q,), up to a violation if possible.

    Where `late` says so, what has been found until then.
    """
    method = margin_newton if problem.term.ent.any() else interior_points
    for _ in range(ROUNDS):
        problem, violation = _by_pairs(problem, tolerance)
        if not violation > tolerance or late():
            break
        found = _without_pairs(problem, tolerance, method, late)
        if found is problem:
            break
        problem = found
    return problem.alpha


def _by_pairs(problem: Subproblem, tolerance: float) -> tuple[Subproblem, float]:
    """Return the problem after some pairs of examples, and its violation."""
    alpha, F = problem.alpha.copy(), problem.F.copy()
    most = PAIRS * len(alpha) + FEW
    parts = problem.term.arrays
    _, violation = _core.solve_pairs(problem.kernel, *parts, tolerance, most, alpha, F)
    return Subproblem(problem.kernel, problem.term, alpha, F), violation


def _without_pairs(problem: Subproblem, tolerance: float, method: Method, late: Late) -> Subproblem:
    """Return the best of what a method finds before it reaches the tolerance.

    Alphas near a bound that are moved to it may violate the KKT conditions little and yet be far
    from the optimum: alphas are only taken if they raise the dual value.
    """
    live = np.flatnonzero(problem.term.hi > problem.term.lo)
    best, lowest = problem, problem.violation
    # Values that are not finite are not taken.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for part in method(problem.part(live)):
            alpha = problem.alpha.copy()
            alpha[live] = part
            found = problem.after(alpha)
            violation = found.violation
            if violation < lowest and problem.gain(found) > 0:
                best, lowest = found, violation
            if lowest <= tolerance or late():
                break
    return best
