"""Working sets: the problem restricted to the worst KKT violators is solved again and again.

This is the decomposition method of Joachims (1999), called chunking in Sonnenburg et al. (2006).

Inside a working set, sequential minimal optimisation (SMO) solves most problems quickly. If the
kernel is ill-conditioned (columns of different scale, large C, weights far apart) it may take
millions of steps. So after a bounded number of SMO steps another method takes over whose work
hardly depends on the condition number: interior points, or Newton's method on the primal for
the logistic and the smooth hinge loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ...common.core import _core
from ...engines.base import Engine
from ...problem.problem import Problem
from ..certifier import Certifier
from ..result import Result
from ..run import Run
from .interior_points import interior_points
from .margin_newton import margin_newton
from .pauses import Pauses
from .subproblem import Subproblem
from .violations import Violations, strictly_inside

TINY = np.finfo(float).tiny
SUM_ROUNDING = 1e-12  # tolerated error of sum_i alpha_i, relative to sum_i |alpha_i|


@dataclass(frozen=True)
class WorkingSetTuning:
    """Constants of the decomposition method. KKT violations are relative to the largest one.

    Attributes
    ----------
    cached_end : if all kernel values are cached, a subproblem is solved to this fraction of the
        violation that the tolerance requires, since SMO steps are then cheaper than another working
        set.
    least_sets, support_per_set : if new weights cost a pass over the support vectors, up to one
        working set per `support_per_set` support vectors, or up to `least_sets` if that is more,
        are solved between two weight steps.
    smo_per_example, least_smo : SMO steps before the other method takes over: the first number for
        each example of the working set, plus the second.
    passes : number of times that working sets of one size contain each example on average before
        their size is doubled. Well-conditioned problems need fewer passes.
    """

    cached_end: float = 0.1
    least_sets: int = 4
    support_per_set: int = 1000
    smo_per_example: int = 50
    least_smo: int = 1000
    passes: int = 20


@dataclass(frozen=True)
class WorkingSets:
    """The decomposition method: SMO on one working set after the other; a component of a `Plan`.

    Parameters
    ----------
    size : int
        Number of examples in a working set.
    free_weights : bool
        Whether new kernel weights cost no kernel evaluation: then every working set may be followed
        by a weight step.
    cached_values : bool
        Whether all kernel values are cached.
    accuracy : float
        Violation to which a subproblem is solved, relative to the largest one.
    largest : int
        Size up to which working sets are doubled if many of them are not enough.
    """

    size: int
    free_weights: bool = field(default=True, repr=False)
    cached_values: bool = field(default=False, repr=False)
    accuracy: float = field(default=0.1, repr=False)
    largest: int = field(default=0, repr=False)
    tuning: WorkingSetTuning = field(default=WorkingSetTuning(), repr=False)

    def begin(self, problem: Problem, engine: Engine, run: Run) -> Decomposition:
        """Return the decomposition method, started from the alpha of an engine."""
        return Decomposition(problem, engine, self, run)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        method, iterations = self.begin(problem, engine, run), 0
        while True:
            certificate = method.certify(weights)
            run.record(certificate, weights, iterations, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)
            method.advance(weights, all_active=True, wanted=run.tol / certificate.gap)
            iterations = 1


class Decomposition(Certifier):
    """A problem and an engine whose alpha is improved working set by working set.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the examples and alpha.
    plan : WorkingSets
        Size of the working sets and accuracy of their solutions.
    run : Run
        Has the time limit and the observer.

    Attributes
    ----------
    F : ndarray of shape (n,)
        Combined outputs of the last `certify`.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        plan: WorkingSets,
        run: Run,
    ):
        super().__init__(problem, engine)
        self.plan, self.run, self.tuning = plan, run, plan.tuning
        every = np.arange(engine.n)
        self._work = [every[part] for part in problem.output_slices]  # last set of each output
        self._sizes = [
            GrowingSize(plan.size, plan.largest, plan.tuning.passes * len(work))
            for work in self._work
        ]
        self._pauses = Pauses()

    def violations(self, output: int = 0) -> Violations:
        """Return the KKT violations of the examples of an output."""
        part = self.problem.output_slices[output]
        term = self.problem.risk.per_output[output].term
        fixed_sum = self.problem.risk.has_intercept
        found = Violations(term, self.engine.alpha[part], self.F[part], fixed_sum=fixed_sum)
        if np.isnan(found.size):
            raise FloatingPointError("outputs are not finite")
        return found

    def advance(self, weights: np.ndarray, *, all_active: bool, wanted: float) -> None:
        """Solve a working set of each output that is far from its optimum.

        Parameters
        ----------
        weights : ndarray of shape (M,)
        all_active : bool
            Whether the working set consists of all examples that may leave their bounds, if kernel
            values are cached and these examples fit.
        wanted : float
            Gap to reach, relative to the present one. The violation falls with the gap.
        """
        outputs = [self.violations(output) for output in range(self.problem.n_outputs)]
        target = self.plan.accuracy * max(violations.size for violations in outputs)
        for output, violations in enumerate(outputs):
            if violations.size <= target:
                continue
            active = np.flatnonzero(~violations.stay_bounded(violations.size))
            if all_active and self.plan.cached_values and len(active) <= self.plan.size:
                work = self.problem.output_slices[output].start + active
                goal = min(self.plan.accuracy, self.tuning.cached_end * wanted)
                alpha = self._solved(work, goal * violations.size, weights, output)
                self.assign(work, alpha, weights)
            else:
                self._improve(violations, target, self._sets_per_step, weights, output)

    @property
    def _sets_per_step(self) -> int:
        if self.plan.free_weights:
            return 1
        support = int(np.count_nonzero(self.engine.alpha))
        return max(self.tuning.least_sets, support // self.tuning.support_per_set)

    def _improve(
        self, violations: Violations, target: float, sets: int, weights: np.ndarray, output: int
    ) -> None:
        """Solve at most `sets` working sets of an output, until its violation is below a target.

        At least one is solved, even after the time limit.
        """
        first = self.problem.output_slices[output].start
        while True:
            last = self._work[output]
            free = last[strictly_inside(self.problem.term, self.engine.alpha, last)]
            size = min(self._sizes[output].next(), len(violations))
            work = first + violations.select(size, free - first)
            goal = self.plan.accuracy * violations.size
            self.assign(work, self._solved(work, goal, weights, output), weights)
            sets -= 1
            if sets == 0 or self.run.budget.out_of_time:
                return
            self.F = self.engine.combined(weights)
            violations = self.violations(output)
            if violations.size <= target:
                return

    def _solved(
        self, work: np.ndarray, tolerance: float, weights: np.ndarray, output: int
    ) -> np.ndarray:
        """Return alphas of an output's working set, shape (q,), optimal up to a KKT violation."""
        kernel = self.engine.block(work, weights, exact=False)
        term, alpha = self.problem.term.take(work), self.engine.alpha[work]
        single = self.engine.single_precision
        exact_kernel = partial(self.engine.block, work, weights) if single else None
        fixed_sum = self.problem.risk.has_intercept
        subproblem = Subproblem(kernel, term, alpha, self.F[work], exact_kernel, fixed_sum)
        self._work[output] = work
        late = lambda: self.run.budget.out_of_time  # noqa: E731
        alpha = solve_subproblem(subproblem, tolerance, late, self.tuning, self._pauses)
        return self._balanced(work, alpha, output)

    def _balanced(self, work: np.ndarray, alpha: np.ndarray, output: int) -> np.ndarray:
        """Return new alphas of a working set, corrected so that the sum over the output is tau.

        If alphas decrease by many orders of magnitude, the rounding error of the old sum is large
        relative to the new alphas. The alpha that is farthest from its bound is changed by the
        difference.
        """
        if self.problem.tau is None:
            return alpha
        everyone = self.engine.alpha[self.problem.output_slices[output]]
        total = everyone.sum() - self.engine.alpha[work].sum() + alpha.sum()
        missed = self.problem.tau - float(total)
        size = float(np.abs(everyone).sum() + np.abs(alpha).sum())
        if abs(missed) <= SUM_ROUNDING * size:
            return alpha
        term = self.problem.term.take(work)
        room = (term.hi if missed > 0 else -term.lo) - np.sign(missed) * alpha
        most, balanced = int(room.argmax()), alpha.copy()
        balanced[most] = np.clip(alpha[most] + missed, term.lo[most], term.hi[most])
        return balanced

    def assign(self, idx: np.ndarray, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Set the alphas of the examples idx, and notify the observer."""
        changed = np.flatnonzero(alpha != self.engine.alpha[idx])
        self.engine.change(idx[changed], alpha[changed])
        self.run.notify(self.engine.alpha, weights)


class GrowingSize:
    """Size of the working sets of an output: doubled whenever sets of one size were not enough.

    Sets of two examples may need millions of steps if the kernel is ill-conditioned.

    Parameters
    ----------
    size, largest : int
        First size, and size that is not doubled.
    examples : int
        Number of examples that the sets of one size contain together, repeats included.
    """

    def __init__(self, size: int, largest: int, examples: int):
        self._size, self._largest = size, max(size, largest)
        self._left = self._examples = examples

    def next(self) -> int:
        """Return the size of the next working set."""
        if self._left < self._size:
            self._size, self._left = min(2 * self._size, self._largest), self._examples
        self._left -= self._size
        return self._size


def solve_subproblem(
    problem: Subproblem,
    tolerance: float,
    late: Callable[[], bool] = lambda: False,
    tuning: WorkingSetTuning = WorkingSetTuning(),
    pauses: Pauses | None = None,
) -> np.ndarray:
    """Return alphas of a working set, shape (q,), with a KKT violation of at most `tolerance`.

    The violation may be larger if `late` returns True (the time limit is reached), because of
    rounding, or if the method that takes over from SMO is paused (`Pauses`).
    """
    most = tuning.smo_per_example * len(problem.alpha) + tuning.least_smo
    pairs = problem.with_free_alpha()
    alpha, F, parts = pairs.alpha.copy(), pairs.F.copy(), pairs.term.arrays
    _, violation = _core.solve_pairs(pairs.kernel, *parts, tolerance, most, alpha, F)
    alpha = alpha[: len(problem.alpha)]
    if not violation > tolerance or late() or (pauses is not None and not pauses.is_over()):
        return alpha
    method = margin_newton if problem.term.ent.any() else interior_points
    before = problem.exact().after(alpha)
    found = _without_smo(before, tolerance, method, late)
    if pauses is not None:
        pauses.note(found is not before)
    return found.alpha


def _without_smo(
    problem: Subproblem,
    tolerance: float,
    method: Callable[[Subproblem], Iterator[np.ndarray]],
    late: Callable[[], bool],
) -> Subproblem:
    """Return the iterate of a method with the smallest violation.

    An iterate is only accepted if it raises the dual value. Rounding alphas to their bounds may
    leave a small KKT violation far from the optimum.
    """
    live = np.flatnonzero(problem.term.hi > problem.term.lo)
    best, lowest = problem, problem.violation
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for part in method(problem.part(live)):
            alpha = problem.alpha.copy()
            alpha[live] = part
            found = problem.after(alpha)
            violation = found.violation
            if violation < lowest and problem.gain(found) > 0:
                best, lowest = found, violation
            if lowest <= tolerance or late():
                break
    return best
