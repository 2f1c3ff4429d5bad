"""The biases b of K classes that minimise the risk of given outputs F.

    soft:    sum_i C_i log(sum_k exp(F_ik + b_k)) - sum_k N_k b_k
    hard:    sum_i C_i max_k (F_ik + b_k)         - sum_k N_k b_k

with C_i the cost of example i and N_k that of class k. The soft risk is that of the multinomial
loss. Newton's method minimises it with the last bias fixed at 0, since adding a constant to all
biases has no effect. The hard risk is that of the loss of Crammer and Singer; its minimisation is a
linear program. The solution follows from the dual variables p_ik >= 0, which add up to 1 for each
example: all classes k with p_ik > 0 attain the maximum of example i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

STEPS = 100  # Newton steps
MATCHED = 1e-14  # |N_k - sum_i C_i p_ik| that counts as rounding, relative to the total cost
RIDGE = 1e-14  # added to the diagonal of the scaled Hessian, so that it has a Cholesky factor
SHORTEST = 1e-8  # step length at which a line search gives up
SWEEPS = 20  # passes over the groups of classes; each sets the best common bias of every group
SAME = 1e-12  # relative difference of two sums of costs that counts as rounding
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class ClassCurvature:
    """The Hessian sum_i C_i (diag p_i - p_i p_i') of the soft risk in the biases of K classes.

    p_i are the probabilities of the classes for example i. The last bias is fixed at 0.

    Attributes
    ----------
    factor : tuple
        Cholesky factorisation of the Hessian without the last class, scaled to a unit diagonal.
    scale : ndarray of shape (K - 1,)
        Square roots of the diagonal before scaling.
    """

    factor: tuple[np.ndarray, bool]
    scale: np.ndarray

    @classmethod
    def of(cls, p: np.ndarray, C: np.ndarray) -> ClassCurvature:
        """Return the Hessian at probabilities p, shape (K, n), for costs C, shape (n,)."""
        first = p[:-1]
        weighted = C * first
        hessian = -weighted @ first.T
        diagonal = np.sum(weighted * (p.sum(axis=0) - first), axis=1)
        hessian.flat[:: len(first) + 1] = diagonal
        scale = np.sqrt(np.maximum(diagonal, TINY))
        hessian /= np.multiply.outer(scale, scale)
        ridge = RIDGE
        while True:
            hessian.flat[:: len(first) + 1] = 1.0 + ridge
            try:
                return cls(cho_factor(hessian, lower=True), scale)
            except np.linalg.LinAlgError:
                ridge *= 100.0

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return x, shape (K,), with last entry 0, whose product with the Hessian is `right`."""
        return np.append(cho_solve(self.factor, right[:-1] / self.scale) / self.scale, 0.0)


def soft_bias(
    F: np.ndarray,
    C: np.ndarray,
    class_costs: np.ndarray,
) -> np.ndarray:
    """Return the biases of K classes that minimise the multinomial loss of outputs F.

    Parameters
    ----------
    F : ndarray of shape (K, n)
        Outputs without biases.
    C : ndarray of shape (n,), positive
        Cost of each example.
    class_costs : ndarray of shape (K,), positive
        Total cost of each class.

    Returns
    -------
    ndarray of shape (K,)
    """
    total = float(C.sum())
    parts, C = class_costs / total, C / total  # avoids rounding errors of large costs

    def at(b: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean loss at biases b, and the probabilities, shape (K, n)."""
        f = F + b[:, None]
        largest = f.max(axis=0)
        e = np.exp(f - largest)
        sums = e.sum(axis=0)
        return float(C @ (largest + np.log(sums)) - parts @ b), e / sums

    b = np.zeros(len(F))
    here, p = at(b)
    guess = np.log(parts / np.maximum(p @ C, TINY))  # exact if F is constant
    guess -= guess[-1]
    value, probabilities = at(guess)
    if value < here:
        b, here, p = guess, value, probabilities
    for _ in range(STEPS):
        wrong = parts - p @ C
        error = float(np.abs(wrong).max())
        if error <= MATCHED:
            break
        step = ClassCurvature.of(p, C).solve(wrong)
        slope, length = float(wrong @ step), 1.0
        while True:
            there = b + length * step
            value, p = at(there)
            # Rounding errors of values exceed those of gradients.
            if value <= here - 1e-4 * length * slope:
                break
            if np.abs(parts - p @ C).max() < 0.5 * error:
                break
            length *= 0.5
            if length < SHORTEST:
                return b
        b, here = there, value
    return b


def hard_bias(F: np.ndarray, C: np.ndarray, class_costs: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return biases of K classes, which minimise the hard risk if the dual variables p are optimal.

    Two classes are linked if p_ik > 0 for both and some example i. Within a connected group of
    classes, the differences of the biases follow from p. The common bias of each group is then
    optimised, one group after the other.

    Parameters
    ----------
    F : ndarray of shape (K, n)
        Outputs without biases.
    C : ndarray of shape (n,), positive
        Cost of each example.
    class_costs : ndarray of shape (K,), positive
        Total cost of each class.
    p : ndarray of shape (K, n)
        Weights of the classes of each example, which add up to 1 (see the module).

    Returns
    -------
    ndarray of shape (K,)
    """
    weighted = C * p
    # The variance of F_i + b under p_i, summed over the examples, is 0 at the best b.
    laplacian = np.diag(weighted.sum(axis=1)) - weighted @ p.T
    slope = (weighted * F).sum(axis=1) - weighted @ (p * F).sum(axis=0)
    b: np.ndarray = np.linalg.lstsq(laplacian, -slope, rcond=SAME)[0]
    linked = laplacian < -SAME * np.sqrt(np.multiply.outer(class_costs, class_costs))
    number, group = connected_components(sp.csr_matrix(linked), directed=False)
    for _ in range(SWEEPS if number > 1 else 0):
        moves = np.zeros(number)
        for one in range(number):
            inside, f = group == one, F + b[:, None]
            rivals = f[~inside].max(axis=0) - f[inside].max(axis=0)
            moves[one] = _middle_quantile(rivals, C, class_costs[inside].sum())
            b = b + moves[one] * inside
        if np.abs(moves).max() <= SAME * (1.0 + np.abs(b).max()):
            break
    return b


def _middle_quantile(values: np.ndarray, C: np.ndarray, below: float) -> float:
    """Return the weighted quantile of values, shape (n,), below which the total cost is `below`.

    If the quantiles form an interval, this is its midpoint.
    """
    order = np.argsort(values)
    cost = np.cumsum(C[order])
    at = min(int(np.searchsorted(cost, below * (1 - SAME))), len(order) - 1)
    after = at + 1 if cost[at] <= below * (1 + SAME) and at + 1 < len(order) else at
    return float(0.5 * (values[order[at]] + values[order[after]]))
