"""The game of multiplicative weight updates (`mwu`): rounds, weights, certificates.

A round moves a towards the vertex of its feasible set with the smallest margins: one example of
each class, or one of all without an intercept. With the hinge loss each a_i has an upper bound, and
a vertex has as many examples of the smallest margins as the bounds require. If examples are remote,
a pass over all of them in each of thousands of rounds would take too long. So rounds are played on
a batch of local copies: the examples with a > 0 and those of each class with the smallest margins.
After a batch, one pass over all examples computes the margins of the others and the certificate
(Moeller et al. 2018, section 6).
"""

from __future__ import annotations

import numpy as np

from ...common.cached_property import cached_property
from ...engines.base import Engine, kernel_blocks
from ...problem.certificate import Certificate
from ...problem.problem import Problem

CANDIDATES = 1000  # examples of each class in a batch, besides those with a > 0
TINY = float(np.finfo(float).tiny)
ROUNDING = 4 * float(np.finfo(float).eps)  # relative reduction that keeps alpha within its bounds


class Game:
    """State of multiplicative weight updates: a = |alpha|, and the kernel weights mu; see `mwu`.

    Parameters
    ----------
    problem : Problem
    engine : Engine
        Stores the examples and alpha.
    total : float, optional
        Sum of |alpha| to which its bounds refer: a_i is at most (hi_i - lo_i) / total. Not used if
        alpha has no bounds.
    played : int
        To continue an earlier game: the number of rounds of which the engine's alpha is the result;
        0 begins at alpha = 0. Not used if alpha has bounds.

    Attributes
    ----------
    s : ndarray of shape (M,)
        Squared block norms a' Y K_m Y a / c_m, without the ridge D.
    ridge_part : float
        a' D a.
    mu : ndarray of shape (M,)
        Kernel weights, with sum_m mu_m c_m = 1 unless they are fixed.
    rounds : int
        Number of rounds played.
    longest : float
        Largest sqrt(a' G_m a) over the kernels, with G_m = Y K_m Y / c_m + D.
    step : float
        Largest d' G_m d over the kernels, where d is the change of a in the last round.
    scale : float
        Factor of alpha in the last certificate.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        total: float = np.inf,
        played: int = 0,
    ):
        self._pose(problem, engine, total)
        size = float(np.abs(engine.alpha).sum())
        self.rounds = 0 if self.bounded or not size else played
        engine.move_to(engine.alpha * (self.rounds / size if self.rounds else 0.0))
        self.s = engine.quadratic() / self.cost
        self.ridge_part = float(self.ridge @ engine.alpha**2)
        self.longest, self.step = 0.0, 0.0
        if problem.norm.is_fixed:
            self.mu = problem.norm.best(self.s)
        self.update_weights(0.0)

    def _pose(self, problem: Problem, engine: Engine, total: float) -> None:
        """Set the attributes that do not change during the game.

        `sides` are the positions of each class, or of all examples if there is no intercept.
        """
        self.problem, self.engine = problem, engine
        self.cost = problem.norm.costs(engine.n_kernels)
        self.ridge, self.total = problem.term.curv, total
        self.bounds = problem.term.hi - problem.term.lo
        self.bounded = bool(np.isfinite(self.bounds).all())
        counted = problem.y * (problem.C > 0)  # held-out examples have no cost
        self.sides = [np.flatnonzero(counted)]
        if problem.risk.has_intercept:  # both classes have the same sum of |alpha|
            self.sides = [np.flatnonzero(counted * sign > 0) for sign in (1, -1)]
        if not all(side.size for side in self.sides):
            raise ValueError(
                "y must have examples of both classes with a positive weight, got one class"
            )

    def _continue(self, other: Game) -> None:
        """Copy the state of another game with the same kernels."""
        self.s, self.ridge_part = other.s.copy(), other.ridge_part
        self.mu, self.step = other.mu, other.step
        self.rounds, self.longest = other.rounds, other.longest

    def batch(self) -> Batch:
        """Return the game on the examples with a > 0 or small margins, for some rounds."""
        alpha = self.engine.alpha
        F = self.engine.combined(self.theta()) * self.problem.norm.value(self.mu)
        margins = self.problem.y * (F + self.ridge * alpha)
        smallest = []
        for side in self.sides:
            count = max(CANDIDATES, 2 * len(self._filled(side, margins)[0]))
            smallest.append(side[np.argsort(margins[side], kind="stable")[:count]])
        local = np.union1d(np.flatnonzero(alpha), np.concatenate(smallest))
        return Batch(self, local)

    def merge(self, batch: Batch) -> None:
        """Update this game by the rounds of a batch."""
        self.engine.change(batch.examples, batch.engine.alpha)
        self._continue(batch)

    @cached_property
    def _diagonal(self) -> np.ndarray:
        """Diagonals of all G_m, shape (M, n); not needed with scaling="value"."""
        return self.engine.diagonal() / self.cost[:, None] + self.ridge

    @cached_property
    def largest(self) -> float:
        """Largest diagonal element of the kernel matrices Y K_m Y / c_m with their ridge."""
        return float(self._diagonal.max())

    def unit(self, scaling: str) -> float:
        """Return the unit of the scaled kernel matrices that `scaling` of `MWU` selects.

        It is their mean trace for "trace", otherwise their largest diagonal element.
        """
        return float(self._diagonal.sum(axis=1).mean()) if scaling == "trace" else self.largest

    def play(self, rate: float) -> None:
        """Play one round: increase a where margins are smallest; update mu at a learning rate."""
        outputs = kernel_blocks(self.engine).outputs()
        margins = self.problem.y * (self.mu @ outputs + self.ridge * self.engine.alpha)
        filled = [self._filled(side, margins) for side in self.sides]
        chosen, amounts = (np.concatenate(parts) for parts in zip(*filled, strict=True))
        delta, alpha = self.problem.y[chosen] * amounts, self.engine.alpha[chosen]
        before = outputs[:, chosen] @ delta
        self.ridge_part += float(self.ridge[chosen] @ (delta * (2 * alpha + delta)))
        self.engine.change(chosen, alpha + delta)
        after = kernel_blocks(self.engine).outputs()[:, chosen] @ delta
        self.s += (before + after) / self.cost
        self.rounds += 1
        largest = float(((after - before) / self.cost).max())
        self.step = largest + float(self.ridge[chosen] @ delta**2)
        self.update_weights(rate)

    def _filled(self, side: np.ndarray, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the examples of a side whose a increases in a round, and by how much.

        A side is one class, or all examples without an intercept. Its a increases by
        1 / (number of sides) in total. The example with the smallest margin increases first, up to
        its bound, then the next one.
        """
        share = 1.0 / len(self.sides)
        if not self.bounded:
            return side[[margins[side].argmin()]], np.array([share])
        order = side[np.argsort(margins[side], kind="stable")]
        most = self.bounds[order] / self.total
        left = share - np.append(0.0, np.cumsum(most)[:-1])
        used = max(int(np.count_nonzero(left > 0)), 1)
        return order[:used], np.minimum(most, left)[:used]

    def adapt(self, length: float) -> None:
        """Move `total` towards the optimal sum of |alpha|, on a logarithmic scale.

        If `total` is optimal, the examples whose a is neither 0 nor at its bound have margin 1.
        These are the last ones that a round selects. For sum a = 1 their margin, the mean over the
        sides, is then 1 / total.

        Parameters
        ----------
        length : float
            Fraction of the way, between 0 and 1. `total` changes by at most a factor of e.
        """
        margins = self.problem.y * self.engine.combined(self.theta())
        last = [margins[self._filled(side, margins)[0][-1]] for side in self.sides]
        wanted = self.rounds / max(float(np.mean(last)), TINY)
        change = np.clip(np.log(wanted / self.total), -1.0, 1.0)
        self.total = min(self.total * float(np.exp(length * change)), self.largest_total)

    def update_weights(self, rate: float) -> None:
        """Set mu for a learning rate.

        Exponentials are scaled so that none overflows; weights of poor kernels may underflow to 0.
        """
        length = np.sqrt(np.maximum(self.s, 0.0) + self.ridge_part)
        self.longest = float(length.max())
        if self.problem.norm.is_fixed:
            return
        if rate * self.longest == 0.0:
            self.mu = 1.0 / self.cost / np.sum(1.0 / self.cost)  # the limit of small rates
            return
        # 2 sinh(x) = exp(x) (1 - exp(-2 x)), here divided by the largest exp(x).
        sinh = np.exp(rate * (length - self.longest)) * -np.expm1(-2 * rate * length)
        mu = sinh / np.maximum(length, 1e-300) / self.cost
        self.mu = mu / (mu @ self.cost)

    def theta(self) -> np.ndarray:
        """Return the weights of the problem, shape (M,)."""
        return self.mu / self.problem.norm.value(self.mu)

    def certificate(self) -> Certificate:
        """Return the certificate of a and mu, scaled to the best dual value or to margin 1."""
        alpha, theta = self.engine.alpha, self.theta()
        value = self.problem.norm.dual(self.s * self.cost) + self.ridge_part
        F = self.engine.combined(theta)
        margins = self.problem.y * F
        margin = float(np.mean([margins[side].min() for side in self.sides]))
        scales = [float(np.abs(alpha).sum()) / max(value, TINY)]
        if margin > 0:
            hard = not (self.bounded or self.ridge.any())  # no margin may be below 1
            scales = [1.0 / margin] if hard else [*scales, 1.0 / margin]
        if self.bounded:
            used = alpha != 0
            largest = float(np.min(self.bounds[used] / np.abs(alpha[used]))) * (1 - ROUNDING)
            scales = [min(scale, largest) for scale in [*scales, self.total / self.rounds]]
        models = [(float(scale), self._scaled(scale, F, theta)) for scale in scales]
        self.scale, best = min(models, key=lambda model: model[1].gap)
        return best

    @property
    def largest_total(self) -> float:
        """Largest sum of |alpha| that the bounds of alpha allow."""
        return len(self.sides) * min(float(self.bounds[side].sum()) for side in self.sides)

    def _scaled(self, scale: float, F: np.ndarray, theta: np.ndarray) -> Certificate:
        """Return the certificate of alpha times `scale`, given its outputs F, shape (n,)."""
        s = scale**2 * self.s * self.cost
        return self.problem.certificate(scale * self.engine.alpha, scale * F, s, theta)


class Batch(Game):
    """The continuation of a game on some of its examples.

    Parameters
    ----------
    game : Game
        The game that is continued.
    examples : ndarray of int
        Positions of the examples in this game, sorted.
    """

    def __init__(self, game: Game, examples: np.ndarray):
        problem = game.problem.restricted(examples, game.problem.tau)
        self._pose(problem, game.engine.subset(examples), game.total)
        self.examples = examples
        self._continue(game)
