"""Interior point method for a working set; its work hardly depends on the condition number.

Let conj be the convex conjugate of the loss of an example, F the combined outputs, and b the bias.
If conj is smooth on lo <= alpha <= hi, the KKT conditions with a fixed sum of alpha (or, without an
intercept, with b = 0) are

    conj'(alpha) + F + b - z_lo + z_hi = 0,    z_lo (alpha - lo) = z_hi (hi - alpha) = mu,   mu = 0.

Newton's method follows the central path, the solutions for falling mu, with the predictor and
corrector of Mehrotra (1992). Each step factorises the kernel matrix once. About twenty steps are
enough, where SMO may need millions. An alpha whose conjugate has a kink at 0 is written as the
difference of two variables, alpha = y - y' with 0 <= y <= hi and 0 <= y' <= -lo.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError

from ..kkt_system import KKTSystem, longest_step
from .subproblem import Subproblem, balanced

MAX_STEPS = 60  # Newton steps; about 20 are usual
INSET = 0.1  # initial distance from the bounds, as a fraction of the box or the largest alpha
STEP_FRACTION = 0.99  # fraction of the longest feasible step that is taken, to stay inside
MU_ROUNDING = 1e-20  # value of mu, relative to its initial value, that is due to rounding


def interior_points(problem: Subproblem) -> Iterator[np.ndarray]:
    """Yield feasible alphas, each of shape (q,), that converge to the solution up to rounding.

    The last few may be worse, because the Newton equations become singular: keep the best one.

    Parameters
    ----------
    problem : Subproblem
        The conjugates of its losses must be quadratic on each side of 0.
    """
    path = _Path(problem)
    for _ in range(MAX_STEPS):
        yield path.rounded_alpha()
        if path.ended:
            return
        try:
            path.advance()
        except LinAlgError:
            return


class _Path:
    """A point near the central path: y, the bias, and slacks and multipliers z of the bounds.

    The first q variables belong to the q alphas, the others are the y' of alphas with a kink
    (`split`). With k variables, slack and z have shape (2, k), for lo and hi; an infinite bound has
    slack 1. Slacks are updated by themselves and stay positive, whereas y - lo may round to 0.
    """

    def __init__(self, problem: Subproblem):
        self.problem, self.total = problem, problem.total
        term, alpha = problem.term, problem.alpha
        self.split = np.flatnonzero(term.eps > 0)
        self.lo = self._variables(np.where(term.eps > 0, 0.0, term.lo), 0.0 * alpha)
        self.hi = self._variables(term.hi, -term.lo)
        self.signs = self._gradient(np.ones_like(alpha))
        self.lin, self.curv = self._gradient(term.lin), self._variables(term.curv, term.curv)
        self.lin += self._variables(term.eps, term.eps)
        self.bounded = np.isfinite([self.lo, self.hi])
        self.alpha_size = np.abs(alpha).max() or 1.0
        inset = INSET * np.minimum(self.hi - self.lo, self.alpha_size)
        self.y = np.clip(self._variables(alpha, -alpha), self.lo + inset, self.hi - inset)
        self.slack = np.where(self.bounded, [self.y - self.lo, self.hi - self.y], 1.0)
        self.bias: float = 0.0
        if self.total is not None:
            self.bias = -float(np.median(term.lin + term.curv * alpha + problem.F))
        self.gradient_size = np.abs(self._residual()).max() or 1.0
        self.z = np.where(self.bounded, self.gradient_size, 0.0)

    def _variables(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return values of the variables, (k,), from those of y and y' for all alphas, (q,)."""
        return np.concatenate([first, second[self.split]])

    def _gradient(self, gradient: np.ndarray) -> np.ndarray:
        """Return derivatives in the variables, (k,), from those in the alphas, (q,)."""
        return self._variables(gradient, -gradient)

    def _alpha(self, variables: np.ndarray) -> np.ndarray:
        """Return the alphas, (q,), of variables, (k,)."""
        q = len(self.problem.alpha)
        alpha = variables[:q].copy()
        alpha[self.split] -= variables[q:]
        return alpha

    def _residual(self) -> np.ndarray:
        """Return the gradient of the objective, (k,), without the multipliers of the bounds."""
        F = self.problem.after(self._alpha(self.y)).F
        return self.lin + self.curv * self.y + self._gradient(F + self.bias)

    def rounded_alpha(self) -> np.ndarray:
        """Return alpha, (q,), with variables moved to a bound if its multiplier exceeds its slack.

        Both are measured relative to their size at the start.
        """
        at_lo, at_hi = self.bounded & (self.slack * self.gradient_size < self.z * self.alpha_size)
        variables = np.where(at_lo, self.lo, np.where(at_hi, self.hi, self.y))
        free = self._alpha(np.where(at_lo | at_hi, 0.0, self.signs)) > 0  # y or y' is free
        term = self.problem.term
        return balanced(self._alpha(variables), term.lo, term.hi, self.total, free)

    @property
    def ended(self) -> bool:
        """Whether the end of the path is reached up to rounding."""
        mu = float((self.z * self.slack).max())
        return bool(self.bounded.any()) and mu <= MU_ROUNDING * self.gradient_size * self.alpha_size

    def advance(self) -> None:
        """Take one predictor-corrector step.

        Raises
        ------
        scipy.linalg.LinAlgError
            If the kernel matrix is not positive semidefinite.
        """
        slack, z = self.slack, self.z
        stiff = self.curv + (z / slack).sum(axis=0)
        # The inverse stiffness of alpha = y - y' is the sum of those of y and y'.
        stiffness = 1.0 / self._alpha(self.signs / stiff)
        system = KKTSystem.definite(self.problem.kernel, stiffness)
        residual = self._residual() - z[0] + z[1]
        missing = None if self.total is None else self.total - float(self._alpha(self.y).sum())

        def newton(products: np.ndarray) -> tuple[np.ndarray, ...]:
            """Return the step that changes z * slack by `products`, (2, k), to first order."""
            pull = np.where(self.bounded, products / slack, 0.0)
            force = pull[0] - pull[1] - residual
            free_move = self._alpha(force / stiff)
            dalpha, dbias = system.solve(stiffness * free_move, missing)
            dgradient = stiffness * (free_move - dalpha)
            dy = (force - self._gradient(dgradient)) / stiff
            dslack = np.where(self.bounded, [dy, -dy], 0.0)
            return dy, dbias, dslack, pull - z * dslack / slack

        dy, dbias, dslack, dz = newton(-z * slack)
        if self.bounded.any():
            predicted = (z + longest_step(z, dz, 1.0) * dz) * (
                slack + longest_step(slack, dslack, 1.0) * dslack
            )
            mu = (z * slack).sum() / self.bounded.sum()
            centre = mu * (predicted.sum() / (z * slack).sum()) ** 3  # Mehrotra (1992)
            dy, dbias, dslack, dz = newton(centre - z * slack - dz * dslack)
        step = min(longest_step(slack, dslack, 1.0), longest_step(z, dz, 1.0))
        step = step if step == 1.0 else STEP_FRACTION * step
        self.y, self.bias = self.y + step * dy, self.bias + float(step * dbias)
        self.slack, self.z = slack + step * dslack, z + step * dz
