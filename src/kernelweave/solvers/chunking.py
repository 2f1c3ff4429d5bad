"""Chunking: solve small problems on the worst examples, and let the weights follow.

The loop of Sonnenburg et al. (2006) and Kloft et al. (2011). Each turn takes the q worst examples,
solves the problem restricted to them exactly, tells the engine, and takes one weight step (or,
where new weights are dear to the engine, one after a few working sets).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from ..core import _core
from ..engines.base import Engine
from ..losses import DualTerm
from ..problem import Certificate, Problem, Progress, Result
from ..steps.base import Step, Turn, keep_weights
from ..steps.curvature import curvature
from .working_set import Violations

# A subproblem is solved to this part of the violation that the turn starts from. With many kernels
# a changed alpha is dear, and less exact subproblems change fewer of them.
INNER_ONE, INNER_MANY = 0.1, 0.3
SHRINK = 0.5  # examples are set aside when at most this part of them is still in question
FOCUS = 0.3  # and looked at again when the violation of the others has fallen to this part
MOST_FREE = 3000  # examples that a second derivative is made of
ROUGH = 1e-6  # error of the kernels that a second derivative is made of
PATIENCE = 100  # turns without any progress after which rounding is taken to be the limit
ROUNDING = 1e-9  # a relative change that is no progress


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When to stop, how much to work on at a time, and whom to tell."""

    tol: float = 1e-3
    max_iter: int | None = None
    working_set: int = 1000
    watch: Callable[[Progress], None] = lambda progress: None


@dataclass(eq=False)
class State:
    """alpha, theta and what the engine says of them."""

    problem: Problem
    engine: Engine
    alpha: np.ndarray
    theta: np.ndarray
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self):
        every = np.arange(self.engine.n)
        self.work = [every[part] for part in self.problem.parts]  # each machine's last working set
        none = (np.empty(0), np.empty((0, 0)))
        self.kernel = [none] * self.problem.machines  # the weights and the kernel of that set

    def refresh(self, step: Step) -> Certificate:
        """Take a weight step and certify the model."""
        self.theta = step(self.view())
        return self.certify()

    def view(self) -> Turn:
        """Describe this state for a weight step."""
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

    def progress(self, certificate: Certificate) -> Progress:
        """Describe this state for the history."""
        seconds = time.perf_counter() - self.started
        return Progress(**vars(certificate), seconds=seconds, weights=self.theta.copy())

    @property
    def precision(self) -> float:
        """How exactly subproblems are solved, relative to the violation."""
        return INNER_ONE if self.engine.n_kernels == 1 else INNER_MANY

    def violations(self, machine: int = 0) -> Violations:
        """Return how far each alpha of a machine is from where it should be."""
        part = self.problem.parts[machine]
        return Violations(self.problem.alone[machine].term, self.alpha[part], self.F[part])

    def advance(self, q: int, shrink: bool) -> None:
        """Work on the machines that are furthest from their optimum, on q examples of each."""
        machines = [self.violations(machine) for machine in range(self.problem.machines)]
        target = self.precision * max(violations.size for violations in machines)
        for machine, violations in enumerate(machines):
            if violations.size <= target:
                continue
            active = np.flatnonzero(~violations.settled(violations.size))
            if shrink and q < len(active) <= SHRINK * len(violations.up):
                self.focus(active, FOCUS * violations.size, q, machine)
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
        small = State(
            self.problem.subset(active, set_aside),
            self.engine.subset(active),
            self.alpha[active],
            self.theta,
        )
        small.F = small.engine.combined(small.theta)
        small.improve(small.violations(), target, q, PATIENCE)
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


def chunking(
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
    state = State(problem, engine, alpha.copy(), theta.copy())
    history: list[Progress] = []
    while True:
        certificate = state.refresh(step)
        history.append(state.progress(certificate))
        budget.watch(history[-1])
        done = certificate.gap <= budget.tol or len(history) - 1 == budget.max_iter
        if done or stuck(history):
            return conclude(state, certificate, history, budget)
        state.advance(budget.working_set, shrink=step is keep_weights)


def stuck(history: list[Progress]) -> bool:
    """Return whether for many turns neither the gap has fallen nor the dual value risen."""
    if len(history) <= PATIENCE:
        return False
    before, lately = history[:-PATIENCE], history[-PATIENCE:]
    gap = min(progress.gap for progress in before)
    dual = max(progress.dual for progress in before)
    return all(
        progress.gap >= gap and progress.dual <= dual + ROUNDING * abs(dual) for progress in lately
    )


def inside(term: DualTerm, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return which of the examples idx have their alpha strictly between its bounds."""
    return (alpha[idx] > term.lo[idx]) & (alpha[idx] < term.hi[idx])


def conclude(
    state: State, certificate: Certificate, history: list[Progress], budget: Budget
) -> Result:
    """Make the result of a finished loop."""
    return Result(
        **vars(certificate),
        alpha=state.alpha,
        weights=state.theta,
        n_iter=len(history) - 1,
        history=history,
        converged=certificate.gap <= budget.tol,
    )
