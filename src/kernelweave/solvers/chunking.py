"""Chunking: solve small problems on the worst examples, and let the weights follow.

The loop of Sonnenburg et al. (2006) and Kloft et al. (2011). Each turn takes the q worst examples,
solves the problem restricted to them exactly, tells the engine, and takes one weight step. Because
outputs are kept per kernel, changed weights cost no kernel evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..core import _core
from ..engines.base import Engine
from ..losses import DualTerm
from ..problem import Certificate, Problem, Progress, Result
from ..steps.base import Step, Turn
from ..steps.curvature import curvature
from .working_set import Violations

INNER = 0.1  # a subproblem is solved to this part of the violation that it starts from


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
        self.work = np.arange(self.engine.n)  # the last working set: everything, before any

    def refresh(self, step: Step) -> Certificate:
        """Take a weight step and certify the model."""
        self.s = self.engine.outputs @ self.alpha
        linear = -float(self.problem.term.conjugate(self.alpha).sum())
        turn = Turn(self.theta, self.s, linear, lambda: self.certify().primal, self.curvature)
        self.theta = step(turn)
        return self.certify()

    def certify(self) -> Certificate:
        """Certify the model as it is."""
        self.F = self.theta @ self.engine.outputs
        return self.problem.certificate(self.alpha, self.F, self.s, self.theta)

    def curvature(self) -> np.ndarray:
        """Return the second derivative in theta, (M, M), of the value of the best machine."""
        free = self.work[inside(self.problem.term, self.alpha, self.work)]
        return curvature(
            self.engine.block(free, self.theta),
            self.problem.term.take(free).curvature(self.alpha[free]),
            self.engine.outputs[:, free],
        )

    def progress(self, certificate: Certificate) -> Progress:
        """Describe this state for the history."""
        seconds = time.perf_counter() - self.started
        return Progress(**vars(certificate), seconds=seconds, weights=self.theta.copy())

    def improve(self, work: np.ndarray, tolerance: float) -> None:
        """Solve the problem restricted to a working set."""
        self.work = work
        alpha = solve_subproblem(
            self.engine.block(work, self.theta),
            self.problem.term.take(work),
            self.alpha[work],
            self.F[work],
            tolerance,
        )
        changed = np.flatnonzero(alpha != self.alpha[work])
        self.engine.add(work[changed], alpha[changed] - self.alpha[work[changed]])
        self.alpha[work] = alpha


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
    problem: Problem, engine: Engine, step: Step, alpha: np.ndarray, theta: np.ndarray, budget: Budget
) -> Result:
    """Solve a problem from (alpha, theta), whose outputs the engine already holds.

    Parameters
    ----------
    alpha : array of shape (n,), feasible
    theta : array of shape (M,), feasible
    """
    state = State(problem, engine, alpha.copy(), theta.copy())
    history: list[Progress] = []
    work = np.empty(0, dtype=np.int64)
    while True:
        certificate = state.refresh(step)
        history.append(state.progress(certificate))
        budget.watch(history[-1])
        if certificate.gap <= budget.tol or len(history) - 1 == budget.max_iter:
            return conclude(state, certificate, history, budget)
        violations = Violations(problem.term, state.alpha, state.F)
        free = work[inside(problem.term, state.alpha, work)]
        work = violations.select(min(budget.working_set, engine.n), free)
        state.improve(work, INNER * violations.size)


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
