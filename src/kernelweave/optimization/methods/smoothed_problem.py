"""The smoothed problem of the support kernel machine, solved by pairs of examples; see `skm`."""

from __future__ import annotations

import numpy as np

from ...common.core import _core
from ...engines.base import Engine, kernel_blocks
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..inner.violations import Violations, strictly_inside
from ..run import Run

HALVING = 0.5
INNER = 0.3  # gap of a smoothed problem, relative to that of the model, that counts as solved
FALL = 0.1  # part of its violation that a turn may leave
ENOUGH = 0.25  # part of the last gap that is progress without a smaller kappa
SMALLEST = 1e-4  # kappa: its square divides differences of mu, which lose digits below
LEAST = 1e-12  # a gap that is rounding
STEPS = 1000  # of pairs per example in a working set, at most,
LOOK = 50  # and between two looks at the clock


class SmoothedProblem:
    """alpha, kappa, and what follows from them.

    Parameters
    ----------
    problem, engine : what is solved, and who holds alpha.
    weights : array of shape (M,)
        Where the weights start.
    run : knows when time is up.
    room : number of examples worked on at a time, at most.
    """

    def __init__(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run, room: int):
        self.problem, self.engine, self.run = problem, engine, run
        self.cost = self.problem.norm.costs(self.engine.n_kernels)
        self.theta = weights.copy()
        self.kappa, self.d, self.shift = 1.0, 0.0, np.zeros(len(self.cost))
        self.solved = np.inf
        self.idle, self.aside, self.returned = np.zeros((3, len(self.cost)), dtype=bool)
        self.q = min(self.engine.n, max(room, 2))
        self._everyone: np.ndarray | None = None
        self.refresh()
        if self.mu.any():
            self._centre(self.theta * self.cost * self.mu.max())

    def refresh(self) -> None:
        """Take s from the engine, and eta from s."""
        self.s = np.maximum(self.engine.quadratic(), 0.0)
        self.mu = np.sqrt(self.s / self.cost)
        self.pull = smoothed(self.mu + self.shift, self.kappa, self.d)
        self.eta = np.divide(self.pull, self.mu, out=np.ones_like(self.mu), where=self.mu > 0)
        self.returned |= self.aside & (self.pull > 0)
        self.aside &= ~self.returned

    def certify(self) -> Certificate:
        """Certify the model of the weights eta~, or of the last weights where they are better.

        At a smaller kappa, eta~ is of use only once alpha has followed.
        """
        new = self._weights()
        certificate, last = self._certificate(new), self._certificate(self.theta)
        if certificate.gap > last.gap:
            return last
        self.theta = new
        return certificate

    def _weights(self) -> np.ndarray:
        """eta~ / c: proportional to the pull on each mu, whatever the smoothing."""
        theta = self.pull / self.cost
        return theta / self.problem.norm.value(theta) if theta.any() else self.theta

    def _certificate(self, theta: np.ndarray) -> Certificate:
        F = self.engine.combined(theta)
        return self.problem.certificate(self.engine.alpha, F, self.s, theta)

    def violations(self) -> Violations:
        """How far alpha is from the optimum of the smoothed problem."""
        F = self.engine.combined(self.eta / self.cost)
        return Violations(self.problem.term, self.engine.alpha, F)

    def improve(self, certificate: Certificate) -> None:
        """Work on the smoothed problem, at a smaller kappa where the present one is solved."""
        violations, least = self.violations(), self._rounding(certificate)
        excess = certificate.primal - certificate.dual
        if violations.size <= least or self.own_gap() <= INNER * excess:
            self._advance(certificate.gap)
            violations = self.violations()
        work = np.arange(self.engine.n)
        if self.q < len(work):
            free = work[strictly_inside(self.problem.term, self.engine.alpha, work)]
            work = violations.select(self.q, free)
        self._work(work, max(least, FALL * violations.size))

    def _rounding(self, certificate: Certificate) -> float:
        """A violation that is rounding: times sum |alpha| it is about what it adds to the gap."""
        size = np.abs(self.engine.alpha).sum()
        return LEAST * abs(certificate.primal) / size if size > 0 else 0.0

    def own_gap(self) -> float:
        """The gap of the smoothed problem: all of it lies in the loss, as eta follows from s.

        The violation is no measure of it: with a large C, a small one can be most of the primal.
        """
        problem, alpha = self.problem, self.engine.alpha
        F = self.engine.combined(self.eta / self.cost)
        cost = problem.risk.value(F, problem.best_bias(F))
        return float(cost + np.sum(problem.term.conjugate(alpha)) + alpha @ F)

    def _advance(self, gap: float) -> None:
        """Go on from a solved problem, without the kernels that had no weight in two in a row.

        One of them that turns out to have weight after all comes back for good.
        """
        idle = self.pull == 0
        self.aside |= idle & self.idle & ~self.returned
        self.idle = idle
        slow = gap > ENOUGH * self.solved
        self.solved = gap
        self._centre(self.pull if self.d else np.zeros_like(self.pull), slow)

    def _centre(self, pull: np.ndarray, smaller: bool = False) -> None:
        """Centre the smoothing on a solution, whose ||w_m|| are the pull on each mu, (M,)."""
        if smaller or not self.d:
            self.kappa = max(HALVING * self.kappa, SMALLEST)
        self.d, self.shift = 1.0, self.kappa**2 * pull
        self.refresh()

    def _work(self, work: np.ndarray, tolerance: float) -> None:
        """Solve the smoothed problem on a working set.

        Where that is all of the examples, its kernels are kept: outputs follow without the engine.
        """
        engine, term = self.engine, self.problem.term.take(work)
        if len(work) == engine.n and self._everyone is None:
            self._everyone = kernel_blocks(engine).blocks(work)
        blocks = kernel_blocks(engine).blocks(work) if self._everyone is None else self._everyone
        alpha, outputs = (
            engine.alpha[work],
            np.ascontiguousarray(kernel_blocks(engine).outputs_at(work)),
        )
        chosen, most = np.flatnonzero(~self.aside), LOOK * len(work)
        for _ in range(STEPS // LOOK):
            steps, _ = _core.solve_skm(
                blocks, chosen, self.cost, *term.arrays,
                self.kappa, self.d, self.shift, tolerance, most, alpha, outputs, self.s,
            )  # fmt: skip
            if steps < most or self.run.budget.out_of_time:
                break
        changed = np.flatnonzero(delta := alpha - engine.alpha[work])
        if self._everyone is None:
            engine.change(work[changed], alpha[changed])
        else:
            engine.move_to(alpha, kernel_blocks(engine).outputs() + self._everyone @ delta)
        self.refresh()


def smoothed(mu: np.ndarray, kappa: float, d: float) -> np.ndarray:
    """Return dR / dmu_m = (mu_m - d gamma)_+ / kappa^2, shape (M,), for mu, shape (M,)."""
    falling = np.sort(mu)[::-1]
    gammas = d * np.cumsum(falling) / (kappa**2 + d**2 * np.arange(1, len(mu) + 1))
    gamma = gammas.max()  # of the kernels with weight: more or fewer of the largest give less
    slope: np.ndarray = np.maximum(0.0, mu - d * gamma) / kappa**2
    return slope
