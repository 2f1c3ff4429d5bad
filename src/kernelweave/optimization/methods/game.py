"""The game of multiplicative weights: rounds, weights, certificates; see `mwu`.

A round needs the deepest example of each class, and what it adds to the outputs of every kernel.
Where examples are elsewhere, a question to all of them in each of some thousand rounds would take
too long. So rounds are played in batches on the examples that can be the deepest: those with an a
above 0, and the deepest ones of each class. They are fetched, and an ordinary engine keeps their
outputs. After a batch one pass over all examples tells how deep the others lie, and certifies
(Moeller et al. 2018, section 6).
"""

from __future__ import annotations

import numpy as np

from ...common.cached_property import cached_property
from ...engines.base import Engine, kernel_blocks
from ...problem.certificate import Certificate
from ...problem.problem import Problem

CANDIDATES = 1000  # of each class in a batch, besides those with an a above 0


class Game:
    """The state of the game: a as signed alpha, its outputs in the engine, and the weights mu.

    Parameters
    ----------
    problem : what is solved.
    engine : the examples.
    before : a game that goes on, whose a the engine has; by default a new one begins.
    examples : of a batch: where its examples are among those of the whole game, sorted.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        before: Game | None = None,
        examples: np.ndarray | None = None,
    ):
        self.problem, self.engine, self.examples = problem, engine, examples
        self.cost = problem.norm.costs(engine.n_kernels)
        self.ridge = problem.term.curv
        counted = problem.y * (problem.C > 0)  # those held out have no cost
        self.positive, self.negative = (np.flatnonzero(counted * sign > 0) for sign in (1, -1))
        if not (self.positive.size and self.negative.size):
            raise ValueError("y must have examples of both classes")
        if before is not None:
            self._follow(before)
            return
        engine.move_to(np.zeros(engine.n))
        self.s = np.zeros(engine.n_kernels)  # a'G_m a without the ridge,
        self.ridge_part = 0.0  # and what the ridge adds
        self.mu = 1.0 / self.cost / np.sum(1.0 / self.cost)
        self.rounds, self.longest, self.step = 0, 0.0, 0.0

    def _follow(self, other: Game) -> None:
        """Take over what was played in another game, with the same kernels."""
        self.s, self.ridge_part = other.s.copy(), other.ridge_part
        self.mu, self.step = other.mu, other.step
        self.rounds, self.longest = other.rounds, other.longest

    def batch(self) -> Game:
        """Return the game on the examples that can be the deepest, for some rounds."""
        alpha, sides = self.engine.alpha, ((self.positive, 1), (self.negative, -1))
        F = self.engine.combined(self.theta()) * self.problem.norm.value(self.mu)
        F = F + self.ridge * alpha
        deepest = [
            side[np.argsort(sign * F[side], kind="stable")[:CANDIDATES]] for side, sign in sides
        ]
        near = np.union1d(np.flatnonzero(alpha), np.concatenate(deepest))
        problem = self.problem.restricted(near, self.problem.tau)
        return Game(problem, self.engine.subset(near), self, near)

    def take(self, batch: Game) -> None:
        """Take over what was played in a batch."""
        if batch.examples is not None:
            self.engine.change(batch.examples, batch.engine.alpha)
            self._follow(batch)

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
        outputs = kernel_blocks(self.engine).outputs()
        F = self.mu @ outputs + self.ridge * self.engine.alpha
        up, down = F[self.positive].argmin(), F[self.negative].argmax()
        pair = np.array([self.positive[up], self.negative[down]])
        delta = np.array([0.5, -0.5])
        before = outputs[:, pair] @ delta
        alpha = self.engine.alpha[pair]
        self.ridge_part += float(self.ridge[pair] @ (delta * (2 * alpha + delta)))
        self.engine.change(pair, alpha + delta)
        after = kernel_blocks(self.engine).outputs()[:, pair] @ delta
        self.s += (before + after) / self.cost
        self.rounds += 1
        self.step = float(((after - before) / self.cost).max() + self.ridge[pair].sum() / 4)
        self.mu = self._weights(rate)

    def _weights(self, rate: float) -> np.ndarray:
        """mu, scaled so that nothing overflows; weights that underflow are kernels that are out."""
        length = np.sqrt(np.maximum(self.s, 0.0) + self.ridge_part)
        self.longest = float(length.max())
        # 2 sinh(x) = exp(x) (1 - exp(-2 x)), here divided by the largest exp(x).
        sinh = np.exp(rate * (length - self.longest)) * -np.expm1(-2 * rate * length)
        mu = sinh / np.maximum(length, 1e-300) / self.cost
        scaled: np.ndarray = mu / (mu @ self.cost)
        return scaled

    def theta(self) -> np.ndarray:
        """The weights of the problem, shape (M,)."""
        return self.mu / self.problem.norm.value(self.mu)

    def certificate(self) -> Certificate:
        """Certify the model of a and mu, scaled to the best dual value or to margin 1."""
        total = np.abs(self.engine.alpha).sum()
        value = self.s.max() + self.ridge_part
        theta = self.theta()
        F = self.engine.combined(theta)
        margin = 0.5 * (F[self.positive].min() - F[self.negative].max())
        scales = [total / value] + ([1.0 / margin] if margin > 0 else [])
        models = [(float(scale), self._scaled(scale, F, theta)) for scale in scales]
        self.scale, best = min(models, key=lambda model: model[1].gap)
        return best

    def _scaled(self, scale: float, F: np.ndarray, theta: np.ndarray) -> Certificate:
        s = scale**2 * self.s * self.cost
        return self.problem.certificate(scale * self.engine.alpha, scale * F, s, theta)
