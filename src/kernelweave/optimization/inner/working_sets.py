"""How alpha is improved: the problem restricted to the worst examples is solved, again and again.

This is the decomposition method of Joachims (1999), called chunking in Sonnenburg et al. (2006).

Inside a working set, steps on pairs of examples (sequential minimal optimisation) solve most
problems quickly. Where the kernel is ill-conditioned (columns that differ in scale, large C,
weights far apart) they may take millions of steps. So after a bounded number of pairs a method
takes over whose work hardly depends on the condition number: interior points, or Newton's method on
the primal where dual terms have entropies. Its alphas are nearly optimal, and pairs do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...common.core import _core
from ...engines.base import Engine
from ...problem.problem import Certificate, Problem
from ..history import History
from ..observers import of_examples
from .interior_points import interior_points
from .margin_newton import margin_newton
from .subproblem import Subproblem
from .violations import Violations, strictly_inside

# A subproblem is solved to this part of the violation that the turn starts from. With many kernels
# a changed alpha is expensive, and less exact subproblems change fewer of them.
PRECISION_ONE_KERNEL, PRECISION_MANY_KERNELS = 0.1, 0.3
# With all values at hand another turn costs more than more pairs, and what a turn leaves counts
# tenfold at the next cost of a path. With given weights all examples in question are solved for at
# once, to this part of the violation, and well below what is wanted.
PRECISION_BETWEEN_STEPS, PRECISION_OF_VALUES, WELL_BELOW = 0.03, 1e-3, 0.1
IN_QUESTION = 0.3  # of the violation: by how much an example at a bound agrees that is left out
SHRINK_BELOW = 0.5  # part of the examples still in question at which the others are set aside
SHRUNK_FALL = 0.3  # part of its violation to which a shrunk problem is solved,
SHRUNK_END = 0.9  # or part of the violation that the tolerance asks for, if that comes first
SHRUNK_TURNS = 100  # working sets after which the examples set aside are looked at in any case
# Where new weights cost a pass over the support, this many working sets at least lie between two
# weight steps, and about as many as take the time of that pass.
LEAST_TURNS_PER_STEP, EXAMPLES_PER_TURN = 4, 1000
PAIRS_PER_EXAMPLE = 50  # they take about as long as the method after them
FEW_PAIRS = 1000  # that are always tried
ROUNDS = 3  # of pairs, and of the method that takes over
SUM_ROUNDING = 1e-12  # by how much a sum of alphas may be missed, relative to their sizes
TINY = np.finfo(float).tiny


class WorkingSets:
    """A problem and an engine whose alpha is improved working set by working set.

    Parameters
    ----------
    problem : what is solved.
    engine : holds the examples and alpha.
    size : number of examples in a working set.
    history : is told of every change of alpha, and knows when time is up.

    Attributes
    ----------
    F : array of shape (n,)
        The combined outputs of the last `certify`.
    """

    def __init__(self, problem: Problem, engine: Engine, size: int, history: History):
        self.problem, self.engine, self.size, self.history = problem, engine, size, history
        every = np.arange(engine.n)
        self._work = [every[part] for part in problem.output_slices]  # last set of each output
        self._certified: tuple[np.ndarray, np.ndarray, Certificate] | None = None  # s and weights

    def certify(self, weights: np.ndarray, s: np.ndarray | None = None) -> Certificate:
        """Certify the model of alpha and weights, shape (M,), with the energies s, (M,), if known.

        Its combined outputs are kept.
        """
        s = energies(self.problem, self.engine) if s is None else s
        if self._certified is None or not (
            self._certified[0] is s and np.array_equal(self._certified[1], weights)
        ):
            self.F = self.engine.combined(weights)
            certificate = self.problem.certificate(self.engine.alpha, self.F, s, weights)
            self._certified = s, weights, certificate
        return self._certified[2]

    def primal(self, weights: np.ndarray, s: np.ndarray) -> float:
        """Return the primal value with these weights; a block norm puts better ones in its own."""
        own = self.problem.norm.regularizer(weights, s)
        return self.certify(weights, s).primal + 0.5 * (float(weights @ s) - own)

    def violations(self, output: int = 0) -> Violations:
        """Return how far each alpha of an output is from where it should be."""
        part = self.problem.output_slices[output]
        term = self.problem.per_output[output].term
        found = Violations(term, self.engine.alpha[part], self.F[part])
        if np.isnan(found.size):
            raise FloatingPointError("outputs are not finite")
        return found

    def advance(self, weights: np.ndarray, *, shrink: bool, wanted: float) -> None:
        """Work on the outputs that are furthest from their optimum, on a working set of each.

        Parameters
        ----------
        shrink : whether examples that stay at their bounds may be set aside for a while.
        wanted : the gap to reach, relative to the present one. It falls with the violation.
        """
        outputs = [self.violations(output) for output in range(self.problem.n_outputs)]
        target = self._precision * max(violations.size for violations in outputs)
        for output, violations in enumerate(outputs):
            if violations.size <= target:
                continue
            slack = IN_QUESTION if self.engine.keeps_values else 1.0  # to read fewer of them
            active = np.flatnonzero(~violations.settled(slack * violations.size))
            if shrink and self.engine.keeps_values and len(active) <= self.size:
                work = self.problem.output_slices[output].start + active
                goal = min(PRECISION_OF_VALUES, WELL_BELOW * wanted) * violations.size
                self.assign(work, self._solved(work, goal, weights, output), weights)
            elif shrink and self.size < len(active) <= SHRINK_BELOW * len(violations.up):
                goal = max(SHRUNK_FALL, SHRUNK_END * wanted) * violations.size
                self._improve_shrunk(active, goal, weights, output)
            else:
                self._improve(violations, target, self._turns_per_step, weights, output)

    @property
    def _precision(self) -> float:
        return PRECISION_ONE_KERNEL if self.engine.n_kernels == 1 else PRECISION_MANY_KERNELS

    @property
    def _turns_per_step(self) -> int:
        if self.engine.keeps_outputs:
            return 1
        support = int(np.count_nonzero(self.engine.alpha))
        return max(LEAST_TURNS_PER_STEP, support // EXAMPLES_PER_TURN)

    def _improve(
        self, violations: Violations, target: float, turns: int, weights: np.ndarray, output: int
    ) -> None:
        """Solve the problem of an output restricted to its worst examples, again and again.

        At most `turns` times, until its violation is `target`; at least once, however late it is.
        """
        first = self.problem.output_slices[output].start
        while True:
            last = self._work[output]
            free = last[strictly_inside(self.problem.term, self.engine.alpha, last)]
            work = first + violations.select(min(self.size, len(violations.up)), free - first)
            part = PRECISION_BETWEEN_STEPS if self.engine.keeps_values else self._precision
            goal = part * violations.size
            self.assign(work, self._solved(work, goal, weights, output), weights)
            turns -= 1
            if turns == 0 or self.history.out_of_time:
                return
            self.F = self.engine.combined(weights)
            violations = self.violations(output)
            if violations.size <= target:
                return

    def _solved(
        self, work: np.ndarray, tolerance: float, weights: np.ndarray, output: int
    ) -> np.ndarray:
        """Return the best alphas of the working set of an output, (q,), up to a violation."""
        kernel = self.engine.block(work, weights, exact=False)
        term, alpha = self.problem.term.take(work), self.engine.alpha[work]
        rough = self.engine.rough and not self.engine.far
        anew = partial(self.engine.block, work, weights) if rough else None
        subproblem = Subproblem(kernel, term, alpha, self.F[work], anew)
        self._work[output] = work
        alpha = solve_subproblem(subproblem, tolerance, lambda: self.history.out_of_time)
        return self._balanced(work, alpha, output)

    def _balanced(self, work: np.ndarray, alpha: np.ndarray, output: int) -> np.ndarray:
        """Return new alphas of a working set, with which those of the output have their sum again.

        Each is right but for rounding. Where alphas shrink by many orders of magnitude, rounding of
        large ones is much to small ones: the one that has most room takes the difference.
        """
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
        """Give the examples idx new alphas, and tell the history."""
        changed = np.flatnonzero(alpha != self.engine.alpha[idx])
        self.engine.change(idx[changed], alpha[changed])
        self.history.tell(self.engine.alpha, weights)

    def _improve_shrunk(
        self, active: np.ndarray, target: float, weights: np.ndarray, output: int
    ) -> None:
        """Work on some examples of an output, with its others set aside, down to a violation.

        The weights stay as they are. The outputs of the others are brought up to date at the end,
        each changed alpha being told once, and the next certificate checks them all.
        """
        part, alpha = self.problem.output_slices[output], self.engine.alpha
        active = active + part.start
        set_aside = float(alpha[part].sum() - alpha[active].sum())
        problem = self.problem.restricted(active, self.problem.tau - set_aside)
        observe = of_examples(self.history.observe, active, alpha)
        observed = self.history.inner(self.history.tol, observe=observe)
        small = WorkingSets(problem, self.engine.subset(active), self.size, observed)
        small.F = small.engine.combined(weights)
        small._improve(small.violations(), target, SHRUNK_TURNS, weights, 0)
        self.assign(active, small.engine.alpha, weights)


def solve_subproblem(
    problem: Subproblem, tolerance: float, late: Callable[[], bool] = lambda: False
) -> np.ndarray:
    """Return the best alphas of a working set, shape (q,), up to a violation if possible.

    Where `late` says so, what has been found until then.
    """
    method = margin_newton if problem.term.ent.any() else interior_points
    most, start = PAIRS_PER_EXAMPLE * len(problem.alpha) + FEW_PAIRS, problem
    for _ in range(ROUNDS):
        alpha, F, parts = problem.alpha.copy(), problem.F.copy(), problem.term.arrays
        _, violation = _core.solve_pairs(problem.kernel, *parts, tolerance, most, alpha, F)
        problem = replace(problem, alpha=alpha, F=F)
        if not violation > tolerance or late():
            break
        if problem.anew is not None:
            problem = start.exact().after(problem.alpha)
        found = _without_pairs(problem, tolerance, method, late)
        if found is problem:
            break
        problem = found
    return problem.alpha


def _without_pairs(
    problem: Subproblem,
    tolerance: float,
    method: Callable[[Subproblem], Iterator[np.ndarray]],
    late: Callable[[], bool],
) -> Subproblem:
    """Return the best of what a method finds before it reaches the tolerance.

    Alphas near a bound that are moved to it may violate the KKT conditions little and yet be far
    from the optimum: alphas are only taken if they raise the dual value.
    """
    live = np.flatnonzero(problem.term.hi > problem.term.lo)
    best, lowest = problem, problem.violation
    # Values that are not finite are not taken.
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


def energies(problem: Problem, engine: Engine) -> np.ndarray:
    """Return s, shape (M,), of the alpha of an engine.

    A norm that leaves no choice asks for its sum under the given weights only, which combined
    outputs tell: s is spread evenly.
    """
    norm = problem.norm
    if not norm.is_given:
        return engine.quadratic()
    given = norm.best(np.zeros(engine.n_kernels))
    total = float(engine.alpha @ engine.combined(given))
    return np.full(len(given), total / max(given.sum(), TINY))


def certified(problem: Problem, engine: Engine, weights: np.ndarray) -> Certificate:
    """Certify the alpha of an engine with weights, shape (M,)."""
    s, F = energies(problem, engine), engine.combined(weights)
    return problem.certificate(engine.alpha, F, s, weights)
