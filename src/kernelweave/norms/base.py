"""What a solver asks of a norm."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Norm(ABC):
    """What a solver asks of a norm; theta and s have shape (M,).

    Entries of s that rounding has made negative count as zero.
    """

    @abstractmethod
    def value(self, theta: np.ndarray) -> float:
        """Return ||theta||; weights are feasible when it is at most 1."""

    @abstractmethod
    def dual(self, s: np.ndarray) -> float:
        """Return the largest theta . s over the feasible weights."""

    @abstractmethod
    def best(self, s: np.ndarray) -> np.ndarray:
        """Return weights that attain `dual`, shape (M,): the best response to alpha."""

    @abstractmethod
    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return the weights that minimise sum_m ||w_m||^2 / theta_m for the present w, (M,).

        Unlike `best` they never raise the primal. Without any w they stay as they are.
        """

    def held(self, theta: np.ndarray, slack: float) -> np.ndarray:
        """Return theta, or weights near it that do not grow without end, shape (M,).

        The optimum under such weights misses the optimum by at most `slack`, relative to it.
        """
        return theta

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return a convex function that is at most 0 for feasible weights, and its gradient, (M,).

        Solvers say which norms they ask for it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no such function")

    def bend(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the second derivative of `ball` in k of the weights, shape (k, k)."""
        raise NotImplementedError(f"{type(self).__name__} has no such function")

    def costs(self, M: int) -> np.ndarray:
        """Return the factor of each kernel in the norm, shape (M,): 1 unless it is weighted."""
        return np.ones(M)

    def start(self, M: int) -> np.ndarray:
        """Return equal weights with ||theta|| = 1, shape (M,)."""
        return np.ones(M) / self.value(np.ones(M))

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        """Return twice the regularisation term of the primal, theta . s for feasible weights.

        A model with infeasible weights is that of theta / ||theta|| with the same w, which costs
        ||theta|| times as much.
        """
        return float(max(1.0, self.value(theta)) * (theta @ clip(s)))


def clip(s: np.ndarray) -> np.ndarray:
    """Return s, shape (M,), with what rounding has made negative set to 0."""
    return np.maximum(s, 0.0)


def same_length(name: str, have: int, want: int) -> None:
    """Refuse what is made for another number of kernels."""
    if have != want:
        raise ValueError(f"{name} is for {have} kernels, but there are {want}")
