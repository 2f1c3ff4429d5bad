"""The support kernel machine: p = 1 by pairs of examples on a smoothed problem (Bach et al., 2004).

The dual of p = 1 is not differentiable: its term is 1/2 max_m mu_m^2, mu_m = sqrt(s_m / c_m), c_m
being the cost of kernel m (d_m^2 in the paper). Moreau-Yosida regularisation, 1/2 kappa^2 ||w_m||^2
for each kernel in the primal, makes it

    R(s) = min over gamma of  gamma^2 / 2 + sum_m (mu_m - d gamma)_+^2 / (2 kappa^2),

whose gradient is F = sum_m eta_m / c_m g_m with eta_m = (1 - d gamma / mu_m)_+ / kappa^2: the
kernel machine on weights eta / c. kappa starts at 1 with d = 0, the plain sum of all kernels, and
is halved with d = 1. The weights of the original problem are eta~_m = eta_m / (1 - kappa^2 eta_m),
which add up to 1.

Two departures from the paper, both measured. It has d = 1 - kappa: outputs are then too small by a
factor of about 1 - 2 kappa, and the gap falls with kappa, not with kappa^2. And a small kappa makes
a problem that takes pair steps by the hundred thousand. So the regularisation is centred (the
method of multipliers): mu_m + kappa^2 lambda_m takes the place of mu_m, lambda_m being the ||w_m||
of the last solution, and kappa is halved only where that brings too little. An alpha and weights to
start from are such a solution too.

Of many kernels few have weight. So the problem is solved on those that seem to matter, and then all
are looked at (`sifting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core import _core
from ..engines.base import Engine
from ..norms import Norm
from ..numeric import as_number
from ..problem import Certificate, Problem
from ..stored import stored
from ..training.history import History, Result
from ..training.violations import Violations, strictly_inside
from .base import Method
from .optimality import optimality, sparsify
from .sifting import FEW, ROOM, first_guess, sift

HALVING = 0.5
INNER = 0.3  # gap of a smoothed problem, relative to that of the model, that counts as solved
FALL = 0.1  # part of its violation that a turn may leave
ENOUGH = 0.25  # part of the last gap that is progress without a smaller kappa
SMALLEST = 1e-4  # kappa: its square divides differences of mu, which lose digits below
LEAST = 1e-12  # a gap that is rounding
ROUGH = 5e-4  # gap on some kernels that will do as long as others are missing
STEPS = 1000  # of pairs per example in a working set, at most,
LOOK = 50  # and between two looks at the clock
ENTER = 16  # kernels that join those worked on after a look at all of them, at most


@stored("SKM")
@dataclass(frozen=True)
class SKM(Method):
    """The solver, and what it can be told.

    Parameters
    ----------
    eps1, eps2 : float, optional
        Go on until the model is (eps1, eps2)-optimal too, see `optimality`. Estimators say in
        `optimality_` which eps1 and eps2 they have reached.
    sparsify : bool
        Whether to remove kernels one by one from the solution as long as it stays a solution.
    block_mb : float
        Memory for the kernels inside a working set, which says how many examples it holds.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF
    >>> from kernelweave.solvers.skm import SKM
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> widths = RBF([0.01, 0.1, 1.0])
    >>> model = MKLClassifier(widths, norm=1, solver=SKM(sparsify=True)).fit(X, y)
    >>> model.duality_gap_ <= model.tol
    True
    """

    eps1: float = np.inf
    eps2: float = np.inf
    sparsify: bool = False
    block_mb: float = 64.0

    def __post_init__(self) -> None:
        for name in ("eps1", "eps2", "block_mb"):
            if not as_number(getattr(self, name)) > 0:
                raise ValueError(f"{name} must be a number above 0, got {getattr(self, name)!r}")

    def serves(self, norm: Norm) -> bool:
        """Whether p = 1."""
        return norm.is_sparse

    def streams(self, M: int, n: int) -> bool:
        """Whether the kernels are many, and too large to be worked on together."""
        return M > FEW and M * n * n > ROOM

    def solve(
        self, problem: Problem, engine: Engine, weights: np.ndarray, history: History
    ) -> Result:
        """Solve a problem from the engine's alpha; where that is not zero, from the weights too."""
        run = self._sifted if engine.streams else self._solved
        result = run(problem, engine, weights, history)
        if result.converged and self.sparsify:
            result = sparsify(problem, engine, result, history.tol)
        F, s, theta = engine.combined(result.weights), engine.quadratic(), result.weights
        return replace(result, optimality=optimality(problem, result.alpha, F, s, theta))

    def _sifted(
        self, problem: Problem, engine: Engine, weights: np.ndarray, history: History
    ) -> Result:
        """Solve a problem on some of its kernels at a time."""
        stricter = replace(self, eps1=0.5 * self.eps1)

        def enough(result: Result, excess: float) -> bool:
            any_model = np.isinf(self.eps1) and np.isinf(self.eps2)
            return any_model or (result.converged and 0.5 * excess <= stricter.eps1)

        likely = np.flatnonzero(weights)
        if len(likely) == len(weights):  # no earlier run has chosen among the kernels
            plain = SKM(block_mb=self.block_mb)
            weights, likely = first_guess(plain._solved, problem, engine, history)
        return sift(
            stricter._solved, problem, engine, weights, history, likely, _highest,
            rough=ROUGH, enough=enough,
        )  # fmt: skip

    def _solved(
        self, problem: Problem, engine: Engine, weights: np.ndarray, history: History
    ) -> Result:
        """Solve a problem on all of its kernels."""
        room = int(np.sqrt(self.block_mb * 2**20 / (8 * engine.n_kernels)))
        smooth, turns = SmoothedProblem(problem, engine, weights, history, room), 0
        while True:
            certificate = smooth.certify()
            history.add(certificate, smooth.theta, turns)
            good = history.converged and self._optimal(problem, engine, smooth)
            if good or certificate.gap <= LEAST or history.stuck(engine) or history.spent:
                break
            smooth.improve(certificate)
            history.observe(engine.alpha, smooth.theta)
            turns = 1
        result = history.result(certificate, engine.alpha, smooth.theta)
        return replace(result, converged=good)

    def _optimal(self, problem: Problem, engine: Engine, smooth: SmoothedProblem) -> bool:
        """Return whether the model is (eps1, eps2)-optimal."""
        if np.isinf(self.eps1) and np.isinf(self.eps2):
            return True
        F = engine.combined(smooth.theta)
        eps1, eps2 = optimality(problem, engine.alpha, F, smooth.s, smooth.theta)
        return eps1 <= self.eps1 and eps2 <= self.eps2


