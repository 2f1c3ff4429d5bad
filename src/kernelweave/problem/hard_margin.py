"""Hard margins, C = inf: soft margins of growing cost, until nothing is lost any more.

    P:  min over w, b, theta    1/2 sum_m ||w_m||^2 / theta_m     with y_i f_i >= 1 for all i
    D:  max over alpha          sum_i |alpha_i| - 1/2 ||s||_dual  with y_i alpha_i >= 0

With the hinge loss the dual value of an alpha does not depend on C, which only bounds alpha. So
soft margins whose alphas stay below their bounds are the hard margin, and on the way there every
alpha bounds its optimum from below. A model whose smallest y_i f_i is above 0 becomes feasible when
it is divided by it: that is its primal value here, and so is the model that is returned.

Where the classes cannot be separated the dual value grows without end. Along the ray of an alpha it
is highest at (sum_i |alpha_i|)^2 / (2 ||s||_dual), a bound on 1/2 ||w||^2 = 1 / (2 margin^2). Where
it says that the margin is next to nothing of the size of the examples, there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.cached_property import cached_property
from ..engines.base import Engine
from ..losses import HardMargin, Hinge, Loss
from ..norms import Fixed, Norm
from ..optimization.history import History, Result
from .problem import Certificate, Problem

FIRST_COST = 1e3  # of an error, times the largest value of a kernel;
GROWTH = 100.0  # the next one is so many times as high,
LAST_COST = 1e16  # up to this one
INNER_FALL = 0.5  # part of the tolerance to which soft margins are solved
SMALLEST_MARGIN = 1e-6  # relative to the size of the examples: below it there is none

Solve = Callable[[Problem, History, np.ndarray | None], Result]


class HardMarginProblem(Problem):
    """A problem without errors; examples of cost 0 do not count, and other costs are alike."""

    @classmethod
    def of(cls, loss: Loss, norm: Norm, y: np.ndarray, counts: np.ndarray) -> HardMarginProblem:
        """Make the problem of targets y in which some examples count, both of shape (n,).

        Raises
        ------
        ValueError : for a loss that is positive however large the margin is.
        """
        if loss.name not in ("hinge", "squared_hinge"):
            raise ValueError(
                f"C=inf, a hard margin, is for loss='hinge' or 'squared_hinge', got {loss.name!r}; "
                "choose a finite C"
            )
        return cls(HardMargin(), norm, y, np.where(counts, 1.0, 0.0))

    def soft(self, cost: float) -> Problem:
        """Return the problem in which an error has a cost."""
        costs = np.where(self.C > 0, cost, 0.0)
        return Problem(Hinge(), self.norm, self.y, costs, n_outputs=self.n_outputs)

    def margin(self, F: np.ndarray, bias: Any) -> float:
        """Return the smallest y_i f_i of outputs F, shape (n,), and a bias."""
        f = F + np.repeat(bias, len(F) // self.n_outputs)
        return float((self.y * f)[self.C > 0].min())

    def primal(self, F: np.ndarray, s: np.ndarray, theta: np.ndarray, bias: Any) -> float:
        """Return the primal value of a model, which is scaled where its margins are below 1."""
        margin = self.margin(F, bias)
        if margin <= 0:
            return np.inf
        return 0.5 * self.norm.regularizer(theta, s) / min(1.0, margin) ** 2

    @cached_property
    def _best_constant(self) -> tuple[float, Any]:
        """The value of the best constant, 0 where every output sees one class or inf; its bias."""
        single = [np.ptp(one.y[one.C > 0]) == 0 for one in self.per_output]
        return 0.0 if all(single) else np.inf, self.best_bias(np.zeros_like(self.y))

    def nothing_to_learn(self, dual: float) -> bool:
        """Return whether a constant makes no errors."""
        return self.constant == 0

    @cached_property
    def _nothing(self) -> float:
        return float(np.finfo(float).tiny)


def solve_hard_margin(
    problem: HardMarginProblem,
    engine: Engine,
    history: History,
    weights: np.ndarray | None,
    solve: Solve,
    *,
    given: bool,
) -> Result:
    """Solve a problem without errors: soft margins, one after the other.

    Parameters
    ----------
    weights : where to start, shape (M,), with the engine's alpha; or None.
    solve : solves a problem with errors from there.
    given : whether the weights that it returns are not learned.

    Raises
    ------
    ValueError : where the classes cannot be separated.
    """
    size = problem.norm.dual(engine.diagonal().max(axis=1))
    cost = FIRST_COST / size
    if weights is not None:
        cost = max(cost, float(np.abs(engine.alpha).max()))
    while True:
        inner = history.inner(INNER_FALL * history.tol, history.turns_left)
        result = solve(problem.soft(cost), inner, weights)
        judged = replace(problem, norm=Fixed(result.weights)) if given else problem
        certificate, factor = _scaled(judged, engine, result.weights)
        if certificate.finite:
            alpha = factor * engine.alpha
            history.add(certificate, result.weights, result.n_iter, alpha)
        if certificate.gap <= history.tol or history.spent:
            break
        hopeless = _largest_margin(judged, engine) < SMALLEST_MARGIN * np.sqrt(size)
        if not certificate.finite and (hopeless or cost * size > LAST_COST):
            raise ValueError(
                "C=inf asks for a margin without errors, but these kernels cannot separate the "
                f"classes: no margin exceeds {_largest_margin(judged, engine):.1e}, where examples "
                f"have a size of {np.sqrt(size):.1e}; choose a finite C, or other kernels"
            )
        if cost * size > LAST_COST:
            break
        cost, weights = GROWTH * cost, result.weights if result.weights.any() else None
    engine.move_to(*engine.snapshot().scaled(factor))
    found = history.result(certificate, engine.alpha, result.weights)
    return replace(found, optimality=result.optimality)


def _scaled(
    problem: HardMarginProblem, engine: Engine, theta: np.ndarray
) -> tuple[Certificate, float]:
    """Certify alpha divided by the margin that it leaves, if any, and return the factor."""
    alpha, F, s = engine.alpha, engine.combined(theta), engine.quadratic()
    margin = problem.margin(F, problem.best_bias(F))
    factor = 1.0 / margin if margin > 0 else 1.0
    return problem.certificate(factor * alpha, factor * F, factor**2 * s, theta), factor


def _largest_margin(problem: Problem, engine: Engine) -> float:
    """Return what no margin between the classes exceeds, by the dual value along a ray."""
    total = np.abs(engine.alpha).sum()
    return float(np.sqrt(problem.norm.dual(engine.quadratic())) / total) if total > 0 else np.inf
