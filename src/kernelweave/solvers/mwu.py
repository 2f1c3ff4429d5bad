"""Multiplicative weights: two examples a round, and nothing quadratic (Moeller et al., 2018).

With the squared hinge loss, the dual of p = 1 is a game between kernels and examples,

    min over a >= 0, sum a = 1, a'y = 0   of   max_m  a'G_m a,     G_m = Y (K_m / c_m + D) Y,

where D = diag(1 / (2 C_i)) and c_m is the cost of kernel m; with the value v of the game the
optimum is 1 / (2 v). As C grows it becomes the hard margin problem. A round takes the example of
each class that lies deepest on the wrong side, gives half a unit of a to each, and then weighs the
kernels by

    mu_m ~ sinh(rate ||u_m||) / ||u_m||,      ||u_m||^2 = a'G_m a,

the exponential of an (n + 1) x (n + 1) matrix in closed form. (In the paper's algorithm p12 is
negative, and the printed rate lacks its rho: eps' = -log(1 - eps / (2 rho)).) Memory is O(M n): the
outputs of each kernel; columns of kernels are computed when they are asked for. Where kernels are
many, rounds are played with those that have weight (`mwu_kernels`); where even O(M n) is much, the
game is played on samples of the kernels (`sifting`).

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

from ..cached_property import cached_property
from ..engines.base import Engine
from ..engines.streamed import StreamedEngine
from ..losses import Loss
from ..norms import Norm
from ..numeric import as_number
from ..problem import Certificate, Problem
from ..stored import stored
from ..training.history import History, Result
from .base import Method
from .sifting import sift, spread

QUASH = 20.0  # from this exponent on, sinh(x) is exp(x) / 2 to double precision
CERTIFIED = 40  # times in a run that its model is
NOTHING = 1e-6  # share of all weights that kernels without weight may have had
MANY = 100  # kernels from which on rounds are played with some of them
LARGE = 2**29  # bytes of outputs of all kernels that are too many: then kernels are sampled,
FIRST = 2000  # from a sample of so many on,
ENTER = 1000  # which so many join after a look at all of them, at most,
LOOKS = 4  # of which there are so many at most


@stored("MWU")
@dataclass(frozen=True)
class MWU(Method):
    """The solver, and what it can be told.

    Parameters
    ----------
    eps : float in (0, 1)
        The error that a run aims at; it takes at most 8 rho^2 log(n) / eps^2 rounds.
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
        """Whether the kernels are many, or their outputs would take much memory."""
        return M >= MANY or 8 * M * n > LARGE

    def serves(self, norm: Norm) -> bool:
        """Whether p = 1."""
        return norm.is_sparse

    def serves_loss(self, loss: Loss) -> bool:
        """Whether it is the squared hinge, whose dual is this game."""
        return loss.name == "squared_hinge"

    def solve(
        self, problem: Problem, engine: Engine, weights: np.ndarray, history: History
    ) -> Result:
        """Solve a problem; where it starts makes no difference."""
        if engine.far:
            from .mwu_batches import play_batches  # which is made of games

            return play_batches(self, problem, engine, history)
        if isinstance(engine, StreamedEngine) and 8 * engine.n_kernels * engine.n <= LARGE:
            from .mwu_kernels import play_some

            return play_some(self, problem, engine, history)
        if engine.streams:
            first = spread(np.arange(engine.n_kernels), FIRST)
            return sift(self.solve, problem, engine, weights, history, first, _some, looks=LOOKS)
        game = Game(problem, engine)
        rate, rounds = self.rate(game), self.rounds(game)
        rounds = min(rounds, history.turns_left or rounds)
        while True:
            before = game.rounds
            for _ in range(min(max(1, rounds // CERTIFIED), rounds - before)):
                game.play(rate(game))
                self.check_width(game)
                if history.out_of_time:
                    break
            certificate = game.certificate()
            history.add(certificate, game.theta(), game.rounds - before)
            if history.converged or history.out_of_time or game.rounds >= rounds:
                break
        engine.move_to(game.scale * engine.alpha, game.scale * engine.outputs())
        return history.result(certificate, engine.alpha, game.theta())

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

    def check_width(self, game: Game) -> None:
        """Raise where the last round was wider than `rho` allows."""
        if self.rho is None or self.scaling == "value":
            return
        width = 1.0 + math.sqrt(game.step / game.unit(self.scaling))
        if width > self.rho * (1 + 1e-12):
            raise ValueError(
                f"rho={self.rho:g} is too small: a round had width {width:g}, as happens where "
                "kernels have negative values; leave rho=None for a bound that always holds"
            )


def _some(kernels: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the kernels that join a sample, evenly spread."""
    return spread(kernels, ENTER)


class Game:
    """The state of the game: a as signed alpha, its outputs in the engine, and the weights mu.

    Parameters
    ----------
    problem : what is solved.
    engine : the examples.
    before : a game that goes on, whose a the engine has; by default a new one, of which nothing was
        played.
    """

    def __init__(self, problem: Problem, engine: Engine, before: Game | None = None):
        self.problem, self.engine = problem, engine
        self.cost = problem.norm.costs(engine.n_kernels)
        self.ridge = problem.term.curv
        self.positive, self.negative = (np.flatnonzero(problem.y * sign > 0) for sign in (1, -1))
        if not (self.positive.size and self.negative.size):
            raise ValueError("y must have examples of both classes")
        if before is not None:
            self.follow(before)
            return
        engine.move_to(np.zeros(engine.n))
        self.s = np.zeros(engine.n_kernels)  # a'G_m a without the ridge,
        self.ridge_part = 0.0  # and what the ridge adds
        self.mu = 1.0 / self.cost / np.sum(1.0 / self.cost)
        self.rounds, self.longest, self.step = 0, 0.0, 0.0

    def follow(self, other: Game, energies: np.ndarray | None = None) -> None:
        """Take over what was played in another game, with the same kernels.

        Where that game had others, `energies` are a'K_m a, shape (M,), and weights stay.
        """
        if energies is None:
            self.s, self.mu = other.s.copy(), other.mu
        else:
            self.s = energies / self.cost
        self.ridge_part, self.step = other.ridge_part, other.step
        self.rounds, self.longest = other.rounds, other.longest

    @cached_property
    def _diagonal(self) -> np.ndarray:
        """The diagonal of each G_m, shape (M, n); not asked for where the value is the unit."""
        diagonal: np.ndarray = self.engine.diagonal() / self.cost[:, None] + self.ridge
        return diagonal

    @cached_property
    def largest(self) -> float:
        """The largest element of all G_m."""
        return float(self._diagonal.max())

    def unit(self, scaling: str) -> float:
        """What an element of G is measured in."""
        return float(self._diagonal.sum(axis=1).mean()) if scaling == "trace" else self.largest

    def play(self, rate: float) -> None:
        """One round: the deepest example of each class, then new weights."""
        outputs = self.engine.outputs()
        F = self.mu @ outputs + self.ridge * self.engine.alpha
        pair = np.array(
            [
                self.positive[F[self.positive].argmin()],
                self.negative[F[self.negative].argmax()],
            ]
        )
        delta = np.array([0.5, -0.5])
        before = outputs[:, pair] @ delta
        alpha = self.engine.alpha[pair]
        self.ridge_part += float(self.ridge[pair] @ (delta * (2 * alpha + delta)))
        self.engine.change(pair, alpha + delta)
        after = self.engine.outputs()[:, pair] @ delta
        self.s += (before + after) / self.cost
        self.rounds += 1
        self.step = float(((after - before) / self.cost).max() + self.ridge[pair].sum() / 4)
        self.mu = self.weights(rate)

    def weights(self, rate: float) -> np.ndarray:
        """Return mu, scaled so that nothing overflows; small weights are kernels that are out."""
        length = np.sqrt(np.maximum(self.s, 0.0) + self.ridge_part)
        self.longest = float(length.max())
        exponent = rate * length
        top = rate * self.longest
        large = exponent > QUASH if top > QUASH else np.zeros(len(exponent), dtype=bool)
        sinh = np.where(
            large, 0.5 * np.exp(exponent - top), np.exp(-top) * np.sinh(np.minimum(exponent, QUASH))
        )
        mu = sinh / np.maximum(length, 1e-300)
        mu[mu < NOTHING / len(mu) * mu.max()] = 0.0
        scaled: np.ndarray = mu / self.cost / mu.sum()
        return scaled

    def theta(self) -> np.ndarray:
        """The weights of the problem, shape (M,)."""
        return self.mu / self.problem.norm.value(self.mu)

    def certificate(self, F: np.ndarray | None = None) -> Certificate:
        """Certify the model of a and mu, scaled to the best dual value or to margin 1.

        F are its combined outputs at the weights `theta()`, shape (n,), where these are known.
        """
        total = np.abs(self.engine.alpha).sum()
        value = self.s.max() + self.ridge_part
        theta = self.theta()
        F = self.engine.combined(theta) if F is None else F
        margin = 0.5 * (F[self.positive].min() - F[self.negative].max())
        scales = [total / value] + ([1.0 / margin] if margin > 0 else [])
        certificates = [self._scaled(scale, F, theta) for scale in scales]
        best = min(range(len(scales)), key=lambda k: certificates[k].gap)
        self.scale = float(scales[best])
        return certificates[best]

    def _scaled(self, scale: float, F: np.ndarray, theta: np.ndarray) -> Certificate:
        s = scale**2 * self.s * self.cost
        return self.problem.certificate(scale * self.engine.alpha, scale * F, s, theta)
