"""The training loop: alpha and the kernel weights are improved in turn.

Interleaved, it is the algorithm of Sonnenburg et al. (2006) and Kloft et al. (2011): a weight step
after every working set. A step that needs more waits until the inner problem, in which the weights
are given, is solved as accurately as it asks for; with complete solutions that is their wrapper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Problem, Result
from ..steps.base import Accuracy, Turn
from .conjugate_gradients import conjugate_gradients
from .history import History
from .working_sets import WorkingSets

if TYPE_CHECKING:
    from ..plan import Plan

INNER_TURNS = 1000  # of one inner problem; then the weights move on in any case
INNER_PATIENCE = 60  # of these turns without progress, after which it is stuck
INNER_FALL = 0.3  # an inner gap falls to this part, or a step would see what the last one saw


def train(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> Result:
    """Improve alpha and the weights, shape (M,), until the history is finished.

    The engine starts at any feasible alpha, and ends at that of the result.
    """
    if plan.conjugate and engine.n > plan.working_set and engine.multiplies:
        result = conjugate_gradients(problem, engine, weights, history)
        if result is not None:
            return result
    sets = WorkingSets(problem, engine, plan.working_set, history)
    step = plan.make_step(problem.norm)
    accuracy = None if plan.pace is None else Accuracy(plan.pace, history.tol)

    def solve_inner(theta: np.ndarray) -> Turn:
        tol = history.tol if accuracy is None else accuracy.gap
        inner = history.inner(tol, INNER_TURNS, fall=INNER_FALL)
        inner.patience = INNER_PATIENCE
        train(problem.given(theta), engine, theta, plan.inner, inner)
        stuck = not (inner.converged or inner.spent)
        history.stuck_inner = history.stuck_inner + 1 if stuck else 0
        return sets.view(theta, solve_inner)

    turn, turns = sets.view(weights, solve_inner), 0
    while True:
        if accuracy is None:
            weights = step(turn)
        certificate = sets.certify(weights)
        history.add(certificate, weights, turns)
        if history.finished(engine):
            return history.result(certificate, engine.alpha, weights)
        if accuracy is None:
            wanted = history.tol / certificate.gap
            sets.advance(weights, shrink=plan.step is None, wanted=wanted)
            turn = sets.view(weights, solve_inner)
        else:
            if turns:
                accuracy.follow(turn, weights := step(turn), certificate.gap)
            turn = solve_inner(weights)
        turns = 1
