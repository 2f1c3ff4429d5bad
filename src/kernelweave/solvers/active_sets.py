"""Active sets: from a sample to all examples, by way of those that matter.

With many examples most alphas end at zero. So solve the problem on a sample; let all outputs
follow once; go on with the support, the examples that disagree, and those nearest to disagreeing.
An alpha that is zero adds nothing to any sum, so the restricted problem is the same problem with
fewer losses: the same loop solves it, weight steps included. Only the certificate on all examples
ends the search. This is shrinking (Joachims, 1999) and a coarse-to-fine start in one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import Engine
from ..problem import Problem, Progress, Result
from ..steps.base import Step, keep_weights
from .chunking import Budget, State, chunking, conclude

SMALL = 20_000  # so many examples are worked on at once
SAMPLE = 0.02  # part of the examples in the first sample, if that is not small
GROWTH = 4  # a set may become so many times larger
SPARE = 0.5  # examples near to disagreeing, relative to those that count
INNER = 0.2  # a restricted problem is solved to this part of the gap on all examples
LAST = 0.5  # and to no less than this part of the tolerance


@dataclass(eq=False)
class ActiveSets:
    """The state of the search.

    Attributes
    ----------
    state : alpha, theta and the engine of all examples.
    active : the examples that are worked on, sorted.
    turns : turns of the restricted problems so far.
    """

    state: State
    active: np.ndarray
    turns: int = 0

    def improve(self, make_step: Callable[[], Step], tol: float, budget: Budget) -> bool:
        """Solve the problem on the active examples, and let all outputs follow.

        Returns whether there was anything to do.
        """
        state, active = self.state, self.active
        turns_left = None if budget.max_iter is None else budget.max_iter - self.turns
        inner = chunking(
            state.problem.subset(active, 0.0),
            state.engine.subset(active),
            make_step(),
            state.alpha[active],
            state.theta,
            Budget(tol=tol, max_iter=turns_left, working_set=budget.working_set),
        )
        state.move(active, inner.alpha)
        state.theta = inner.weights
        self.turns += inner.n_iter
        return inner.n_iter > 0

    def choose(self) -> None:
        """Take the support, the examples that disagree, and those nearest to it."""
        state = self.state
        violations = state.violations()
        idle = np.flatnonzero(state.alpha == 0)
        excess = violations.excess(idle)
        support = state.engine.n - len(idle)
        wanted = int((1 + SPARE) * (support + np.count_nonzero(excess > 0)))
        most = min(GROWTH * max(len(self.active), SMALL), state.engine.n // 2)
        room = min(wanted, most) - support
        if 0 < room < len(idle):
            idle = idle[np.argpartition(-excess, room)[:room]]
        self.active = np.union1d(np.flatnonzero(state.alpha), idle)


def active_sets(
    problem: Problem,
    engine: Engine,
    make_step: Callable[[], Step],
    alpha: np.ndarray,
    theta: np.ndarray,
    budget: Budget,
) -> Result:
    """Solve a problem from (alpha, theta), whose outputs the engine already holds.

    Parameters
    ----------
    make_step : makes a weight step. Each restricted problem has its own: what one remembers of the
        values of a problem is wrong for another.
    alpha : array of shape (n,), feasible
    theta : array of shape (M,), feasible
    """
    dense = engine.n <= SMALL or np.count_nonzero(alpha) > engine.n // 2
    if dense or problem.machines > 1:
        return chunking(problem, engine, make_step(), alpha, theta, budget)
    search = ActiveSets(State(problem, engine, alpha.copy(), theta.copy()), sample(problem, alpha))
    history: list[Progress] = []
    gap = 1.0
    busy = True
    while busy and len(search.active) <= engine.n // 2:
        busy = search.improve(make_step, max(INNER * gap, LAST * budget.tol), budget)
        certificate = search.state.refresh(keep_weights)
        history.append(search.state.progress(certificate))
        budget.watch(history[-1])
        gap = min(gap, certificate.gap)
        if certificate.gap <= budget.tol or search.turns == budget.max_iter:
            result = conclude(search.state, certificate, history, budget)
            return replace(result, n_iter=search.turns)
        search.choose()
    return chunking(problem, engine, make_step(), search.state.alpha, search.state.theta, budget)


def sample(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return evenly spaced examples of each kind, and all with an alpha that is not zero.

    Kinds are told apart by the sign of the target, so that a rare class is not missed.
    """
    n = len(alpha)
    part = max(SMALL / n, SAMPLE)
    chosen = [np.flatnonzero(alpha)]
    for kind in (problem.y > 0, problem.y <= 0):
        members = np.flatnonzero(kind)
        chosen.append(members[:: max(1, int(1 / part))])
    return np.unique(np.concatenate(chosen))
