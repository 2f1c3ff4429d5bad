"""Wrapper training: complete solves for fixed weights, and a weight step between them.

Algorithm 1 of Sonnenburg et al. (2006) and of Kloft et al. (2011). Each solve starts from the last
alpha, and need not be much more accurate than the weights are: its tolerance follows the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import Engine
from ..norms import Norm
from ..problem import Problem, Progress, Result
from ..steps.base import Step, keep_weights
from .chunking import Budget, State, chunking, conclude

INNER = 0.3  # a solve for fixed weights closes its gap to this part of the gap of the whole problem


@dataclass(frozen=True, eq=False)
class Fixed(Norm):
    """The norm that leaves no choice: one machine on the combination with these weights, (M,)."""

    theta: np.ndarray

    def value(self, theta: np.ndarray) -> float:
        return 1.0

    def dual(self, s: np.ndarray) -> float:
        return float(self.theta @ s)

    def best(self, s: np.ndarray) -> np.ndarray:
        return self.theta

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return self.theta


def wrapper(
    problem: Problem,
    engine: Engine,
    step: Step,
    alpha: np.ndarray,
    theta: np.ndarray,
    budget: Budget,
) -> Result:
    """Solve a problem from (alpha, theta), whose outputs the engine already holds.

    Parameters
    ----------
    alpha : array of shape (n,), feasible
    theta : array of shape (M,), feasible
    """
    state = State(problem, engine, alpha, theta)
    history: list[Progress] = []
    while True:
        certificate = state.refresh(step if history else keep_weights)
        history.append(state.progress(certificate))
        budget.watch(history[-1])
        if certificate.gap <= budget.tol or len(history) - 1 == budget.max_iter:
            return conclude(state, certificate, history, budget)
        tol = INNER * min(certificate.gap, 1.0)
        state.alpha = solve_fixed(problem, engine, state.alpha, state.theta, tol, budget)


def solve_fixed(
    problem: Problem,
    engine: Engine,
    alpha: np.ndarray,
    theta: np.ndarray,
    tol: float,
    budget: Budget,
) -> np.ndarray:
    """Return the alpha, shape (n,), that solves the problem for fixed weights to a gap of tol."""
    alone = replace(problem, norm=Fixed(theta))
    inner = Budget(tol=tol, working_set=budget.working_set)
    return chunking(alone, engine, keep_weights, alpha, theta, inner).alpha
