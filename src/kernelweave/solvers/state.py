"""Where a solver is, and how it gets on: working sets of the worst examples, solved exactly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from ..losses import DualTerm
from ..norms.kinds import is_given
from ..problem import Certificate
from ..steps.base import Step, Turn
from ..steps.curvature import curvature
from .pairs import solve_subproblem
from .subproblem import Subproblem
from .task import Task
from .working_set import Violations

# A subproblem is solved to this part of the violation that the turn starts from. With many kernels
# a changed alpha is dear, and less exact subproblems change fewer of them.
INNER_ONE, INNER_MANY = 0.1, 0.3
SHRINK = 0.5  # examples are set aside when at most this part of them is still in question
FOCUS = 0.3  # and looked at again when the violation of the others has fallen to this part,
NEAR_END = 0.9  # or to this part of what the tolerance asks for, if that comes first
MOST_FREE = 1200  # examples that a second derivative is made of
FOCUSED_TURNS = 100  # working sets before the examples set aside are looked at in any case
TINY = np.finfo(float).tiny


class State:
    """alpha, theta and what the engine says of them.

    Attributes
    ----------
    alpha, theta : arrays of shape (n,) and (M,)
    s, F : arrays of shape (M,) and (n,)
        alpha' K_m alpha and the combined outputs, as of the last `view` and `certify`.
    """

    def __init__(self, task: Task):
        self.task, self.problem, self.engine = task, task.problem, task.engine
        self.alpha, self.theta = task.alpha.copy(), task.theta.copy()
        every = np.arange(self.engine.n)
        self.work = [every[part] for part in self.problem.parts]  # each machine's last working set
        none = (np.empty(0), np.empty((0, 0)))
        self.kernel = [none] * self.problem.machines  # the weights and the kernel of that set

    def refresh(self, step: Step) -> Certificate:
        """Take a weight step and certify the model."""
        self.theta = step(self.view())
        return self.certify()

    def view(self) -> Turn:
        """Take s from the engine, and describe this state for a weight step."""
        self.s = self._energies()
        if not np.isfinite(self.s).all():
            raise FloatingPointError("alpha' K alpha is not finite")
        linear = -float(self.problem.term.conjugate(self.alpha).sum())
        primal = cache(self._primal)  # steps within steps ask for it again
        return Turn(self.theta, self.s, linear, primal, self.curvature, tol=self.task.tol)

    def _energies(self) -> np.ndarray:
        """Return alpha' K_m alpha, shape (M,).

        Where weights are given nobody asks for more than its sum under them, which outputs tell.
        """
        if not is_given(self.problem.norm):
            return self.engine.quadratic(self.alpha)
        energy = float(self.alpha @ self.engine.combined(self.theta))
        return np.full(len(self.theta), energy / max(self.theta.sum(), TINY))

    def certify(self) -> Certificate:
        """Certify the model as it is."""
        self.F = self.engine.combined(self.theta)
        return self.problem.certificate(self.alpha, self.F, self.s, self.theta)

    def _primal(self) -> float:
        """Return the primal value with these weights; a block norm puts better ones in its own."""
        own = self.problem.norm.regularizer(self.theta, self.s)
        return self.certify().primal + 0.5 * (float(self.theta @ self.s) - own)

    def curvature(self) -> np.ndarray:
        """Return the second derivative in theta, (M, M), of the value of the best machine."""
        bends = [self._bend(machine) for machine in range(self.problem.machines)]
        return np.sum(bends, axis=0)

    def _bend(self, machine: int) -> np.ndarray:
        """Return what one machine adds to the second derivative.

        All its free examples give way when weights change. Where there are too many, every k-th of
        them counts k times: bent too little, a model would send the weights to and fro.
        """
        free = np.arange(self.engine.n)[self.problem.parts[machine]]
        free = free[inside(self.problem.term, self.alpha, free)]
        times = 1 + len(free) // MOST_FREE
        free = free[::times]
        theta, kernel = self.kernel[machine]
        if theta is self.theta and np.isin(free, self.work[machine]).all():
            at = np.searchsorted(self.work[machine], free)
            kernel = kernel[np.ix_(at, at)]
        else:
            kernel = self.engine.block(free, self.theta)
        bend = self.problem.term.take(free).curvature(self.alpha[free])
        return times * curvature(kernel, bend, self.engine.rough_outputs(free))

    def free(self, machine: int) -> np.ndarray:
        """Return the examples of a machine's last working set that are between their bounds."""
        work = self.work[machine]
        return work[inside(self.problem.term, self.alpha, work)]

    def now(self) -> Task:
        """Return the task that is left from here."""
        return replace(self.task, alpha=self.alpha, theta=self.theta)

    @property
    def precision(self) -> float:
        """How exactly subproblems are solved, relative to the violation."""
        return INNER_ONE if self.engine.n_kernels == 1 else INNER_MANY

    def violations(self, machine: int = 0) -> Violations:
        """Return how far each alpha of a machine is from where it should be."""
        part = self.problem.parts[machine]
        found = Violations(self.problem.alone[machine].term, self.alpha[part], self.F[part])
        if np.isnan(found.size):
            raise FloatingPointError("outputs are not finite")
        return found

    def advance(self, shrink: bool, wanted: float) -> None:
        """Work on the machines that are furthest from their optimum, on a working set of each.

        `shrink`: whether examples that are settled may be set aside for a while;
        `wanted`: the gap that will do, relative to the present one. It falls with the violation.
        """
        machines = [self.violations(machine) for machine in range(self.problem.machines)]
        target = self.precision * max(violations.size for violations in machines)
        for machine, violations in enumerate(machines):
            if violations.size <= target:
                continue
            active = np.flatnonzero(~violations.settled(violations.size))
            if shrink and self.task.working_set < len(active) <= SHRINK * len(violations.up):
                self.focus(active, max(FOCUS, NEAR_END * wanted) * violations.size, machine)
            else:
                self.improve(violations, target, self.engine.turns_per_step, machine)

    def improve(self, violations: Violations, target: float, turns: int, machine: int = 0) -> None:
        """Solve subproblems of a machine, at most `turns`, until its violation is `target`.

        At least one, however late it is.
        """
        while True:
            self.solve_worst(violations, machine)
            turns -= 1
            if turns == 0 or self.task.late:
                return
            self.F = self.engine.combined(self.theta)
            violations = self.violations(machine)
            if violations.size <= target:
                return

    def solve_worst(self, violations: Violations, machine: int) -> None:
        """Solve a machine restricted to its worst examples."""
        first = self.problem.parts[machine].start
        q = min(self.task.working_set, len(violations.up))
        work = first + violations.select(q, self.free(machine) - first)
        kernel = self.engine.block(work, self.theta)
        term = self.problem.term.take(work)
        subproblem = Subproblem(kernel, term, self.alpha[work], self.F[work])
        tolerance = self.precision * violations.size
        alpha = solve_subproblem(subproblem, tolerance, lambda: self.task.late)
        self.work[machine], self.kernel[machine] = work, (self.theta, kernel)
        self.move(work, alpha)

    def move(self, idx: np.ndarray, alpha: np.ndarray) -> None:
        """Give the examples idx new alphas."""
        changed = np.flatnonzero(alpha != self.alpha[idx])
        self.engine.add(idx[changed], alpha[changed] - self.alpha[idx[changed]])
        self.alpha[idx] = alpha

    def focus(self, active: np.ndarray, target: float, machine: int) -> None:
        """Work on some examples of a machine, with its others set aside, down to a violation.

        The weights stay as they are. The outputs of the others are brought up to date at the end,
        each changed alpha being told once, and the next certificate checks them all.
        """
        part = self.problem.parts[machine]
        active = active + part.start
        set_aside = float(self.alpha[part].sum() - self.alpha[active].sum())
        small = State(self.now().subset(active, set_aside))
        small.F = small.engine.combined(small.theta)
        small.improve(small.violations(), target, FOCUSED_TURNS)
        self.move(active, small.alpha)


def inside(term: DualTerm, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return which of the examples idx have their alpha strictly between its bounds."""
    return (alpha[idx] > term.lo[idx]) & (alpha[idx] < term.hi[idx])
