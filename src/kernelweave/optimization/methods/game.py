"""The game of multiplicative weight updates: rounds, weights, certificates; see `mwu`.

A round needs the example of each class with the smallest margin, and its kernel values. If examples
are remote, a pass over all of them in each of thousands of rounds would take too long. So rounds
are played on a batch of local copies: the examples with a > 0 and those of each class with the
smallest margins. After a batch, one pass over all examples computes the margins of the others and
the certificate (Moeller et al. 2018, section 6).
"""

from __future__ import annotations

import numpy as np

from ...common.cached_property import cached_property
from ...engines.base import Engine, kernel_blocks
from ...problem.certificate import Certificate
from ...problem.problem import Problem

CANDIDATES = 1000  # examples of each class in a batch, besides those with a > 0


class Game:
    """The state of the game: a as signed alpha in the engine, and the weights mu.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Holds the examples and alpha.
    before : Game, optional
        Game to continue, whose a the engine has; by default a new one begins.
    examples : ndarray of int, optional
        For a batch: positions of its examples in the full game, sorted.

    Attributes
    ----------
    s : ndarray of shape (M,)
        a' G_m a without the ridge D.
    ridge_part : float
        a' D a.
    mu : ndarray of shape (M,)
        Kernel weights, with sum_m mu_m c_m = 1.
    rounds : int
        Number of rounds played.
    longest : float
        Largest ||u_m||.
    step : float
        Largest ||u_m||^2 of the last round alone.
    scale : float
        Factor of alpha in the last certificate.
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
        counted = problem.y * (problem.C > 0)  # held-out examples have no cost
        self.positive, self.negative = (np.flatnonzero(counted * sign > 0) for sign in (1, -1))
        if not (self.positive.size and self.negative.size):
            raise ValueError("y must have examples of both classes")
        if before is not None:
            self._continue(before)
            return
        engine.move_to(np.zeros(engine.n))
        self.s = np.zeros(engine.n_kernels)
        self.ridge_part = 0.0
        self.mu = 1.0 / self.cost / np.sum(1.0 / self.cost)
        self.rounds, self.longest, self.step = 0, 0.0, 0.0

    def _continue(self, other: Game) -> None:
        """Copy the state of another game with the same kernels."""
        self.s, self.ridge_part = other.s.copy(), other.ridge_part
        self.mu, self.step = other.mu, other.step
        self.rounds, self.longest = other.rounds, other.longest

    def batch(self) -> Game:
        """Return the game on the examples with a > 0 or small margins, for some rounds."""
        alpha, sides = self.engine.alpha, ((self.positive, 1), (self.negative, -1))
        F = self.engine.combined(self.theta()) * self.problem.norm.value(self.mu)
        F = F + self.ridge * alpha
        smallest = [
            side[np.argsort(sign * F[side], kind="stable")[:CANDIDATES]] for side, sign in sides
        ]
        local = np.union1d(np.flatnonzero(alpha), np.concatenate(smallest))
        problem = self.problem.restricted(local, self.problem.tau)
        return Game(problem, self.engine.subset(local), self, local)

    def merge(self, batch: Game) -> None:
        """Update this game by the rounds of a batch."""
        if batch.examples is not None:
            self.engine.change(batch.examples, batch.engine.alpha)
            self._continue(batch)

    @cached_property
    def _diagonal(self) -> np.ndarray:
        """Diagonals of all G_m, shape (M, n); not needed with scaling="value"."""
        diagonal: np.ndarray = self.engine.diagonal() / self.cost[:, None] + self.ridge
        return diagonal

    @cached_property
    def largest(self) -> float:
        """Largest element of all G_m."""
        return float(self._diagonal.max())

    def unit(self, scaling: str) -> float:
        """Return the unit of the elements of G: their mean trace or the largest element."""
        return float(self._diagonal.sum(axis=1).mean()) if scaling == "trace" else self.largest

    def play(self, rate: float) -> None:
        """Play one round: select the example of each class with the smallest margin, update mu."""
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
        """Return mu, shape (M,), without overflow; weights of poor kernels may underflow."""
        length = np.sqrt(np.maximum(self.s, 0.0) + self.ridge_part)
        self.longest = float(length.max())
        # 2 sinh(x) = exp(x) (1 - exp(-2 x)), here divided by the largest exp(x).
        sinh = np.exp(rate * (length - self.longest)) * -np.expm1(-2 * rate * length)
        mu = sinh / np.maximum(length, 1e-300) / self.cost
        scaled: np.ndarray = mu / (mu @ self.cost)
        return scaled

    def theta(self) -> np.ndarray:
        """Return the weights of the problem, shape (M,)."""
        return self.mu / self.problem.norm.value(self.mu)

    def certificate(self) -> Certificate:
        """Return the certificate of a and mu, scaled to the best dual value or to margin 1."""
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
        """Return the certificate of alpha times `scale`, given its outputs F, shape (n,)."""
        s = scale**2 * self.s * self.cost
        return self.problem.certificate(scale * self.engine.alpha, scale * F, s, theta)
