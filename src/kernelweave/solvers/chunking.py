"""Chunking: solve small problems on the worst examples, and let the weights follow.

The loop of Sonnenburg et al. (2006) and Kloft et al. (2011). Each turn takes the q worst examples,
solves the problem restricted to them exactly, tells the engine, and takes one weight step (or,
where new weights are dear to the engine, one after a few working sets).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from ..core import _core
from ..losses import DualTerm
from ..problem import Certificate, Result
from ..steps.base import Step, Turn, keep_weights
from ..steps.curvature import curvature
from .journal import Journal
from .task import Task
from .working_set import Violations

# A subproblem is solved to this part of the violation that the turn starts from. With many kernels
# a changed alpha is dear, and less exact subproblems change fewer of them.
INNER_ONE, INNER_MANY = 0.1, 0.3
SHRINK = 0.5  # examples are set aside when at most this part of them is still in question
FOCUS = 0.3  # and looked at again when the violation of the others has fallen to this part,
NEAR_END = 0.9  # or to this part of what the tolerance asks for, if that comes first
MOST_FREE = 3000  # examples that a second derivative is made of
ROUGH = 1e-6  # error of the kernels that a second derivative is made of
FOCUSED_TURNS = 100  # working sets before the examples set aside are looked at in any case


class State:
    """alpha, theta and what the engine says of them."""

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
        self.s = self.engine.quadratic(self.alpha)
        linear = -float(self.problem.term.conjugate(self.alpha).sum())
        primal = cache(lambda: self.certify().primal)  # steps within steps ask for it again
        return Turn(self.theta, self.s, linear, primal, self.curvature)

    def certify(self) -> Certificate:
        """Certify the model as it is."""
        self.F = self.engine.combined(self.theta)
        return self.problem.certificate(self.alpha, self.F, self.s, self.theta)

    def curvature(self) -> np.ndarray:
        """Return the second derivative in theta, (M, M), of the value of the best machine."""
        bends = [self._bend(machine) for machine in range(self.problem.machines)]
        return np.sum(bends, axis=0)

    def _bend(self, machine: int) -> np.ndarray:
        """Return what one machine adds to the second derivative."""
        free = self.free(machine)
        free = free[:: 1 + len(free) // MOST_FREE]
        theta, kernel = self.kernel[machine]
        if theta is self.theta:
            at = np.searchsorted(self.work[machine], free)
            kernel = kernel[np.ix_(at, at)]
        else:
            kernel = self.engine.block(free, self.theta)
        bend = self.problem.term.take(free).curvature(self.alpha[free])
        return curvature(kernel, bend, self.engine.outputs_at(free, ROUGH))

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
        return Violations(self.problem.alone[machine].term, self.alpha[part], self.F[part])

    def advance(self, q: int, shrink: bool, wanted: float = 0.0) -> None:
        """Work on the machines that are furthest from their optimum, on q examples of each.

        `wanted`: the gap that will do, relative to the present one; it falls with the violation.
        """
        machines = [self.violations(machine) for machine in range(self.problem.machines)]
        target = self.precision * max(violations.size for violations in machines)
        for machine, violations in enumerate(machines):
            if violations.size <= target:
                continue
            active = np.flatnonzero(~violations.settled(violations.size))
            if shrink and q < len(active) <= SHRINK * len(violations.up):
                self.focus(active, max(FOCUS, NEAR_END * wanted) * violations.size, q, machine)
            else:
                self.improve(violations, target, q, self.engine.turns_per_step, machine)

    def improve(
        self, violations: Violations, target: float, q: int, turns: int, machine: int = 0
    ) -> None:
        """Solve subproblems of a machine, at most `turns`, until its violation is `target`."""
        while True:
            self.solve_worst(violations, q, machine)
            turns -= 1
            if turns == 0:
                return
            self.F = self.engine.combined(self.theta)
            violations = self.violations(machine)
            if violations.size <= target:
                return

    def solve_worst(self, violations: Violations, q: int, machine: int) -> None:
        """Solve a machine restricted to its q worst examples."""
        first = self.problem.parts[machine].start
        work = first + violations.select(min(q, len(violations.up)), self.free(machine) - first)
        kernel = self.engine.block(work, self.theta)
        alpha = solve_subproblem(
            kernel,
            self.problem.term.take(work),
            self.alpha[work],
            self.F[work],
            self.precision * violations.size,
        )
        self.work[machine], self.kernel[machine] = work, (self.theta, kernel)
        self.move(work, alpha)

    def move(self, idx: np.ndarray, alpha: np.ndarray) -> None:
        """Give the examples idx new alphas."""
        changed = np.flatnonzero(alpha != self.alpha[idx])
        self.engine.add(idx[changed], alpha[changed] - self.alpha[idx[changed]])
        self.alpha[idx] = alpha

    def focus(self, active: np.ndarray, target: float, q: int, machine: int = 0) -> None:
        """Work on some examples of a machine, with its others set aside, down to a violation.

        The weights stay as they are. The outputs of the others are brought up to date at the end,
        each changed alpha being told once, and the next certificate checks them all.
        """
        part = self.problem.parts[machine]
        active = active + part.start
        set_aside = float(self.alpha[part].sum() - self.alpha[active].sum())
        small = State(self.now().subset(active, set_aside))
        small.F = small.engine.combined(small.theta)
        small.improve(small.violations(), target, q, FOCUSED_TURNS)
        self.move(active, small.alpha)


def solve_subproblem(
    kernel: np.ndarray, term: DualTerm, alpha: np.ndarray, F: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return the best alphas of a working set, shape (q,), given those outside it."""
    q = len(alpha)
    alpha, F = alpha.copy(), F.copy()
    _core.solve_pairs(
        kernel, term.lin, term.eps, term.curv, term.ent, term.lo, term.hi,
        tolerance, 100 * q + 10_000, alpha, F,
    )  # fmt: skip
    return alpha


def chunking(task: Task, step: Step, before: Journal | None = None) -> Result:
    """Solve a task with a weight step after every turn.

    Parameters
    ----------
    before : what has been reached on the way to where the task starts.
    """
    state, journal = State(task), Journal(task, before)
    while True:
        certificate = state.refresh(step)
        journal.note(certificate, state.theta)
        if journal.over or journal.stuck:
            return journal.result(certificate, state.alpha, state.theta)
        wanted = task.tol / certificate.gap
        state.advance(task.working_set, shrink=step is keep_weights, wanted=wanted)


def inside(term: DualTerm, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return which of the examples idx have their alpha strictly between its bounds."""
    return (alpha[idx] > term.lo[idx]) & (alpha[idx] < term.hi[idx])
