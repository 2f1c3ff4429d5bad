"""The support kernel machine: p = 1 by SMO on a smoothed problem (Bach et al., 2004).

The dual of p = 1 is not differentiable: it contains 1/2 max_m mu_m^2, where mu_m = sqrt(s_m / c_m),
s_m = alpha' K_m alpha, and c_m is the cost of kernel m in the norm (d_m^2 in the paper).
Moreau-Yosida regularisation, 1/2 a_m^2 ||w_m||^2 for each kernel in the primal, replaces this by

    R(s) = min over gamma of  gamma^2 / 2 + sum_m (mu_m - d gamma)_+^2 / (2 kappa_m^2)

with kappa_m = a_m / d_m, d = 0 or 1, and (x)_+ = max(x, 0). Its gradient in alpha is
F = sum_m eta_m / c_m K_m alpha with eta_m = (1 - d gamma / mu_m)_+ / kappa_m^2: that of an SVM with
weights eta / c. By default all kappa_m are one kappa. Training starts with kappa = 1 and d = 0, the
plain sum of all kernels; then d = 1 and kappa is halved repeatedly. The weights of the
original problem are eta~_m = eta_m / (1 - kappa_m^2 eta_m), which add up to 1.

There are two differences from the paper:

* The paper sets d = 1 - kappa. Outputs are then too small by a factor of about 1 - 2 kappa, and the
  gap falls with kappa instead of kappa^2.
* A small kappa makes the problem ill-conditioned: SMO takes hundreds of thousands of steps. So the
  method of multipliers is used. mu_m + kappa_m^2 lambda_m replaces mu_m, where lambda_m is ||w_m||
  of the last solution, or of a warm start. kappa is reduced only if this reduces the gap too
  little.

If kernels are many, few have weight. Then the problem is solved on a growing set of kernels
(`sifting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...common.numbers import as_number, as_positive
from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...model.files.registry import registered
from ...norms import Norm
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .base import Method
from .optimality import optimality, sparsify
from .sifting import FEW, ROOM, Sifting, first_guess
from .smoothed_problem import SmoothedProblem, Smoothing


@registered("SKM")
@dataclass(frozen=True)
class SKM(Method):
    """The support kernel machine, for p = 1.

    Parameters
    ----------
    eps1, eps2 : float, default inf
        Continue until the model is also (eps1, eps2)-optimal, see `optimality`. The attribute
        `optimality_` of estimators has the values reached.
    sparsify : bool, default False
        Whether to remove kernels one by one while the solution stays within the tolerance.
    block_mb : float, default 64
        Memory in MB for the kernel matrices of a working set; it determines the size of the set.
    kappa : float in (0, 1], default 1
        Initial smoothing parameter. At 1 training begins with the plain sum of the kernels. See
        `a_priori_smoothing` for a value that suffices for given eps1 and eps2.
    mu : float in (0, 1), default 0.5
        Factor by which kappa is reduced.
    a : sequence of M positive floats, optional
        Smoothing of each kernel relative to the others: a_j = kappa a[j]. By default a[j] is the
        square root of the factor of kernel j in the norm (`Norm.costs`). If `a` is passed, training
        uses all kernels at once instead of a growing set.

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
    kappa: float = 1.0
    mu: float = 0.5
    a: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < as_number(self.kappa) <= 1:
            raise ValueError(f"kappa must be a number above 0 and at most 1, got {self.kappa!r}")
        if not 0 < as_number(self.mu) < 1:
            raise ValueError(f"mu must be a number above 0 and below 1, got {self.mu!r}")
        if self.a is not None:
            object.__setattr__(self, "a", as_positive("a", self.a))
        for name in ("eps1", "eps2", "block_mb"):
            if not as_number(getattr(self, name)) > 0:
                raise ValueError(f"{name} must be a number above 0, got {getattr(self, name)!r}")

    def serves(self, norm: Norm) -> bool:
        """Return whether a norm is p = 1, the only one that is supported.

        Parameters
        ----------
        norm : Norm

        Returns
        -------
        bool
        """
        return norm.is_sparse

    def streams(self, M: int, n: int) -> bool:
        """Return whether the matrices of M kernels on n examples need too much memory.

        It is False if `a` is passed or if kernels are few: then all kernels are used at once.

        Parameters
        ----------
        M : int
            Number of kernels.
        n : int
            Number of examples.

        Returns
        -------
        bool
        """
        return self.a is None and M > FEW and M * n * n > ROOM

    def solver(self, costs: EngineCosts) -> Solver:
        return SiftedSKM(self) if costs.access == "streamed" else self

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem from the engine's alpha and given weights.

        Parameters
        ----------
        problem : Problem
        engine : Engine
            Stores the examples and alpha.
        weights : ndarray of shape (M,)
            Initial weights; not used if alpha is zero.
        run : Run

        Returns
        -------
        Result
        """
        return self._finished(problem, engine, self._solved(problem, engine, weights, run), run)

    def _finished(self, problem: Problem, engine: Engine, result: Result, run: Run) -> Result:
        """Return a result with its optimality, sparsified on request."""
        if result.converged and self.sparsify:
            result = sparsify(problem, engine, result, run.tol)
        F, s, theta = engine.combined(result.weights), engine.quadratic(), result.weights
        return replace(result, optimality=optimality(problem, result.alpha, F, s, theta))

    def _solved(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem on all of its kernels."""
        room = int(np.sqrt(self.block_mb * 2**20 / (8 * engine.n_kernels)))
        smoothing = Smoothing(room, self.kappa, self.mu, self.a)
        smooth, iterations = SmoothedProblem(problem, engine, weights, run, smoothing), 0
        while True:
            certificate = smooth.certify()
            run.record(certificate, smooth.theta, iterations)
            good = run.converged and self._optimal(problem, engine, smooth)
            exact = certificate.gap <= smooth.tuning.rounding
            if good or exact or run.stalled(engine) or run.budget.spent:
                break
            smooth.improve(certificate)
            run.notify(engine.alpha, smooth.theta)
            iterations = 1
        result = run.result(certificate, engine.alpha, smooth.theta)
        return replace(result, converged=good)

    def _optimal(self, problem: Problem, engine: Engine, smooth: SmoothedProblem) -> bool:
        """Return whether the model is (eps1, eps2)-optimal."""
        if np.isinf(self.eps1) and np.isinf(self.eps2):
            return True
        F = engine.combined(smooth.theta)
        eps1, eps2 = optimality(problem, engine.alpha, F, smooth.s, smooth.theta)
        return eps1 <= self.eps1 and eps2 <= self.eps2


@dataclass(frozen=True)
class SiftedSKM:
    """The support kernel machine on a growing set of kernels.

    Parameters
    ----------
    parameters : SKM
        Smoothing and stopping criteria.
    """

    parameters: SKM

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem from the engine's alpha and weights, shape (M,)."""
        skm = self.parameters
        stricter = replace(skm, eps1=0.5 * skm.eps1)

        def enough(result: Result, excess: float) -> bool:
            unrestricted = np.isinf(skm.eps1) and np.isinf(skm.eps2)
            return unrestricted or (result.converged and 0.5 * excess <= stricter.eps1)

        likely = np.flatnonzero(weights)
        if len(likely) == len(weights):  # not a warm start with sparse weights
            plain = SKM(block_mb=skm.block_mb, kappa=skm.kappa, mu=skm.mu)
            weights, likely = first_guess(plain._solved, problem, engine, run)
        sifting = Sifting(stricter._solved, enough=enough)
        result = sifting.solve(problem, engine, weights, run, likely)
        return skm._finished(problem, engine, result, run)
