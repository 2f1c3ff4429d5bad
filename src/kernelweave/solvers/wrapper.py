"""Wrapper training: complete solves for fixed weights, and a weight step between them.

Algorithm 1 of Sonnenburg et al. (2006) and of Kloft et al. (2011). Each solve starts from the last
alpha, and need not be much more accurate than the weights are: its tolerance follows the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..engines.base import Engine
from ..norms import Norm
from ..problem import Problem, Progress, Result
from ..steps.base import SolvedTurn, keep_weights
from .chunking import Budget, State, chunking, conclude, stuck

FIRST = 0.03  # the gap to which the first machine is solved
INNER = 0.3  # later ones: this part of the gap of the whole problem
LEAST = 1e-12  # no machine is solved beyond rounding
TURNS = 1000  # of one solve; the weights may move on before it is complete


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

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return float(self.theta @ s)


@dataclass(eq=False)
class Machines(State):
    """A state whose alpha is brought to the optimum for its weights."""

    solving: Budget = field(default_factory=Budget)

    def solve(self, theta: np.ndarray) -> SolvedTurn:
        """Solve the machine with weights theta, shape (M,)."""
        self.theta = theta
        alone = replace(self.problem, norm=Fixed(theta))
        self.alpha = chunking(
            alone, self.engine, keep_weights, self.alpha, theta, self.solving
        ).alpha
        return SolvedTurn(**vars(self.view()), at=self.solve)


def wrapper(
    problem: Problem,
    engine: Engine,
    make_step: Callable[[], Any],
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
    first = Budget(tol=max(FIRST, budget.tol), max_iter=TURNS, working_set=budget.working_set)
    state = Machines(problem, engine, alpha, theta, solving=first)
    step = make_step()
    history: list[Progress] = []
    share = INNER
    while True:
        turn = state.solve(state.theta)
        certificate = state.certify()
        gained = certificate.gap < min((past.gap for past in history), default=np.inf)
        history.append(state.progress(certificate))
        budget.watch(history[-1])
        if certificate.gap <= budget.tol or len(history) - 1 == budget.max_iter or stuck(history):
            return conclude(state, certificate, history, budget)
        share = share if gained else max(0.5 * share, 1e-3)  # did the machines lack accuracy?
        best = min(past.gap for past in history)
        state.solving = replace(state.solving, tol=max(share * min(best, 1.0), LEAST))
        state.theta = step(turn)
