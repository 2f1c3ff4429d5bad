"""Projected conjugate gradients in all alphas, if products with the kernel matrix are cheap.

For fixed kernel weights the dual problem of a loss with a piecewise quadratic conjugate is

    minimise  1/2 alpha' K alpha + lin' alpha + eps' |alpha| + 1/2 alpha' diag(curv) alpha
    over      lo <= alpha <= hi,  sum alpha = tau (if there is an intercept).

A move is a change of alpha. It starts as a gradient step, is made conjugate to the previous move,
and is projected onto the feasible set. An exact line search gives its length, which is truncated at
the first bound. Each move costs one product with K. A truncated move leaves most alphas near their
bounds but not on them. The last moves are therefore projected gradient steps without truncation,
which set the alphas of examples that are not support vectors to exactly zero.

If eps is not 0, the objective has a kink at 0. The gradient step is then a proximal step: it
minimises the linearised objective plus the kinks, so that alphas near 0 become 0. Moves may cross
0, and the line search includes the kinks.

Conjugate gradients are slow if K is ill-conditioned. If the gap falls too slowly they stop above
the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...common.roots import root
from ...common.types import Numbers
from ...engines.base import Engine, kernel_blocks, mat_vec
from ...problem.problem import Problem
from ..certifier import certified
from ..kkt_system import longest_step
from ..result import Result
from ..run import Run

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class DescentTuning:
    """Constants that decide when conjugate gradients are too slow.

    Attributes
    ----------
    patience, moves_per_free : the gap must halve within `patience` moves, or within this number of
        moves per free alpha if that is larger. Ill-conditioned problems are slow at first, and
        small working sets with many free examples are slower still.
    stall_moves : moves within which the distance between the best primal and dual value must fall.
    stall_factor : factor below which that distance must fall.
    short_moves, short_length : epsilon-insensitive loss only. A move is short if kinks reduce its
        length below `short_length`. After `short_moves` short moves in a row, a gradient step
        without truncation sets alphas to their kinks.
    """

    patience: int = 100
    moves_per_free: float = 0.25
    stall_moves: int = 300
    stall_factor: float = 0.99
    short_moves: int = 3
    short_length: float = 0.01


@dataclass(eq=False)
class Descent:
    """Projected conjugate gradients on the alpha of an engine.

    Attributes
    ----------
    problem : Problem
    engine : Engine
        Stores the examples and alpha.
    weights : ndarray of shape (M,)
        Fixed kernel weights.
    separate : bool
        Whether products are computed for each kernel instead of for their sum. Set it if this costs
        no more (`engines.costs.Products.separate`).
    step : float
        Length of a gradient step: the inverse curvature along the last move.
    last : tuple of two ndarrays of shape (n,), or None
        The last move and its product with the Hessian.
    short_moves : int
        Number of short moves in a row.
    exact_bounds : bool
        Whether the last move was not truncated, so that bounded alphas are exactly at their bounds.
    tuning : DescentTuning
        Decides when progress is too slow.
    """

    problem: Problem
    engine: Engine
    weights: np.ndarray
    separate: bool = False
    step: float = 1.0
    last: tuple[np.ndarray, np.ndarray] | None = None
    short_moves: int = 0
    exact_bounds: bool = True
    tuning: DescentTuning = DescentTuning()

    @property
    def free(self) -> int:
        """Number of free alphas: strictly between their bounds, and not 0 at a kink."""
        term, alpha = self.problem.term, self.engine.alpha
        inside = (alpha > term.lo) & (alpha < term.hi)
        return int(np.count_nonzero(inside & ((alpha != 0) | (term.eps == 0))))

    def gradient(self) -> np.ndarray:
        """Return the gradient of the smooth part of the objective, shape (n,)."""
        term, alpha = self.problem.term, self.engine.alpha
        return self.engine.combined(self.weights) + term.lin + term.curv * alpha

    def kink_slope(self, move: np.ndarray, t: float = 0.0) -> float:
        """Return the right derivative in t of the kink term eps' |alpha + t move| of the objective.

        The move has shape (n,); eps is 0 unless the loss is epsilon-insensitive.
        """
        term, alpha = self.problem.term, self.engine.alpha
        if not term.eps.any():
            return 0.0
        point = alpha + t * move
        return float(term.eps @ np.where(point == 0, np.abs(move), np.sign(point) * move))

    def projected(self, change: np.ndarray, step: float = 0.0) -> np.ndarray:
        """Return a change of alpha, shape (n,), projected so that alpha stays feasible.

        With a step length it is the proximal operator of step * eps' |alpha|, the kinks of the
        epsilon-insensitive loss.
        """
        term, alpha = self.problem.term, self.engine.alpha
        kinks = step * term.eps
        nearest = project(alpha + change, term.lo, term.hi, self.problem.tau, kinks)
        return nearest - alpha

    @property
    def at_kinks(self) -> bool:
        """Whether kinks made the last `tuning.short_moves` moves short."""
        return self.short_moves >= self.tuning.short_moves

    def descend(self) -> bool:
        """Make one move and return whether alpha has changed."""
        if self.at_kinks:
            return self.unclipped_step()
        gradient = self.gradient()
        move = self.direction(gradient)
        products, hessian_product = self.products(move)
        best = self.rounded_length(self.best_length(gradient, move, products, hessian_product))
        if not best > 0:  # or NaN
            return False
        length = best if best < 1 else min(best, max(1.0, self.length_to_bound(move)))
        return self.take(length, move, products, hessian_product)

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """Return a descent direction, shape (n,), conjugate to the last move if possible."""
        move = self.projected(-self.step * gradient, self.step)
        if self.last is None:
            return move
        last, hessian_product = self.last
        ratio = float(move @ hessian_product) / max(float(last @ hessian_product), TINY)
        conjugate = self.projected(move - ratio * last)
        descends = gradient @ conjugate + self.kink_slope(conjugate) < 0
        return conjugate if descends else move

    def rounded_length(self, best: float) -> float:
        """Return the length to use, given that of the line search; subclasses may round it."""
        return best

    def unclipped_step(self) -> bool:
        """Make a projected gradient step that is short enough to decrease the objective.

        It is not truncated, so that alphas reach their bounds exactly. Returns whether alpha has
        changed.
        """
        gradient = self.gradient()
        while True:
            move = self.projected(-self.step * gradient, self.step)
            products, hessian_product = self.products(move)
            best = self.best_length(gradient, move, products, hessian_product)
            if best >= 0.5:  # for a parabola: the value at length 1 is at most that at 0
                moved = self.take(1.0, move, products, hessian_product)
                self.exact_bounds = True
                return moved
            if not best > 0:
                return False
            self.step *= best

    def products(self, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the products of a move with the kernel matrix and with the Hessian.

        Parameters
        ----------
        move : ndarray of shape (n,)
            Change of alpha.

        Returns
        -------
        products : ndarray of shape (n,), or (k, n) if `separate`
            With the combined kernel matrix, or with each of the k kernels of nonzero weight.
        hessian_product : ndarray of shape (n,)
        """
        products = mat_vec(self.engine).matvec(move, self.weights, each=self.separate)
        combined = self.weights[self.weights != 0] @ products if self.separate else products
        return products, combined + self.problem.term.curv * move

    def update_engine(self, alpha: np.ndarray, length: float, products: np.ndarray) -> None:
        """Move the engine to alpha, shape (n,); add `length` times `products` to its outputs."""
        if products.ndim == 2:
            outputs = (
                kernel_blocks(self.engine).outputs(np.flatnonzero(self.weights)) + length * products
            )
        else:
            outputs = self.engine.combined(self.weights) + length * products
        self.engine.move_to(alpha, outputs, self.weights)

    def best_length(
        self,
        gradient: np.ndarray,
        move: np.ndarray,
        products: np.ndarray,
        hessian_product: np.ndarray,
    ) -> float:
        """Return the length that minimises the objective along a move (exact line search)."""
        slope = float(gradient @ move) + self.kink_slope(move)
        curvature = max(float(move @ hessian_product), TINY)
        eps, alpha = self.problem.term.eps, self.engine.alpha
        crossing = np.flatnonzero(eps * alpha * move < 0)
        if not len(crossing):
            return -slope / curvature
        places, jumps = -alpha[crossing] / move[crossing], 2.0 * (eps * np.abs(move))[crossing]
        return first_zero(slope, curvature, places, jumps)

    def length_to_bound(self, move: np.ndarray) -> float:
        """Return the length of a move at which the first alpha reaches a bound."""
        term, alpha = self.problem.term, self.engine.alpha
        return longest_step(np.where(move > 0, term.hi - alpha, alpha - term.lo), -np.abs(move))

    def take(
        self,
        length: float,
        move: np.ndarray,
        products: np.ndarray,
        hessian_product: np.ndarray,
    ) -> bool:
        """Change alpha by `length` times a move and return whether it has changed."""
        self.step = float(move @ move) / max(float(move @ hessian_product), TINY)
        self.last = length * move, length * hessian_product
        self.short_moves = self.short_moves + 1 if length < self.tuning.short_length else 0
        self.exact_bounds = False
        before, term = self.engine.alpha.copy(), self.problem.term
        alpha = np.clip(before + length * move, term.lo, term.hi)
        self.update_engine(alpha, length, products)
        return bool(np.any(alpha != before))


