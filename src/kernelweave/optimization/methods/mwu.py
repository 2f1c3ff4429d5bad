"""Multiplicative weight updates: two examples per round, and memory O(M n) (Moeller et al., 2018).

The dual of p = 1 with a hard margin (C = inf, the paper's problem 4.1) is a game between kernels
and examples,

    min over a >= 0, sum a = 1, a'y = 0   of   max_m  a'G_m a,     G_m = Y K_m Y / c_m,

where c_m is the cost of kernel m; with the value v of the game the optimum is 1 / (2 v). The
squared hinge adds D = diag(1 / (2 C_i)) to every G_m. Without an intercept a'y is free. A round
selects the example of each class with the smallest margin, increases a of both by 1/2, and then
sets the kernel weights to

    mu_m ~ sinh(rate ||u_m||) / ||u_m||,      ||u_m||^2 = a'G_m a,

the exponential of an (n + 1) x (n + 1) matrix in closed form. The learning rate of the paper is
eps' = -log(1 - eps / (2 rho)). Memory is O(M n): the outputs of each kernel; columns of kernels are
computed on demand. If there are many kernels, the game is played on some of them at a time
(`sifting`).

The hinge loss bounds alpha by C. With t = sum |alpha| the bound of a is C / t, and a round selects
as many examples with the smallest margins as these bounds require. t is not known. If the bounds
refer to the right t, examples that are neither at 0 nor at their bound have margin 1, so that t is
the inverse of their margin for sum a = 1. After every certificate t moves towards this value, by
steps that decrease like those of stochastic approximation. The game is played several times, each
time for twice as many rounds, so that early rounds with a wrong t lose their influence.

With a first `stage` the weights are fixed before the game. The game between the examples and one
kernel is the second stage of two-stage kernel learning, for more examples than SVM solvers can
handle (section 2 of the paper, on Cortes et al., 2010). The learning rate of the paper is for a
game of value 1. Kernels of trace 1 or with a unit diagonal give a far smaller value, and the
weights stay nearly uniform. The default is `scaling="value"`: in all rounds the rate is 2 log(n) /
eps divided by the largest ||u||, with which the algorithm of the paper would end on a game scaled
to value 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...common.numbers import as_number
from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...losses import Loss
from ...model.files.registry import registered
from ...norms import Norm
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..result import Result
from ..run import Run
from ..solver import Solver
from .alignment import Aligned
from .base import Method
from .game import Batch, Game
from .sifting import MANY, Sifting, spread

CERTIFICATES = 40  # number of certificates in a run
LARGE = 2**29  # bytes of outputs above which kernels are sifted in any case
EPOCHS = 5  # games with the hinge loss before the last one
GAIN = 0.7  # step k of t has length k^-0.7; stochastic approximation needs more than 1/2, at most 1
STAGES = {"alignment": "plain", "centered-alignment": "centred"}  # names in plans
EPS = 0.1  # largest accuracy by default
LEAST_TOL = 0.01  # smallest tolerance that the default accuracy aims at
EPS_OF_TOL = 2.0  # accuracy relative to the tolerance: gaps end at about half of eps, or above
# Sifting, if kernels are streamed.
FIRST = 300  # kernels in the first sample
MAX_PASSES = 10  # passes over all kernels
KEPT = 0.5  # fraction of rounds that count in the next game, with more kernels; 0 starts anew
EARLY_TOL = 0.03  # gap to which a sample is solved while kernels are missing
INNER_TOL = 0.9  # gap to which the last sample is solved, relative to the tolerance
SAMPLE, MORE_ROUNDS = 500, 2.5  # typical number of kernels in a round, and of rounds in all games


@registered("MWU")
@dataclass(frozen=True)
class MWU(Method):
    """Multiplicative weight updates, for p = 1 and the hinge, the squared hinge or a hard margin.

    Parameters
    ----------
    eps : float in (0, 1), optional
        Accuracy. A run ends after at most 8 rho^2 log(n) / eps^2 rounds, whatever its gap is. The
        default is twice `tol`, but at most 0.1, and then half of it if the gap is still above
        `tol`. A `tol` below 0.01 takes too many rounds; then the default is 0.1.
    scaling : {"value", "unit", "trace"}, default "value"
        Unit of the learning rate: the value of the game, the largest diagonal element of the
        kernels, or, as printed in the paper, their mean trace.
    rho : float, optional
        Width: an upper bound of 1 + sqrt(d'K_m d), where d is the change of alpha in any round, and
        K_m kernel matrix m with its ridge, in units of `scaling`. The bound of the paper, 3/2,
        needs kernels of trace 1 without negative values. The default is a bound for all kernels.
    stage : {None, "alignment", "centered-alignment"}
        First stage. If given, the weights are those of this kernel alignment (for every norm that
        allows weights of 0), and multiplicative weights only find alpha.

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
    >>> model = model.fit(X, X[:, 0] > 0)
    >>> model.duality_gap_ <= model.tol
    True
    """

    eps: float | None = None
    scaling: str = "value"
    rho: float | None = None
    stage: str | None = None

    def __post_init__(self) -> None:
        if self.eps is not None and not 0 < as_number(self.eps) < 1:
            raise ValueError(f"eps must be None or a number above 0 and below 1, got {self.eps!r}")
        if self.scaling not in ("value", "unit", "trace"):
            raise ValueError(
                f"scaling must be one of ['value', 'unit', 'trace'], got {self.scaling!r}"
            )
        if self.rho is not None and not 1 < as_number(self.rho) < np.inf:
            raise ValueError(f"rho must be None or a finite number above 1, got {self.rho!r}")
        if self.stage is not None and self.stage not in STAGES:
            raise ValueError(f"stage must be None or one of {list(STAGES)}, got {self.stage!r}")

    @property
    def remote(self) -> bool:
        """Whether remote examples are supported: rounds are played on batches of local ones."""
        return self.stage is None

    def accuracy(self, tol: float | None = None) -> float:
        """Return the accuracy parameter `eps`; if it is None, its default for a tolerance.

        Parameters
        ----------
        tol : float, optional
            Relative duality gap to reach. If it is None, the default of `eps` is 0.1.

        Returns
        -------
        float
        """
        if self.eps is not None:
            return self.eps
        return EPS if tol is None or tol < LEAST_TOL else min(EPS_OF_TOL * tol, EPS)

    @property
    def first_stage(self) -> Aligned | None:
        return None if self.stage is None else Aligned(STAGES[self.stage])

    @property
    def solves_hard_margins(self) -> bool:
        return True

    def streams(self, M: int, n: int) -> bool:
        """Return whether M kernels on n examples are solved on growing samples (`sifting`).

        They are if this is faster, or if the outputs of all kernels do not fit in memory. A round
        reads and updates the outputs of all kernels, or of a sample. A pass over all kernels
        computes the kernel values of all pairs of support vectors.

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
        if 8 * M * n > LARGE:
            return True
        rounds = 8 / self.accuracy() ** 2 * math.log(max(n, 2))
        sifted = MORE_ROUNDS * rounds * n * SAMPLE + MAX_PASSES * M * min(n, 2 * rounds) ** 2
        return sifted < rounds * n * M

    @property
    def when_stopped(self) -> str:
        """Advice for users if the rounds ended with a gap above the tolerance."""
        eps, own = EPS, f"the default eps (at most {EPS:g})"
        if self.eps is not None:
            eps, own = self.eps, f"eps={self.eps:g}"
        return (
            f"multiplicative weights end after the number of rounds that {own} allows, which grows "
            f"with 1 / eps^2: raise tol, use solver=MWU(eps={eps / 10:g}) of "
            'kernelweave.solvers.mwu, or a solver for small gaps such as solver="auto"'
        )

    def serves(self, norm: Norm) -> bool:
        """Return whether a norm is supported: p = 1.

        With a first stage all norms that allow weights of 0 are supported.

        Parameters
        ----------
        norm : Norm

        Returns
        -------
        bool
        """
        return norm.is_sparse if self.stage is None else norm.allows_zeros

    def serves_loss(self, loss: Loss) -> bool:
        """Return whether a loss is supported: the hinge, the squared hinge or a hard margin.

        Parameters
        ----------
        loss : Loss

        Returns
        -------
        bool
        """
        return loss.name in ("hinge", "squared_hinge", "hard_margin")

    def solver(self, costs: EngineCosts) -> Solver:
        if costs.access == "streamed":
            return SiftedMWU(self)
        return MWURounds(self, in_batches=costs.access == "remote")

    def rounds(self, game: Game, eps: float) -> int:
        """Return the maximum number of rounds, by the bound of the paper.

        Parameters
        ----------
        game : Game
        eps : float
            Accuracy.

        Returns
        -------
        int
        """
        rho = 1.0 if self.scaling == "value" else self._rho(game)
        return math.ceil(8 * rho**2 / eps**2 * math.log(game.engine.n))

    def _rho(self, game: Game) -> float:
        """Return `rho`, or by default 1 plus the root of the largest diagonal element of any K_m.

        K_m is a kernel matrix with its ridge, in units of `scaling`.
        """
        return self.rho or 1.0 + math.sqrt(game.largest / game.unit(self.scaling))

    def rate(self, game: Game, eps: float) -> Callable[[Game], float]:
        """Return a function from the state of a game to the learning rate of the next round.

        Parameters
        ----------
        game : Game
            Its kernels determine the rate, unless `scaling` is "value".
        eps : float
            Accuracy.

        Returns
        -------
        callable
        """
        if self.scaling == "value":
            top = 2 * math.log(game.engine.n) / eps
            return lambda game: top / max(game.longest, 1e-300)
        rho, unit = self._rho(game), game.unit(self.scaling)
        rate = -math.log(1 - eps / (2 * rho)) / (2 * rho) / math.sqrt(unit)
        return lambda game: rate

    def check_width(self, step: float) -> None:
        """Check that `rho` is an upper bound of 1 + sqrt(step), as the learning rate assumes.

        Parameters
        ----------
        step : float
            Largest d'K_m d over the kernels, where d is the change of alpha in the last round, and
            K_m kernel matrix m with its ridge, in units of `scaling`.

        Raises
        ------
        ValueError
            If 1 + sqrt(step) is above `rho`.
        """
        if self.rho is None or self.scaling == "value":
            return
        width = 1.0 + math.sqrt(step)
        if width > self.rho * (1 + 1e-12):
            raise ValueError(
                f"rho={self.rho:g} is too small: a round had width {width:g}, which happens if "
                "kernels have negative values; use rho=None for a bound that always holds"
            )


@dataclass(frozen=True)
class MWURounds:
    """Rounds of multiplicative weight updates on all kernels.

    Parameters
    ----------
    parameters : MWU
        Accuracy, unit of the learning rate and width.
    in_batches : bool
        Whether rounds are played on batches of local examples, since the others are remote.
    played : int
        To continue an earlier game, whose result is the engine's alpha: its number of rounds; 0 for
        a new game. Not used if alpha has bounds.
    """

    parameters: MWU
    in_batches: bool = False
    played: int = 0

    @property
    def when_stopped(self) -> str:
        """Advice for users if the rounds ended with a gap above the tolerance."""
        return self.parameters.when_stopped

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem; a new game does not depend on the start.

        Raises
        ------
        ValueError
            If the margin is hard and no model without errors was found.
        """
        for game, eps, rounds in self._games(problem, engine, run.tol):
            most = min(rounds, game.rounds + (run.budget.iterations_left or rounds))
            certificate = self._play(game, eps, most, run)
            if run.budget.spent or (certificate.finite and run.converged):
                break
        if not certificate.finite:
            raise ValueError(
                f"multiplicative weights found no model without errors in {game.rounds} rounds; "
                "choose a finite C, other kernels, or solver='auto', which checks whether these "
                "kernels can separate the classes"
            )
        engine.move_to(*engine.snapshot().scaled(game.scale))
        return run.result(certificate, engine.alpha, game.theta())

    def _games(
        self, problem: Problem, engine: Engine, tol: float
    ) -> Iterator[tuple[Game, float, int]]:
        """Yield games, their accuracy and the number of their rounds.

        Bounds of alpha require several games. Without them one game is played, which continues with
        half of the default accuracy if that did not suffice.
        """
        mwu = self.parameters
        game, eps = Game(problem, engine, played=self.played), mwu.accuracy(tol)
        rounds = mwu.rounds(game, eps)
        if not game.bounded:
            yield game, eps, rounds
            if mwu.eps is None and tol >= LEAST_TOL:
                yield game, eps / 2, mwu.rounds(game, eps / 2)
            return
        total = 0.5 * game.largest_total
        for halvings in (EPOCHS, *range(EPOCHS, 0, -1)):
            game = Game(problem, engine, total=total)
            yield game, eps, max(1, rounds // 2**halvings)
            total = game.total

    def _play(self, game: Game, eps: float, rounds: int, run: Run) -> Certificate:
        """Play at most `rounds` rounds and return the last certificate."""
        mwu, engine = self.parameters, game.engine
        updates = 0
        rate, unit = mwu.rate(game, eps), game.unit(mwu.scaling)
        game.update_weights(rate(game))
        while True:
            before = game.rounds
            batch = game.batch() if self.in_batches else game
            for _ in range(min(max(1, rounds // CERTIFICATES), rounds - before)):
                batch.play(rate(batch))
                mwu.check_width(batch.step / unit)
                if run.budget.out_of_time:
                    break
            if isinstance(batch, Batch):
                game.merge(batch)
            certificate = game.certificate()
            if certificate.finite:
                alpha = game.scale * engine.alpha
                run.record(certificate, game.theta(), game.rounds - before, alpha)
            good = certificate.finite and run.converged
            if good or run.budget.out_of_time or game.rounds >= rounds:
                return certificate
            if game.bounded:
                updates += 1
                game.adapt(updates**-GAIN)


@dataclass(frozen=True)
class SiftedMWU:
    """Multiplicative weight updates on a growing set of kernels (`sifting`).

    The game on a larger set begins with the alpha of the last one.

    Parameters
    ----------
    parameters : MWU
        Accuracy, unit of the learning rate and width.
    """

    parameters: MWU

    @property
    def when_stopped(self) -> str:
        """Advice for users if the rounds ended with a gap above the tolerance."""
        return self.parameters.when_stopped

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem; the result does not depend on the start."""
        mwu, tol, played = self.parameters, run.tol, 0

        def continued(problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
            nonlocal played
            parameters = replace(mwu, eps=mwu.accuracy(max(tol, run.tol)))
            kept = int(KEPT * played)
            result = MWURounds(parameters, played=kept).solve(problem, engine, weights, run)
            played = kept + result.n_iter
            return result

        sifting = Sifting(
            continued, max_passes=MAX_PASSES, early_tol=EARLY_TOL, inner_tol=INNER_TOL
        )
        chosen = spread(np.arange(engine.n_kernels), FIRST)
        if engine.n_kernels >= MANY:
            weights, chosen = sifting.among_some(problem, engine, weights, run, chosen)
        return sifting.solve(problem, engine, weights, run, chosen)
