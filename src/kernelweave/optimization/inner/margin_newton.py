"""Newton's method on the primal of a working set, for the logistic and the smooth hinge loss.

The convex conjugates of these losses are binary entropies (`losses.DualTerm`). The derivative of an
entropy is infinite at the bounds, so Newton's method on alpha cannot approach them. The primal
problem is smooth. Let alpha_0 be the alphas at the start, F their combined outputs, f the decision
values, and conj* the losses as functions of -f. With v = K (beta - alpha_0), the primal problem in
beta and the bias b is

    minimise  1/2 (beta - alpha_0)' v + alpha_0' (v + F) + b sum alpha_0 + sum conj*(-(F + v + b)).

At the minimum beta = conj*'(-(F + v + b)) is the optimal alpha. If margins are large compared
with the curved range of conj*, the sum is nearly piecewise linear, and Newton steps are poor. A
homotopy avoids this: the entropies are first increased to the size of the margins, and the added
part is reduced after every full step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from ..kkt_system import KKTSystem
from .subproblem import Subproblem, balanced
from .violations import Violations

MAX_STEPS = 60  # Newton steps
ENTROPY_FACTOR = 0.2  # factor of the added entropy after a full step
ARMIJO = 1e-4  # fraction of the decrease predicted by the slope that a step must achieve
VALUE_ROUNDING = 1e-12  # relative difference of objective values that is due to rounding
SHORTEST_STEP = 1e-8  # step length at which the line search gives up
LEAST_CURVATURE = 1e-14  # lower bound of conj*'', relative to its maximum, against division by 0


def margin_newton(problem: Subproblem) -> Iterator[np.ndarray]:
    """Yield feasible alphas, each of shape (q,), that converge to the solution.

    Parameters
    ----------
    problem : Subproblem
        The conjugate of each of its losses is a binary entropy plus a linear function.
    """
    kernel, term, F, start = problem.kernel, problem.term, problem.F, problem.alpha
    total, width, all_free = problem.total, term.hi - term.lo, np.ones(len(start), bool)

    def value(beta: np.ndarray, v: np.ndarray, bias: float, ent: np.ndarray) -> float:
        margin = -(F + v + bias) - term.lin
        losses = term.lo * margin + ent * np.logaddexp(0.0, width / ent * margin)
        regular = 0.5 * (beta - start) @ v + start @ (v + F) + bias * start.sum()
        return float(regular + losses.sum())

    fixed_sum = problem.fixed_sum
    beta, v, bias = start, 0.0 * start, -Violations(term, start, F, fixed_sum=fixed_sum).middle
    added = width * np.abs(F + bias + term.lin).max()
    for _ in range(MAX_STEPS):
        ent = term.ent + added
        share = expit(-width / ent * (F + v + bias + term.lin))
        alpha = np.clip(term.lo + width * share, term.lo, term.hi)
        yield balanced(alpha, term.lo, term.hi, total, all_free)
        # Divide twice: the square of a tiny width would underflow.
        stiff = ent / width / width / np.maximum(share * (1.0 - share), LEAST_CURVATURE)
        try:
            system = KKTSystem.definite(kernel, stiff)
        except LinAlgError:
            return
        missing = None if total is None else total - float(beta.sum())
        dbeta, shift = system.solve(stiff * (alpha - beta), missing)
        dv, dbias = kernel @ dbeta, float(shift)
        slope = dv @ (beta - alpha) + dbias * (start.sum() - alpha.sum())
        now, step = value(beta, v, bias, ent), 1.0
        while value(beta + step * dbeta, v + step * dv, bias + step * dbias, ent) > (
            now + ARMIJO * step * slope + VALUE_ROUNDING * abs(now)
        ):
            step *= 0.5
            if step < SHORTEST_STEP:
                return
        beta, v, bias = beta + step * dbeta, v + step * dv, bias + step * dbias
        if step == 1.0:
            added = np.where(ENTROPY_FACTOR * added > term.ent, ENTROPY_FACTOR * added, 0.0)