def _highest(kernels: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the kernels that join those worked on: the highest, and ever fewer of the others.

    The very highest are often alike.
    """
    ranks = np.unique(np.geomspace(1, max(len(kernels), 1), ENTER).astype(int)) - 1
    highest: np.ndarray = kernels[np.argsort(-height)[ranks[: len(kernels)]]]
    return highest


class SmoothedProblem:
    """alpha, kappa, and what follows from them.

    Parameters
    ----------
    problem, engine : what is solved, and who holds alpha.
    weights : array of shape (M,)
        Where the weights start.
    history : knows when time is up.
    room : number of examples worked on at a time, at most.
    """

    def __init__(
        self, problem: Problem, engine: Engine, weights: np.ndarray, history: History, room: int
    ):
        self.problem, self.engine, self.history = problem, engine, history
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
        bias = problem.best_bias(F)
        value = problem.C @ problem.loss.value(F + bias, problem.y) + problem.tau * bias
        return float(value + np.sum(problem.term.conjugate(alpha)) + alpha @ F)

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
            self._everyone = engine.blocks(work)
        blocks = engine.blocks(work) if self._everyone is None else self._everyone
        alpha, outputs = engine.alpha[work], np.ascontiguousarray(engine.outputs_at(work))
        chosen, most = np.flatnonzero(~self.aside), LOOK * len(work)
        for _ in range(STEPS // LOOK):
            steps, _ = _core.solve_skm(
                blocks, chosen, self.cost, *term.arrays,
                self.kappa, self.d, self.shift, tolerance, most, alpha, outputs, self.s,
            )  # fmt: skip
            if steps < most or self.history.out_of_time:
                break
        changed = np.flatnonzero(delta := alpha - engine.alpha[work])
        if self._everyone is None:
            engine.change(work[changed], alpha[changed])
        else:
            engine.move_to(alpha, engine.outputs() + self._everyone @ delta)
        self.refresh()


def smoothed(mu: np.ndarray, kappa: float, d: float) -> np.ndarray:
    """Return dR / dmu_m = (mu_m - d gamma)_+ / kappa^2, shape (M,), for mu, shape (M,)."""
    falling = np.sort(mu)[::-1]
    gammas = d * np.cumsum(falling) / (kappa**2 + d**2 * np.arange(1, len(mu) + 1))
    gamma = gammas.max()  # of the kernels with weight: more or fewer of the largest give less
    slope: np.ndarray = np.maximum(0.0, mu - d * gamma) / kappa**2
    return slope
