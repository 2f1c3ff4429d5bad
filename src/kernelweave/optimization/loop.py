"""The training loop: alpha and the kernel weights are improved in turn.

Interleaved, it is the algorithm of Sonnenburg et al. (2006) and Kloft et al. (2011): a weight step
after every working set. A step that needs more waits until the inner problem, in which the weights
are given, is solved as accurately as it asks for; with complete solutions that is their wrapper.

J(theta) stands for the optimal value of the inner problem. A step that models J from an alpha far
from that optimum goes too far in a wrong direction. And it cannot tell whether the last step was a
good one while the inner gap exceeds what that step was to gain. Steps of this kind have a `Pace`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..losses import DualTerm
from ..model.files.registry import stored
from ..norms import Norm
from ..norms.base import clip
from ..problem.problem import Certificate, Problem
from .history import History, Result
from .inner.conjugate_gradients import conjugate_gradients
from .inner.joint_gradients import joint_gradients
from .inner.newton_cg import newton_cg
from .inner.working_sets import WorkingSets, certified, energies
from .kkt_system import Symmetric
from .steps.inner_hessian import inner_hessian

if TYPE_CHECKING:
    from .plan import Plan

INNER_TURNS = 1000  # of one inner problem; then the weights move on in any case
INNER_PATIENCE = 60  # of these turns without progress, after which it is stuck
INNER_FALL = 0.3  # an inner gap falls to this part, or a step would see what the last one saw
GOOD_WEIGHTS = 0.8  # of the tolerance: weights that account for no more of a gap stay
INNER_SHARE = 0.1  # of the whole gap, to which it is solved at most where changes cost passes
MAY_DO = 0.3  # part of the tolerance: with such an inner gap the whole problem may be solved
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Turn:
    """What a weight step sees of the present model.

    Attributes
    ----------
    theta : array of shape (M,)
        The weights so far.
    s : array of shape (M,)
        alpha' K_m alpha.
    linear : float
        The part of the dual value that does not depend on the weights, so that the dual value of
        alpha under weights theta is linear - 1/2 theta . s. It bounds J(theta) from below; -1/2 s
        is the gradient of J if alpha is optimal.
    primal : callable
        Returns the primal value of the model, which bounds J(theta) from above.
    hessian : callable
        Returns the Hessian of J at theta, shape (M, M), as far as it is known.
    at : callable
        Solves the inner problem with other weights, shape (M,), as line searches ask for: a turn.
    tol : float
        The relative duality gap that the solver is to reach.
    constant : float
        The primal value of the best constant.
    """

    theta: np.ndarray
    s: np.ndarray
    linear: float
    primal: Callable[[], float]
    hessian: Callable[[], Symmetric]
    at: Callable[[np.ndarray], Turn]
    tol: float = field(kw_only=True)
    constant: float = field(kw_only=True)

    @classmethod
    def of(cls, sets: WorkingSets, theta: np.ndarray, at: Callable[[np.ndarray], Turn]) -> Turn:
        """Describe the present model of working sets, with weights theta."""
        s = energies(sets.problem, sets.engine)
        if not np.isfinite(s).all():
            raise FloatingPointError("alpha' K alpha is not finite")
        linear = -float(sets.problem.term.conjugate(sets.engine.alpha).sum())
        primal = cache(partial(sets.primal, theta, s))  # steps within steps ask for it again
        hessian = cache(partial(inner_hessian, sets.problem, sets.engine, theta))
        tol, constant = sets.history.tol, sets.problem.constant
        return cls(theta, s, linear, primal, hessian, at, tol=tol, constant=constant)

    @property
    def value(self) -> float:
        """The dual value of alpha under the weights."""
        return self.linear - 0.5 * float(self.theta @ self.s)

    def gap(self, norm: Norm) -> float:
        """Return how far the primal value is above the dual value under the best weights."""
        return self.primal() - (self.linear - 0.5 * norm.dual(self.s))

    def excess(self, norm: Norm, certificate: Certificate) -> float:
        """Return the part of a relative gap that is due to the weights; inf if that is unknown."""
        part = 0.5 * (norm.dual(self.s) - self.theta @ self.s) if norm.has_ball else np.inf
        return part / max(certificate.scale, TINY)

    @property
    def scale(self) -> float:
        """What gaps of the inner problem are relative to (`problem`)."""
        return max(min(abs(self.primal()), self.constant - self.value), TINY)


Step = Callable[[Turn], np.ndarray]
"""A rule for the kernel weights: from a turn to the next weights, shape (M,)."""


@stored("Pace")
@dataclass(frozen=True)
class Pace:
    """What a step asks of the inner problem.

    Attributes
    ----------
    name : str
        What such solutions are called.
    most : float
        The largest relative duality gap of an inner problem that the step acts on.
    least : float
        Part of the tolerance beyond which it needs no better solution.
    """

    name: str
    most: float
    least: float


ACCURATE = Pace("accurate", most=0.03, least=0.03)
COMPLETE = Pace("complete", most=0.0, least=0.3)


class Accuracy:
    """How accurately the inner problem is solved for a step with a pace.

    Parameters
    ----------
    pace : what the step asks for.
    tol : relative duality gap of the model that is to be reached.
    share : part of the gap of the whole problem, to which the inner one is solved at most.
    """

    def __init__(self, pace: Pace, tol: float, share: float = 0.0):
        self._most, self._least, self._tol, self._share = pace.most, pace.least * tol, tol, share
        self._wanted, self._narrowest = pace.most, np.inf

    @property
    def gap(self) -> float:
        """Relative duality gap to which the inner problem should be solved next."""
        return max(self._least, self._wanted)

    def leave(self, excess: float) -> None:
        """Take in that the weights stay, which account for an `excess` of the gap."""
        self._wanted = 0.5 * (self._tol - excess)

    def follow(self, turn: Turn, theta: np.ndarray, gap: float) -> None:
        """Take in that a step leads from a model with a relative duality gap to weights theta."""
        if gap >= self._narrowest:  # did the last solution lack accuracy?
            self._least, self._share = 0.5 * self._least, 0.5 * self._share
        self._narrowest = min(self._narrowest, gap)
        gain = 0.5 * abs(turn.s @ (theta - turn.theta))  # to first order
        self._wanted = min(self._most, max(gain / turn.scale, self._share * gap))


class EveryKernel:
    """Weights under which to ask whether there is nothing to learn at any weights.

    An inner problem says little of kernels with small weights. Equal weights ask all of them, which
    is enough where they are few, or alike. Energies that stay large are of kernels with too small a
    part in the sum: their parts grow from question to question, and no kernel loses its own.
    """

    def __init__(self, norm: Norm):
        self._norm = norm
        self._asked: np.ndarray | None = None

    def weights(self, s: np.ndarray) -> np.ndarray:
        """Return the weights to ask next, shape (M,), after an answer with energies s, (M,)."""
        if self._asked is None:
            self._asked = self._norm.start(len(s))
        else:
            self._asked = self._asked + clip(s) / self._norm.value(clip(s))
        return np.asarray(self._asked / self._norm.value(self._asked))


def multiplies(engine: Engine, term: DualTerm) -> bool:
    """Return whether products are cheap enough for conjugate gradients, or few without bounds."""
    return engine.multiplies or (term.is_free and engine.multiplies_linearly)


def parts_multiply(engine: Engine, term: DualTerm) -> bool:
    """Return whether products of some of the examples are cheap enough, if not those of all."""
    return engine.subset(np.arange(2)).multiplies or multiplies(engine, term)


class Solved:
    """Whether the whole problem is solved with the weights of an inner one, shape (M,).

    It is asked with the gap of the inner problem, which is no wider than that of the whole one.
    Where the answer costs products with other kernels it is looked for once, when it may well be
    yes.
    """

    def __init__(self, problem: Problem, engine: Engine, weights: np.ndarray, tol: float):
        self._problem, self._engine, self._weights, self._tol = problem, engine, weights, tol
        self._asks = engine.pairs_are_costly and engine.seen.guesses  # moves are few and expensive

    def __call__(self, inner_gap: float) -> bool:
        known = self._engine.knows_outputs
        if inner_gap > (1.0 if known else MAY_DO) * self._tol or not (known or self._asks):
            return False
        self._asks = False
        return certified(self._problem, self._engine, self._weights).gap <= self._tol


def train_at_once(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> Result | None:
    """Improve all alphas at once, with given weights, shape (M,); None where that will not do."""
    if engine.n <= plan.working_set:
        return None
    if plan.conjugate and multiplies(engine, problem.term):
        return conjugate_gradients(problem, engine, weights, history)
    if plan.newton_cg and engine.multiplies_linearly:
        return newton_cg(problem, engine, weights, history)
    return None


def train(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> Result:
    """Improve alpha and the weights, shape (M,), until the history is finished.

    The engine starts at any feasible alpha, and ends at that of the result.
    """
    if plan.step is None:
        return train_given(problem, engine, weights, plan, history)
    at_once = plan.joint and engine.n > plan.working_set and engine.multiplies
    if at_once and engine.separates and (result := joint_gradients(problem, engine, history)):
        return result
    sets = WorkingSets(problem, engine, plan.working_set, history)
    step, every_kernel = plan.make_step(problem.norm), EveryKernel(problem.norm)
    share = 0.0 if engine.keeps_outputs else INNER_SHARE
    accuracy = None if plan.pace is None else Accuracy(plan.pace, history.tol, share)
    good, inner_plan = GOOD_WEIGHTS * history.tol, plan.inner

    def solve_inner(theta: np.ndarray) -> Turn:
        tol = history.tol if accuracy is None else accuracy.gap
        inner = history.inner(tol, INNER_TURNS, fall=INNER_FALL)
        inner.patience = INNER_PATIENCE
        inner.enough = Solved(problem, engine, theta, history.tol)
        train_given(problem.given(theta), engine, theta, inner_plan, inner)
        history.stuck_inner = 0 if inner.converged or inner.spent else history.stuck_inner + 1
        return Turn.of(sets, theta, solve_inner)

    turn, turns = Turn.of(sets, weights, solve_inner), 0
    while True:
        if accuracy is None and turns:  # a start may be a solution
            weights = step(turn)
        certificate = sets.certify(weights, turn.s)
        history.add(certificate, weights, turns, engine.alpha)
        if history.finished(engine):
            return history.result(certificate, engine.alpha, weights)
        if accuracy is None:
            sets.advance(weights, shrink=False, wanted=history.tol / certificate.gap)
            turn = Turn.of(sets, weights, solve_inner)
        else:
            if problem.nothing_to_learn(turn.value):  # is that so at all weights?
                weights = every_kernel.weights(turn.s)
            elif turns and (excess := turn.excess(problem.norm, certificate)) <= good:
                accuracy.leave(excess)
            elif turns:
                accuracy.follow(turn, weights := step(turn), certificate.gap)
            turn = solve_inner(weights)
        turns = 1


def train_given(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> Result:
    """Improve alpha under given weights, shape (M,), until the history is finished."""
    if (result := train_at_once(problem, engine, weights, plan, history)) is not None:
        return result
    sets, turns = WorkingSets(problem, engine, plan.working_set, history), 0
    while True:
        certificate = sets.certify(weights)
        history.add(certificate, weights, turns, engine.alpha)
        if history.finished(engine):
            return history.result(certificate, engine.alpha, weights)
        sets.advance(weights, shrink=True, wanted=history.tol / certificate.gap)
        turns = 1
