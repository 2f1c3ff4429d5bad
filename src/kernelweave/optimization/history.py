"""The history of a solver: its certified models, the clock, the budget, and the result.

One history goes with a fit. Problems that are solved on the way have histories of their own
(`inner`), which share its clock and its observer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..common.core import Work
from ..engines.base import Engine
from ..problem.problem import Certificate
from ..problem.rounding import rounding
from .best_model import BestModel
from .observers import Observer, placed

STUCK_TURNS = 300  # turns without progress after which rounding is taken to be the limit,
STUCK_INNER = 3  # or inner problems in a row that ended in this way
DUAL_ROUNDING = 1e-9  # a change of the dual value that is no progress, relative to the largest
NO_PROGRESS = 1e-3  # a relative change of a gap that is none,
SLOW_PROGRESS = 0.5  # or too little for half of all turns: so many more would bring as little
# Where rounding may be at least this part of the gap, values say little: fewer turns that bring
# less than half are enough.
NOISE, NOISY_TURNS, NOISY_PROGRESS = 0.25, 10, 0.5
ZERO_OBJECTIVE = 1e-15  # what is left of an objective whose optimum is 0, relative to the largest
ROUNDING = 1e-12  # part of the primal value beyond which no inner problem is solved
TINY = np.finfo(float).tiny


@dataclass(frozen=True, kw_only=True, eq=False)
class Progress(Certificate):
    """The state of a solver after some seconds; weights has shape (M,).

    `phase` names what the solver was doing. In single precision the last digits of values are not
    certain; the last entry of a history never is of such a phase. `pairs` says how many pairs of
    examples the engine has evaluated until then, samples included, for each kind of work.
    """

    seconds: float
    weights: np.ndarray
    phase: str = "double precision"
    pairs: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(Certificate):
    """What every solver returns: a certified model and how it came about.

    Attributes
    ----------
    alpha : signed dual variables, shape (n,).
    weights : the kernel weights theta, shape (M,).
    n_iter : turns of the solver's outer loop.
    history : the certified models that led to it, oldest first.
    converged : whether the gap reached the tolerance that was asked for, whatever rounding did.
    late : whether time ran out before it did.
    optimality : the (eps1, eps2) that the support kernel machine reached, see `solvers.optimality`.
    doubt : how far rounding may have moved the gap.
    """

    alpha: np.ndarray
    weights: np.ndarray
    n_iter: int
    history: Sequence[Progress]
    converged: bool
    late: bool = False
    optimality: tuple[float, float] | None = None
    doubt: float = 0.0

    def moved(self, centre: Any) -> Result:
        """Return the result for targets to which a number was added, or one for each output."""
        history = [replace(past, bias=past.bias + centre) for past in self.history]
        return replace(self, bias=self.bias + centre, history=history) if np.any(centre) else self

    def spread(self, kernels: np.ndarray, M: int) -> Result:
        """Return the result for M kernels, of which only some were learned with.

        `kernels` are their positions; if this is a result for their sum, each has its weight.
        """
        if len(self.weights) == M:
            return self
        history = [replace(past, weights=placed(past.weights, kernels, M)) for past in self.history]
        return replace(self, weights=placed(self.weights, kernels, M), history=history)


class History:
    """What a solver has reached so far, and when it has to stop.

    Parameters
    ----------
    tol : relative duality gap at which to stop.
    max_iter : bound on the number of turns, or None.
    deadline : when to stop, in the time of `time.monotonic`.
    watch : is told of every entry, or None.
    observe : is told alpha, (n,), and the weights, (M,), whenever they have changed, or None.

    Attributes
    ----------
    entries : list of Progress
        The certified models, oldest first.
    n_iter : int
        Number of turns.
    patience : int
        Turns without progress after which it is stuck.
    stuck_inner : int
        Number of inner problems, the last ones in a row, that got stuck.
    phase : str
        What is noted of each entry: what the solver is doing.
    work : Work
        What the engine has evaluated, which is noted as well.
    enough : callable
        Says of the gap of the last model whether it will do, though it is above `tol`: a problem
        that is solved on the way may have served its purpose.
    best : BestModel or None
        Is told of every entry that comes with its alpha.
    """

    phase = "double precision"

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int | None = None,
        deadline: float = np.inf,
        *,
        watch: Callable[[Progress], None] | None = None,
        observe: Observer | None = None,
    ):
        self.tol, self.max_iter = tol, max_iter
        self.watch, self.observe = watch, observe
        self.entries: list[Progress] = []
        self.n_iter = 0
        self.deadline, self.work = deadline, Work()
        self._started = time.monotonic()
        self._fall = 1.0
        self.patience, self.stuck_inner = STUCK_TURNS, 0
        self._sizes: np.ndarray | None = None  # largest value of each kernel
        self.enough: Callable[[float], bool] = lambda gap: False
        self.best: BestModel | None = None

    def inner(
        self,
        tol: float,
        max_iter: int | None = None,
        *,
        fall: float = 1.0,
        observe: Observer | None = None,
    ) -> History:
        """Return the history of a problem that is solved on the way.

        Its gap has to fall to the part `fall` of what it is at the start, too. `observe` is told of
        its alpha and weights; by default that is the observer of this history.
        """
        other = History(tol, max_iter, self.deadline, observe=observe or self.observe)
        other._started, other._fall, other.work = self._started, fall, self.work
        return other

    def absorb(self, other: History) -> None:
        """Note the history of the same problem with rougher values, but for its end.

        The last model is to be certified anew.
        """
        self.entries.extend(other.entries[:-1])
        self.n_iter += other.n_iter

    def add(
        self,
        certificate: Certificate,
        weights: np.ndarray,
        turns: int = 1,
        alpha: np.ndarray | None = None,
    ) -> None:
        """Note a certified model with weights, shape (M,), that took some turns.

        With its alpha, shape (n,), it may be the one that a fit ends with. Values that are no
        numbers are a FloatingPointError, since no turn would mend that.
        """
        if not certificate.finite:
            raise FloatingPointError("the objective is not finite")
        seconds = time.monotonic() - self._started
        progress = Progress(
            **vars(certificate),
            seconds=seconds,
            weights=weights.copy(),
            phase=self.phase,
            pairs=dict(self.work.pairs),
        )
        if not self.entries and self._fall < 1:
            least = ROUNDING * abs(certificate.primal) / max(certificate.scale, TINY)
            self.tol = max(min(self.tol, self._fall * certificate.gap), least)
        self.entries.append(progress)
        self.n_iter += turns
        if self.best is not None and alpha is not None:
            self.best.note(certificate, alpha, weights)
        if self.watch is not None:
            self.watch(progress)

    def tell(self, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Tell the observer, if there is one, of alpha, shape (n,), and weights, shape (M,)."""
        if self.observe is not None:
            self.observe(alpha, weights)

    @property
    def turns_left(self) -> int | None:
        """The number of turns that are left, or None."""
        return None if self.max_iter is None else max(self.max_iter - self.n_iter, 0)

    @property
    def out_of_time(self) -> bool:
        """Whether the time is used up."""
        return time.monotonic() >= self.deadline

    @property
    def spent(self) -> bool:
        """Whether no turn or no time is left."""
        return self.turns_left == 0 or self.out_of_time

    @property
    def converged(self) -> bool:
        """Whether the last model has the gap that was asked for."""
        return self.entries[-1].gap <= self.tol

    def finished(self, engine: Engine) -> bool:
        """Return whether the last model, whose alpha an engine holds, is the end."""
        return self.converged or self.spent or self.stuck(engine)

    def stuck(self, engine: Engine) -> bool:
        """Return whether the last model, whose alpha an engine holds, is the best to be had.

        So it is where many turns brought nothing, or some and rounding may be most of the gap, or
        where all is 0.
        """
        if self.vanished or self.stuck_inner >= STUCK_INNER:
            return True
        if self._idle(self.patience, NO_PROGRESS):
            return True
        half = len(self.entries) // 2
        if half > self.patience and self._idle(half, SLOW_PROGRESS):
            return True
        return self._idle(NOISY_TURNS, NOISY_PROGRESS) and self._noisy(engine)

    def _noisy(self, engine: Engine) -> bool:
        """Return whether rounding may be most of the gap of the last model."""
        if self._sizes is None:
            self._sizes = engine.largest_values
        last = self.entries[-1]
        moved = rounding(engine.alpha, last.weights, self._sizes, last.scale)
        return bool(NOISE * last.gap <= moved)

    def _idle(self, turns: int, slight: float) -> bool:
        """Return whether for some turns the gap has fallen slightly at most, nor best values met.

        Values are compared with the largest one, since the optimum may be 0. A dual value may go on
        rising, by next to nothing of what is missing.
        """
        if len(self.entries) <= turns:
            return False
        before, lately = self.entries[:-turns], self.entries[-turns:]
        if min(past.gap for past in lately) < (1 - slight) * min(past.gap for past in before):
            return False
        largest = max((abs(past.dual) for past in before if np.isfinite(past.dual)), default=0.0)
        missing = apart(before)
        if not np.isfinite(missing):  # no alpha has been feasible, but for rounding
            return not np.isfinite(apart(self.entries))
        if missing <= 0:  # a dual value above a primal one is rounding, and so is its rise
            return True
        return missing - apart(self.entries) <= max(slight * missing, DUAL_ROUNDING * largest)

    @property
    def vanished(self) -> bool:
        """Whether both objectives are 0 but for rounding, as those of one class may be.

        A dual value above 0 is progress: with a large C the optimum is small next to the start.
        """
        last, largest = self.entries[-1], max(abs(past.primal) for past in self.entries)
        size = max(abs(last.primal), abs(last.dual))
        return last.dual < 0 and size <= ZERO_OBJECTIVE * largest

    def result(self, certificate: Certificate, alpha: np.ndarray, weights: np.ndarray) -> Result:
        """Return a certified model with alpha, shape (n,), and weights, shape (M,)."""
        return Result(
            **vars(certificate),
            alpha=alpha.copy(),
            weights=weights,
            n_iter=self.n_iter,
            history=self.entries,
            converged=certificate.gap <= self.tol,
            late=self.out_of_time and not certificate.gap <= self.tol,
        )


def apart(entries: list[Progress]) -> float:
    """Return how far the best primal value is above the best dual value."""
    return min(past.primal for past in entries) - max(past.dual for past in entries)