def first_zero(value: float, rate: float, places: np.ndarray, jumps: np.ndarray) -> float:
    """Return the first t >= 0 at which an increasing, piecewise linear function is not negative.

    Parameters
    ----------
    value : float
        Value of the function at 0.
    rate : float
        Its slope between jumps.
    places, jumps : ndarrays of shape (k,)
        Positions > 0 of upward jumps in any order, and their heights.
    """
    order = np.argsort(places)
    places, risen = places[order], np.cumsum(jumps[order])
    reached = np.flatnonzero(value + rate * places + risen >= 0)
    if not len(reached):
        return float(-(value + risen[-1]) / rate)
    first = reached[0]
    before = value + (risen[first - 1] if first else 0.0)
    return float(min(places[first], -before / rate))


def descended(descent: Descent, run: Run) -> Result:
    """Descend until the run is finished or progress is too slow."""
    engine, moving, iterations = descent.engine, True, 0
    while True:
        weights = descent.weights
        certificate = certified(descent.problem, engine, weights)
        run.record(certificate, weights, iterations, engine.alpha)
        finished = run.budget.spent or (run.converged and descent.exact_bounds)
        if finished or not moving or slow(run, descent.free, descent.tuning):
            return run.result(certificate, engine.alpha, weights)
        iterations = 1
        moving = descent.unclipped_step() if run.converged else descent.descend()
        run.notify(engine.alpha, descent.weights)


