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
from ...model.files.registry import stored
from ...norms import Norm
from ...problem.problem import Problem
from ..history import History, Result
from .base import Method
from .optimality import optimality, sparsify
from .sifting import FEW, ROOM, first_guess, sift
from .smoothed_problem import LEAST, SmoothedProblem

ROUGH = 5e-4  # gap to which some kernels are solved as long as others are missing
ENTER = 16  # kernels that join those worked on after a look at all of them, at most


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
            history.tell(engine.alpha, smooth.theta)
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
