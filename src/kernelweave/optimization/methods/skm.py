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

from ...common.numbers import as_number
from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...model.files.registry import stored
from ...norms import Norm
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .base import Method
from .optimality import optimality, sparsify
from .sifting import FEW, ROOM, ROUGH, first_guess, highest, sift
from .smoothed_problem import LEAST, SmoothedProblem


@stored("SKM")
@dataclass(frozen=True)
class SKM(Method):
    """The solver and its parameters.

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

    def solver(self, costs: EngineCosts) -> Solver:
        return SiftedSKM(self) if costs.streamed else self

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem from the engine's alpha; if that is not zero, from the weights too."""
        return self._finished(problem, engine, self._solved(problem, engine, weights, run), run)

    def _finished(self, problem: Problem, engine: Engine, result: Result, run: Run) -> Result:
        """Return a result with its optimality, sparsified if asked for."""
        if result.converged and self.sparsify:
            result = sparsify(problem, engine, result, run.tol)
        F, s, theta = engine.combined(result.weights), engine.quadratic(), result.weights
        return replace(result, optimality=optimality(problem, result.alpha, F, s, theta))

    def _solved(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem on all of its kernels."""
        room = int(np.sqrt(self.block_mb * 2**20 / (8 * engine.n_kernels)))
        smooth, turns = SmoothedProblem(problem, engine, weights, run, room), 0
        while True:
            certificate = smooth.certify()
            run.record(certificate, smooth.theta, turns)
            good = run.converged and self._optimal(problem, engine, smooth)
            if good or certificate.gap <= LEAST or run.stalled(engine) or run.budget.spent:
                break
            smooth.improve(certificate)
            run.notify(engine.alpha, smooth.theta)
            turns = 1
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
    """The support kernel machine on some of many kernels at a time.

    Parameters
    ----------
    machine : SKM
    """

    machine: SKM

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem from the engine's alpha and weights, shape (M,)."""
        machine = self.machine
        stricter = replace(machine, eps1=0.5 * machine.eps1)

        def enough(result: Result, excess: float) -> bool:
            any_model = np.isinf(machine.eps1) and np.isinf(machine.eps2)
            return any_model or (result.converged and 0.5 * excess <= stricter.eps1)

        likely = np.flatnonzero(weights)
        if len(likely) == len(weights):  # no earlier run has chosen among the kernels
            plain = SKM(block_mb=machine.block_mb)
            weights, likely = first_guess(plain._solved, problem, engine, run)
        result = sift(
            stricter._solved, problem, engine, weights, run, likely, highest,
            rough=ROUGH, enough=enough,
        )  # fmt: skip
        return machine._finished(problem, engine, result, run)
