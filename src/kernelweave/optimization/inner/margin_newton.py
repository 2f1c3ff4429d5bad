"""Newton's method on margins: the best alphas inside a working set where dual terms have entropies.

An entropy has no end of slope at its bounds, and Newton's method on alpha gets nowhere near them.
The primal problem is smooth. With the conjugates conj*, v = K (beta - alpha_0) for any beta and a
bias b it reads

    minimise  1/2 (beta - alpha_0)' v + alpha_0' (v + F) + b sum alpha_0 + sum conj*(-(F + v + b)),

and at its minimum beta = conj*'(-(F + v + b)) is the best alpha. Where margins are large compared
with the width of the bend in conj*, that sum is nearly piecewise linear: entropies start as wide
as the margins, and shrink to what they are while steps succeed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from ..kkt_system import KKTSystem
from .subproblem import Subproblem, balanced
from .violations import Violations

MOST = 60  # steps
ENTROPY_LEFT = 0.2  # part of the additional entropy that a full step leaves
ARMIJO = 1e-4  # part of the decrease predicted by the slope that a step must bring
ROUNDING = 1e-12  # relative difference of values that is rounding
SHORTEST = 1e-8  # step
FLATTEST = 1e-14  # second derivative of a conjugate, relative to its largest


def margin_newton(problem: Subproblem) -> Iterator[np.ndarray]:
    """Yield alphas on the way to the best ones, each of shape (q,).

    The dual terms consist of an entropy and a linear part.
    """
    kernel, term, F, start = problem.kernel, problem.term, problem.F, problem.alpha
    total, width, everything = float(start.sum()), term.hi - term.lo, np.ones(len(start), bool)

    def value(beta: np.ndarray, v: np.ndarray, bias: float, ent: np.ndarray) -> float:
        margin = -(F + v + bias) - term.lin
        losses = term.lo * margin + ent * np.logaddexp(0.0, width / ent * margin)
        return float(0.5 * (beta - start) @ v + start @ (v + F) + bias * total + losses.sum())

    beta, v, bias = start, 0.0 * start, -Violations(term, start, F).middle
    added = width * np.abs(F + bias + term.lin).max()
    for _ in range(MOST):
        ent = term.ent + added
        share = expit(-width / ent * (F + v + bias + term.lin))
        alpha = np.clip(term.lo + width * share, term.lo, term.hi)
        yield balanced(alpha, term.lo, term.hi, total, everything)
        # One factor after the other: the square of a tiny width would be 0.
        stiff = ent / width / width / np.maximum(share * (1.0 - share), FLATTEST)
        try:
            system = KKTSystem.definite(kernel, stiff)
        except LinAlgError:
            return
        dbeta, dbias = system.solve(stiff * (alpha - beta), total - beta.sum())
        dv = kernel @ dbeta
        slope = dv @ (beta - alpha) + dbias * (total - alpha.sum())
        now, step = value(beta, v, bias, ent), 1.0
        while value(beta + step * dbeta, v + step * dv, bias + step * dbias, ent) > (
            now + ARMIJO * step * slope + ROUNDING * abs(now)
        ):
            step *= 0.5
            if step < SHORTEST:
                return
        beta, v, bias = beta + step * dbeta, v + step * dv, bias + step * dbias
        if step == 1.0:
            added = np.where(ENTROPY_LEFT * added > term.ent, ENTROPY_LEFT * added, 0.0)
