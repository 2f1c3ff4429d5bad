"""The elliptic norm: kernels that interact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from ..common.cached_property import cached_property
from ..estimators.parameters import as_numbers
from ..model.files.registry import formerly, stored
from .base import Norm, clip, same_length

NNLS_ROUNDS = 30  # for each kernel
SINGULAR = 1e-12  # an eigenvalue, relative to the largest, whose inverse has too few digits


@stored("Ellipse")
@dataclass(frozen=True, eq=False)
class Elliptic(Norm):
    """||theta|| = sqrt(theta' E^-1 theta): prior knowledge on how kernels interact.

    Kloft et al. (2011, section 3.5). A diagonal E says how important each kernel is. Kernels that E
    calls alike get similar weights: an E of alignments (`kernel_alignment`) makes near-copies share
    a weight. Where no theta >= 0 binds, the dual value is sqrt(s' E s) and the weights are
    proportional to E s; where one does it is a small nonnegative least squares problem.

    Parameters
    ----------
    E : array of shape (M, M)
        Symmetric and positive definite. A singular E, such as that of exact copies, is refused: add
        a little to its diagonal, E + 1e-6 * np.eye(M).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.norms import Elliptic, Lp
    >>> s = np.array([4.0, 1.0, 1.0])
    >>> alike = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> print(Lp(2).best(s).round(2))
    [0.94 0.24 0.24]
    >>> print(Elliptic(alike).best(s).round(2))
    [0.98 0.92 0.2 ]
    """

    E: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "E", _positive_definite("E", self.E))

    @property
    def is_curved(self) -> bool:
        return True

    @property
    def dual_matrix(self) -> np.ndarray:
        return self.E

    def among(self, kernels: np.ndarray) -> Elliptic:
        others = np.setdiff1d(np.arange(len(self.E)), kernels)
        if len(others) == 0:
            return self
        # The inverse of a block of E^-1 is a Schur complement of E, which has more digits.
        half = solve_triangular(
            np.linalg.cholesky(self.E[np.ix_(others, others)]),
            self.E[np.ix_(others, kernels)],
            lower=True,
        )
        return Elliptic(self.E[np.ix_(kernels, kernels)] - half.T @ half)

    def value(self, theta: np.ndarray) -> float:
        same_length("E", len(self.E), len(theta))
        return float(np.linalg.norm(self._root @ theta))

    def dual(self, s: np.ndarray) -> float:
        return float(self.best(s) @ clip(s))

    def best(self, s: np.ndarray) -> np.ndarray:
        same_length("E", len(self.E), len(s))
        s = clip(s)
        if not s.any():
            return self.start(len(s))
        # The best direction is that of max theta.s - theta' E^-1 theta / 2, which E (s + u) attains
        # with the u >= 0 that has the least ||L' (s + u)||: often 0.
        s = s / s.max()
        theta = self.E @ s
        if theta.min() < 0:
            upper = self._factor.T
            u = nnls(upper, -upper @ s, maxiter=NNLS_ROUNDS * len(s))[0]
            theta = np.where(u > 0, 0.0, clip(self.E @ (s + u)))
        scaled: np.ndarray = theta / self.value(theta)
        return scaled

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        size = theta**2 * clip(s)
        if not size.any():
            return theta
        # The floor leaves a kernel without w next to no weight, but keeps Newton's method inside.
        new = _barrier_minimum(
            self._inverse, np.maximum(size / size.max(), 1e-30), self.start(len(s))
        )
        return new / self.value(new)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return ||theta||^2 - 1 and its gradient, (M,)."""
        slope = 2.0 * self._inverse @ theta
        return float(0.5 * theta @ slope) - 1.0, slope

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the Hessian of `ball` in k of the weights, shape (k, k)."""
        hessian: np.ndarray = 2.0 * self._inverse[chosen][:, chosen]
        return hessian

    @cached_property
    def _factor(self) -> np.ndarray:
        """L with E = L L'."""
        return np.linalg.cholesky(self.E)

    @cached_property
    def _root(self) -> np.ndarray:
        """L^-1."""
        root: np.ndarray = solve_triangular(self._factor, np.eye(len(self.E)), lower=True)
        return root

    @cached_property
    def _inverse(self) -> np.ndarray:
        """E^-1."""
        inverse: np.ndarray = self._root.T @ self._root
        return inverse


@formerly("Elliptic", Elliptic)
def _bounded_by_itself(E: np.ndarray) -> Elliptic:
    """Return the norm of theta' E theta, which earlier versions called Elliptic(E)."""
    return Elliptic(np.linalg.inv(_positive_definite("E", E)))


def _barrier_minimum(A: np.ndarray, v: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Minimum over theta > 0 of sum_m v_m / theta_m + theta' A theta / 2, by Newton's method.

    It has the direction of the minimum of sum_m v_m / theta_m on the ball theta' A theta <= 1.
    """

    def height(theta: np.ndarray) -> float:
        return float(np.sum(v / theta) + 0.5 * theta @ A @ theta)

    for _ in range(100):
        gradient = A @ theta - v / theta**2
        step = -np.linalg.solve(A + np.diag(2 * v / theta**3), gradient)
        drop = -gradient @ step
        if drop <= 1e-14 * height(theta):
            break
        length = 0.99 / max(np.max(-step / theta), 0.99)
        while length > 1e-9 and height(theta + length * step) > height(theta) - 0.1 * length * drop:
            length *= 0.5
        theta = theta + length * step
    return theta


def _positive_definite(name: str, values: Any) -> np.ndarray:
    E = as_numbers(name, values)
    if E.ndim != 2 or E.shape[0] != E.shape[1] or E.size == 0:
        raise ValueError(f"{name} must be a square matrix, got an array of shape {E.shape}")
    if not np.all(np.isfinite(E)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    if not np.allclose(E, E.T, rtol=1e-8, atol=1e-10 * np.abs(E).max()):
        raise ValueError(f"{name} must be symmetric, but differs by {np.abs(E - E.T).max():.3g}")
    E = np.asarray(0.5 * (E + E.T), dtype=float)
    smallest, largest = np.linalg.eigvalsh(E)[[0, -1]]
    if smallest <= SINGULAR * largest:
        raise ValueError(
            f"{name} must be positive definite, but its smallest eigenvalue is {smallest:.3g}, and "
            f"its largest {largest:.3g}; add a little to its diagonal, such as "
            f"{name} + 1e-6 * np.eye({len(E)})"
        )
    E.setflags(write=False)
    return E
