"""scikit-learn's side: `SVC` at the loosest tolerance that reaches a certified gap.

LIBSVM stops on the violation of the optimality conditions, not on a gap. To ask no more of it than
of the library, its tolerance is searched for beforehand, and only the final fit is timed.
"""

from __future__ import annotations

from collections.abc import Callable

TOLERANCES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001)


def loosest_tolerance(gap_at: Callable[[float], float], gap: float) -> float:
    """Return the largest of `TOLERANCES` with gap_at(tolerance) <= gap, by bisection.

    Raises
    ------
    RuntimeError : where even the smallest one does not do.
    """
    low, high = 0, len(TOLERANCES)  # all before `low` are too loose, all from `high` on will do
    while low < high:
        middle = (low + high) // 2
        if gap_at(TOLERANCES[middle]) <= gap:
            high = middle
        else:
            low = middle + 1
    if low == len(TOLERANCES):
        raise RuntimeError(f"SVC does not reach a gap of {gap:g} at tol={TOLERANCES[-1]:g}")
    return TOLERANCES[low]
