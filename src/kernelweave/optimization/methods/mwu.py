"""Multiplicative weights: two examples a round, and nothing quadratic (Moeller et al., 2018).

With the squared hinge loss, the dual of p = 1 is a game between kernels and examples,

    min over a >= 0, sum a = 1, a'y = 0   of   max_m  a'G_m a,     G_m = Y (K_m / c_m + D) Y,

where D = diag(1 / (2 C_i)) and c_m is the cost of kernel m; with the value v of the game the
optimum is 1 / (2 v). As C grows it becomes the hard margin problem. A round takes the example of
each class that lies deepest on the wrong side, gives half a unit of a to each, and then weighs the
kernels by

    mu_m ~ sinh(rate ||u_m||) / ||u_m||,      ||u_m||^2 = a'G_m a,

the exponential of an (n + 1) x (n + 1) matrix in closed form. The learning rate of the paper is
eps' = -log(1 - eps / (2 rho)). Memory is O(M n): the outputs of each kernel; columns of kernels are
computed on demand. If even that is too much, the game is played on some of the kernels at a time
(`sifting`).

The paper's rate is for a game of value 1, whereas kernels of trace 1 or with a unit diagonal make
one of a far smaller value, so that weights hardly leave uniform. The default is `scaling="value"`:
the rate that the paper's algorithm would end with on a game scaled to value 1, which is
2 log(n) / eps over the largest ||u||, in all rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...common.numbers import as_number
from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...losses import Loss
from ...model.files.registry import stored
from ...norms import Norm
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .base import Method
from .game import Game
from .sifting import sift, spread

CERTIFIED = 40  # times in a run that its model is
LARGE = 2**29  # bytes of outputs from which on kernels are streamed,
FIRST = 2000  # from a sample of so many on,
ENTER = 1000  # which so many join after a look at all of them, at most,
LOOKS = 4  # of which there are so many at most


@stored("MWU")
@dataclass(frozen=True)
class MWU(Method):
    """The solver and its parameters.

    Parameters
    ----------
    eps : float in (0, 1)
        The error that a run aims at; it takes at most 8 rho^2 log(n) / eps^2 rounds, and then ends
        whatever its gap is.
    scaling : {"value", "unit", "trace"}
        What the rate is measured in: the value of the game, the largest diagonal element of the
        kernels, or, as the paper prints it, their mean trace.
    rho : float, optional
        The width, at least 1 + ||u_m|| of any single round. The bound of the paper, 3/2, needs
        kernels of trace 1 without negative values. By default a bound that holds for all kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF
    >>> from kernelweave.solvers.mwu import MWU
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> widths, solver = RBF([0.1, 1.0]), MWU(eps=0.1)
    >>> model = MKLClassifier(
    ...     widths, norm=1, loss="squared_hinge", normalize="unit", solver=solver, tol=0.05
    ... )
    >>> rough = model.fit(X, X[:, 0] > 0)
    >>> rough.duality_gap_ <= rough.tol
    True
    """

    eps: float = 0.1
    scaling: str = "value"
    rho: float | None = None

    def __post_init__(self) -> None:
        if not 0 < as_number(self.eps) < 1:
            raise ValueError(f"eps must be a number above 0 and below 1, got {self.eps!r}")
        if self.scaling not in ("value", "unit", "trace"):
            raise ValueError(
                f"scaling must be one of ['value', 'unit', 'trace'], got {self.scaling!r}"
            )
        if self.rho is not None and not 1 < as_number(self.rho) < np.inf:
            raise ValueError(f"rho must be None or a finite number above 1, got {self.rho!r}")

    @property
    def far(self) -> bool:
        """Games are played near, on some of the examples at a time."""
        return True

    def streams(self, M: int, n: int) -> bool:
        """Whether outputs of all kernels would take much memory."""
        return 8 * M * n > LARGE

    @property
    def when_stopped(self) -> str:
        """Rounds end with the error that `eps` asks for."""
        return (
            f"multiplicative weights end after the rounds that their eps={self.eps:g} allows: "
            f"raise tol, take solver=MWU(eps={self.eps / 10:g}) of kernelweave.solvers.mwu, which "
            'has 100 times as many, or a solver for small gaps such as "auto"'
        )

    def serves(self, norm: Norm) -> bool:
        """Whether p = 1."""
        return norm.is_sparse

    def serves_loss(self, loss: Loss) -> bool:
        """Whether it is the squared hinge, whose dual is this game."""
        return loss.name == "squared_hinge"

    def solver(self, costs: EngineCosts) -> Solver:
        return SiftedMWU(self) if costs.streamed else MWURounds(self, in_batches=costs.remote)

    def rounds(self, game: Game) -> int:
        """Return the bound of the paper on the number of rounds."""
        rho = 1.0 if self.scaling == "value" else self._rho(game)
        return math.ceil(8 * rho**2 / self.eps**2 * math.log(game.engine.n))

    def _rho(self, game: Game) -> float:
        """1 + ||u||, and ||u||^2 is at most the largest diagonal element, in the units chosen."""
        return self.rho or 1.0 + math.sqrt(game.largest / game.unit(self.scaling))

    def rate(self, game: Game) -> Callable[[Game], float]:
        """Return what gives the rate of each round."""
        if self.scaling == "value":
            top = 2 * math.log(game.engine.n) / self.eps
            return lambda game: top / max(game.longest, 1e-300)
        rho, unit = self._rho(game), game.unit(self.scaling)
        rate = -math.log(1 - self.eps / (2 * rho)) / (2 * rho) / math.sqrt(unit)
        return lambda game: rate

    def check_width(self, step: float) -> None:
        """Raise where the last round, with a squared step in the units chosen, was too wide."""
        if self.rho is None or self.scaling == "value":
            return
        width = 1.0 + math.sqrt(step)
        if width > self.rho * (1 + 1e-12):
            raise ValueError(
                f"rho={self.rho:g} is too small: a round had width {width:g}, as happens where "
                "kernels have negative values; leave rho=None for a bound that always holds"
            )


@dataclass(frozen=True)
class MWURounds:
    """Rounds of multiplicative weights on all kernels.

    Parameters
    ----------
    parameters : MWU
    in_batches : bool
        Whether several rounds are played on some of the examples at a time, since the examples are
        on other machines.
    """

    parameters: MWU
    in_batches: bool = False

    @property
    def when_stopped(self) -> str:
        """Advice if the rounds ended above the tolerance."""
        return self.parameters.when_stopped

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem; the result does not depend on the start."""
        mwu, game = self.parameters, Game(problem, engine)
        rate, rounds, unit = mwu.rate(game), mwu.rounds(game), game.unit(mwu.scaling)
        rounds = min(rounds, run.budget.iterations_left or rounds)
        while True:
            before = game.rounds
            batch = game.batch() if self.in_batches else game
            for _ in range(min(max(1, rounds // CERTIFIED), rounds - before)):
                batch.play(rate(batch))
                mwu.check_width(batch.step / unit)
                if run.budget.out_of_time:
                    break
            game.take(batch)
            certificate = game.certificate()
            alpha = game.scale * engine.alpha
            run.record(certificate, game.theta(), game.rounds - before, alpha)
            if run.converged or run.budget.out_of_time or game.rounds >= rounds:
                break
        engine.move_to(*engine.snapshot().scaled(game.scale))
        return run.result(certificate, engine.alpha, game.theta())


@dataclass(frozen=True)
class SiftedMWU:
    """Multiplicative weights on some of many kernels at a time.

    Parameters
    ----------
    parameters : MWU
    """

    parameters: MWU

    @property
    def when_stopped(self) -> str:
        """Advice if the rounds ended above the tolerance."""
        return self.parameters.when_stopped

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem; the result does not depend on the start."""
        first = spread(np.arange(engine.n_kernels), FIRST)
        rounds = MWURounds(self.parameters)
        return sift(rounds.solve, problem, engine, weights, run, first, _some, looks=LOOKS)


def _some(kernels: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the kernels that join a sample, evenly spread."""
    return spread(kernels, ENTER)
