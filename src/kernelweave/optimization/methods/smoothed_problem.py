"""The smoothed problem of the support kernel machine, solved by SMO; see `skm`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...common.core import _core
from ...engines.base import Engine, kernel_blocks
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..inner.violations import Violations, strictly_inside
from ..run import Run


@dataclass(frozen=True)
class SmoothingTuning:
    """Tolerances and limits of the iterations on the smoothed problem.

    Attributes
    ----------
    solved : a smoothed problem counts as solved when its gap is below this fraction of the gap of
        the model.
    accuracy : KKT violation to which a working set is solved, relative to the present one.
    progress : kappa is not reduced if the gap of the model falls below this fraction of the last.
    least_kappa : smallest kappa. With a smaller one, differences of mu divided by kappa^2 would be
        inaccurate.
    rounding : relative gaps up to this one are attributed to rounding.
    smo_per_example : maximum number of SMO steps per example of a working set.
    smo_per_check : the same between two checks of the time limit.
    """

    solved: float = 0.3
    accuracy: float = 0.1
    progress: float = 0.25
    least_kappa: float = 1e-4
    rounding: float = 1e-12
    smo_per_example: int = 1000
    smo_per_check: int = 50


@dataclass(frozen=True)
class Smoothing:
    """The smoothing parameters of Bach et al. (2004): a_m = kappa a0_m, and kappa falls.

    Attributes
    ----------
    room : maximum number of examples in a working set.
    kappa : initial kappa, at most 1.
    mu : factor by which kappa is reduced (mu_m below is another quantity).
    a : a0 of every kernel; None for a0_m = d_m, where d_m^2 is the cost of kernel m in the norm.
    tuning : tolerances and limits of the iterations.
    """

    room: int
    kappa: float = 1.0
    mu: float = 0.5
    a: tuple[float, ...] | None = None
    tuning: SmoothingTuning = SmoothingTuning()

    def relative(self, cost: np.ndarray) -> np.ndarray:
        """Return the smoothing parameters a0_m relative to d_m, the roots of the costs, shape (M,).

        Parameters
        ----------
        cost : ndarray of shape (M,)
            Costs d_m^2 of the kernels in the norm.

        Raises
        ------
        ValueError
            If the number of kernels differs from the number of entries of `a`.
        """
        if self.a is None:
            return np.ones_like(cost)
        if len(self.a) != len(cost):
            raise ValueError(
                f"a must have one entry for each of the {len(cost)} kernels that are not constant, "
                f"got {len(self.a)}"
            )
        return np.asarray(np.array(self.a) / np.sqrt(cost))


class SmoothedProblem:
    """The smoothed problem at the alpha of an engine, for a decreasing kappa.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the examples and alpha.
    weights : ndarray of shape (M,)
        Initial weights.
    run : Run
        Has the time limit.
    smoothing : Smoothing
        First kappa, and how it is reduced.

    Attributes
    ----------
    theta : ndarray of shape (M,)
        Best weights so far for the present alpha.
    s : ndarray of shape (M,)
        Squared block norms alpha' K_m alpha.
    mu : ndarray of shape (M,)
        sqrt(s_m / c_m), with the costs c_m of the kernels (`cost`).
    kappa, d : float
        Smoothing parameters, see `skm`.
    shift : ndarray of shape (M,)
        kappa_m^2 lambda_m, which the method of multipliers adds to mu.
    q : int
        Maximum number of examples in a working set.
    eta, multipliers : ndarrays of shape (M,)
        eta_m, which is c_m times the weight of kernel m in the smoothed problem; and eta_m mu_m,
        the derivative of the smoothed regulariser in mu_m (lambda_m in `skm`).
    unused, excluded, readmitted : ndarrays of bool, shape (M,)
        Kernels of weight 0 in the last solution, kernels left out of the problem, and kernels that
        were left out by mistake and are never left out again.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        weights: np.ndarray,
        run: Run,
        smoothing: Smoothing,
    ):
        self.problem, self.engine, self.run, self.tuning = problem, engine, run, smoothing.tuning
        self.cost = self.problem.norm.costs(self.engine.n_kernels)
        self.theta, self.smoothing = weights.copy(), smoothing
        self.relative = smoothing.relative(self.cost)
        self.shift = np.zeros(len(self.cost))
        self.kappa = smoothing.kappa
        self.d = 0.0 if self.kappa == 1 else 1.0  # first the plain sum of all kernels
        self.last_gap = np.inf
        self.unused, self.excluded, self.readmitted = np.zeros((3, len(self.cost)), dtype=bool)
        self.q = min(self.engine.n, max(smoothing.room, 2))
        self._all_blocks: np.ndarray | None = None
        self.refresh()
        better_than_constant = self._certificate(self.theta).gap < 1
        if self.mu.any() and better_than_constant:
            self._centre(self.theta * self.cost * self.mu.max())

    @property
    def kappas(self) -> np.ndarray:
        """kappa_m = a_m / d_m of every kernel, shape (M,)."""
        return self.kappa * self.relative

    def refresh(self) -> None:
        """Update the block norms s from the engine, and the smoothed weights (`eta`) from s."""
        self.s = np.maximum(self.engine.quadratic(), 0.0)
        self.mu = np.sqrt(self.s / self.cost)
        self.multipliers = smoothed(self.mu + self.shift, self.kappas, self.d)
        self.eta = np.divide(
            self.multipliers, self.mu, out=np.ones_like(self.mu), where=self.mu > 0
        )
        self.readmitted |= self.excluded & (self.multipliers > 0)
        self.excluded &= ~self.readmitted

    def certify(self) -> Certificate:
        """Return the certificate for the present smoothed weights, or for the last ones if better.

        After kappa has been reduced, the present ones have a large gap until alpha is optimised.
        """
        new = self._weights()
        certificate, last = self._certificate(new), self._certificate(self.theta)
        if certificate.gap > last.gap:
            return last
        self.theta = new
        return certificate

    def _weights(self) -> np.ndarray:
        """Return eta~ / c, shape (M,), which is proportional to the multipliers."""
        theta = self.multipliers / self.cost
        return theta / self.problem.norm.value(theta) if theta.any() else self.theta

    def _certificate(self, theta: np.ndarray) -> Certificate:
        F = self.engine.combined(theta)
        return self.problem.certificate(self.engine.alpha, F, self.s, theta)

    def violations(self) -> Violations:
        """Return the KKT violations of the smoothed problem."""
        F = self.engine.combined(self.eta / self.cost)
        fixed_sum = self.problem.risk.has_intercept
        return Violations(self.problem.term, self.engine.alpha, F, fixed_sum=fixed_sum)

    def improve(self, certificate: Certificate) -> None:
        """Solve one working set of the smoothed problem; first reduce kappa if it is solved."""
        violations, least = self.violations(), self._rounding(certificate)
        excess = certificate.primal - certificate.dual
        if violations.size <= least or self.smoothed_gap() <= self.tuning.solved * excess:
            self._advance(certificate.gap)
            violations = self.violations()
        work = np.arange(self.engine.n)
        if self.q < len(work):
            free = work[strictly_inside(self.problem.term, self.engine.alpha, work)]
            work = violations.select(self.q, free)
        self._work(work, max(least, self.tuning.accuracy * violations.size))

    def _rounding(self, certificate: Certificate) -> float:
        """Return the KKT violation that is due to rounding.

        A violation times sum |alpha| is about its contribution to the gap.
        """
        size = np.abs(self.engine.alpha).sum()
        return self.tuning.rounding * abs(certificate.primal) / size if size > 0 else 0.0

    def smoothed_gap(self) -> float:
        """Return the duality gap of the smoothed problem.

        Only the losses contribute to it, since eta is optimal for s. The largest KKT violation
        cannot replace it: with a large C, a small violation can be most of the primal value.
        """
        problem, alpha = self.problem, self.engine.alpha
        F = self.engine.combined(self.eta / self.cost)
        cost = problem.risk.value(F, problem.best_bias(F))
        return float(cost + np.sum(problem.term.conjugate(alpha)) + alpha @ F)

    def _advance(self, gap: float) -> None:
        """Change kappa, the centre and the set of kernels after a smoothed problem is solved.

        Kernels of weight 0 in two successive solutions are left out. A kernel that would get a
        positive weight is readmitted and stays in the problem.
        """
        unused = self.multipliers == 0
        self.excluded |= unused & self.unused & ~self.readmitted
        self.unused = unused
        slow = gap > self.tuning.progress * self.last_gap
        self.last_gap = gap
        self._centre(self.multipliers if self.d else np.zeros_like(self.multipliers), slow)

    def _centre(self, multipliers: np.ndarray, smaller: bool = False) -> None:
        """Centre the regularisation at the multipliers, (M,), of a solution.

        kappa is reduced if `smaller` is True, and after the plain sum of kernels (d = 0).
        """
        if smaller or not self.d:
            self.kappa = max(self.smoothing.mu * self.kappa, self.tuning.least_kappa)
        self.d, self.shift = 1.0, self.kappas**2 * multipliers
        self.refresh()

    def _work(self, work: np.ndarray, tolerance: float) -> None:
        """Solve the smoothed problem on a working set to a KKT violation of `tolerance`.

        If the working set has all examples, its kernel matrices are cached, and the outputs are
        computed from them.
        """
        engine, term, q = self.engine, self.problem.term.take(work), len(work)
        if q == engine.n and self._all_blocks is None:
            self._all_blocks = self._blocks(work)
        blocks = self._blocks(work) if self._all_blocks is None else self._all_blocks
        alpha, outputs = engine.alpha[work], kernel_blocks(engine).outputs_at(work)
        if not self.problem.risk.has_intercept:
            term, alpha = term.with_free_alpha(), np.append(alpha, 0.0)
            outputs = np.pad(outputs, ((0, 0), (0, 1)))
        outputs = np.ascontiguousarray(outputs)
        kernels, most = np.flatnonzero(~self.excluded), self.tuning.smo_per_check * q
        for _ in range(self.tuning.smo_per_example // self.tuning.smo_per_check):
            steps, _ = _core.solve_skm(
                blocks, kernels, self.cost, *term.arrays,
                self.kappas, self.d, self.shift, tolerance, most, alpha, outputs, self.s,
            )  # fmt: skip
            if steps < most or self.run.budget.out_of_time:
                break
        alpha = alpha[:q]
        changed = np.flatnonzero(delta := alpha - engine.alpha[work])
        if self._all_blocks is None:
            engine.change(work[changed], alpha[changed])
        else:
            products = self._all_blocks[:, :q, :q] @ delta
            engine.move_to(alpha, kernel_blocks(engine).outputs() + products)
        self.refresh()

    def _blocks(self, work: np.ndarray) -> np.ndarray:
        """Return the kernel matrices of a working set, shape (M, q, q).

        Without an intercept the last of the q examples is the one of `Subproblem.with_free_alpha`.
        """
        blocks = kernel_blocks(self.engine).blocks(work)
        if self.problem.risk.has_intercept:
            return blocks
        return np.pad(blocks, ((0, 0), (0, 1), (0, 1)))


def smoothed(mu: np.ndarray, kappa: np.ndarray | float, d: float) -> np.ndarray:
    """Return the gradient of the smoothed regulariser R(mu) of `skm`, shape (M,).

    Its entries are max(mu_m - d gamma, 0) / kappa_m^2, where gamma is the minimiser in R.

    Parameters
    ----------
    mu : ndarray of shape (M,)
        Point at which the gradient is computed.
    kappa : ndarray of shape (M,), or float
    d : float
        Parameters of the smoothing, see `skm`.
    """
    order, inverse = np.argsort(-mu), np.broadcast_to(1.0 / np.square(kappa), mu.shape)
    weights = inverse[order]
    gammas = d * np.cumsum(weights * mu[order]) / (1.0 + d**2 * np.cumsum(weights))
    gamma = gammas.max()  # attained at the number of kernels of positive weight
    return np.maximum(0.0, mu - d * gamma) / kappa**2