def slow(run: Run, free: int, tuning: DescentTuning) -> bool:
    """Return whether the gap has not halved within `patience` moves, or both objectives stall.

    Parameters
    ----------
    run : Run
        Its log has the gap after each move.
    free : int
        Number of free alphas.
    tuning : DescentTuning
        Numbers of moves that are allowed.
    """
    patience = max(tuning.patience, int(tuning.moves_per_free * free))
    past = run.log.extremes
    if len(past) > patience + 1 and past[-1].gap > 0.5 * past[-patience - 1].gap:
        return True
    moves = tuning.stall_moves
    if len(past) <= moves + 1:
        return False
    return past[-1].distance > tuning.stall_factor * past[-moves - 1].distance


def project(
    point: np.ndarray, lo: np.ndarray, hi: np.ndarray, total: float | None, kinks: Numbers = 0.0
) -> np.ndarray:
    """Return the feasible alpha nearest to a point, shape (n,).

    Parameters
    ----------
    point : ndarray of shape (n,)
        Alphas, possibly infeasible.
    lo, hi : ndarrays of shape (n,)
        Bounds of alpha; lo <= 0 <= hi if there are kinks.
    total : float or None
        Sum of alpha; None if it is not constrained.
    kinks : ndarray of shape (n,), or 0
        If given, 1/2 ||alpha - point||^2 + kinks' |alpha| is minimised (proximal operator).
    """

    def shifted(shift: float) -> np.ndarray:
        moved = point + shift
        if np.any(kinks):
            moved = np.sign(moved) * np.maximum(np.abs(moved) - kinks, 0.0)
        return np.clip(moved, lo, hi)

    if total is None:
        return shifted(0.0)

    def excess(shift: float) -> tuple[float, float]:
        alpha = shifted(shift)
        free = np.count_nonzero((alpha > lo) & (alpha < hi) & ((alpha != 0) | (kinks == 0)))
        return float(alpha.sum()) - total, float(free)

    return shifted(root(excess, -1.0, 1.0))
