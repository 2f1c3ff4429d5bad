"""The elliptic norm, which couples the weights of similar kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from ..common.cached_property import cached_property
from ..common.numbers import as_numbers
from ..model.files.registry import formerly, registered
from .base import Norm, clip, same_length

NNLS_ITERATIONS = 30  # iterations per kernel; ten times SciPy's default, 3
# Smallest accepted ratio of the eigenvalues of E: the inverse of a smaller one would have less than
# four correct digits in double precision.
SINGULAR = 1e-12
# Smallest ||w_m||^2 relative to the largest: positive, so that ||w_m||^2 / theta_m keeps every
# weight positive.
LEAST_BLOCK = 1e-30
NEWTON_ITERATIONS = 100  # iterations, a safeguard: convergence is quadratic
NEWTON_TOLERANCE = 1e-14  # Newton decrement relative to the objective, about 45 roundings
NEWTON_TO_BOUNDARY = 0.99  # fraction of the way to theta_m = 0 that a step may take
NEWTON_SHORTEST = 1e-9  # step length at which backtracking gives up
NEWTON_DECREASE = 0.1  # fraction of the predicted decrease that a step must reach (Armijo)


@registered("Ellipse")
@dataclass(frozen=True, eq=False)
class Elliptic(Norm):
    """Elliptic norm sqrt(theta' E^-1 theta), for prior knowledge about interactions of kernels.

    See Kloft et al. (2011, section 3.5). A diagonal E sets the importance of each kernel.
    Off-diagonal entries couple the weights of similar kernels: with an E of kernel alignments
    (`kernel_alignment`), near-duplicates share their weight.

    Parameters
    ----------
    E : array of shape (M, M)
        Symmetric and positive definite. If E is singular, as with exact duplicates, add a small
        multiple of the identity: E + 1e-6 * np.eye(M).

    Raises
    ------
    ValueError
        If E is not square, finite, symmetric and positive definite.

    Notes
    -----
    If no constraint theta_m >= 0 is active, the dual value is sqrt(s' E s) and the weights are
    proportional to E s. Otherwise they solve a small nonnegative least squares problem.

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
        # The inverse of a block of E^-1 is a Schur complement of E, which is more accurate.
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
        # The maximiser of theta . s - theta' E^-1 theta / 2 over theta >= 0 has its direction.
        # It is E (s + u), where u >= 0 (multipliers of theta >= 0) minimises ||L' (s + u)||.
        s = s / s.max()
        theta = self.E @ s
        if theta.min() < 0:
            upper = self._factor.T
            u = nnls(upper, -upper @ s, maxiter=NNLS_ITERATIONS * len(s))[0]
            theta = np.where(u > 0, 0.0, clip(self.E @ (s + u)))
        return theta / self.value(theta)

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        size = theta**2 * clip(s)
        if not size.any():
            return theta
        size = np.maximum(size / size.max(), LEAST_BLOCK)
        new = _barrier_minimum(self._inverse, size, self.start(len(s)))
        return new / self.value(new)

    def ball(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return ||theta||^2 - 1 and its gradient.

        Parameters
        ----------
        theta : array of shape (M,)

        Returns
        -------
        value : float
        gradient : array of shape (M,)
        """
        slope = 2.0 * self._inverse @ theta
        return float(0.5 * theta @ slope) - 1.0, slope

    def ball_hessian(self, theta: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return 2.0 * self._inverse[chosen][:, chosen]

    @cached_property
    def _factor(self) -> np.ndarray:
        """The Cholesky factor L with E = L L'."""
        return np.linalg.cholesky(self.E)

    @cached_property
    def _root(self) -> np.ndarray:
        """The inverse of L in E = L L': ||theta|| is the Euclidean length of L^-1 theta."""
        return solve_triangular(self._factor, np.eye(len(self.E)), lower=True)

    @cached_property
    def _inverse(self) -> np.ndarray:
        """The inverse of E."""
        return self._root.T @ self._root


@formerly("Elliptic", Elliptic)
def _read_inverse(E: np.ndarray) -> Elliptic:
    """Return the norm sqrt(theta' E theta), which earlier file formats called Elliptic(E)."""
    return Elliptic(np.linalg.inv(_positive_definite("E", E)))


def _barrier_minimum(A: np.ndarray, v: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the minimiser over theta > 0 of sum_m v_m / theta_m + theta' A theta / 2.

    It is a positive multiple of the minimiser of sum_m v_m / theta_m on theta' A theta <= 1.
    Newton's method with backtracking starts from the given theta.
    """

    def objective(theta: np.ndarray) -> float:
        return float(np.sum(v / theta) + 0.5 * theta @ A @ theta)

    for _ in range(NEWTON_ITERATIONS):
        gradient = A @ theta - v / theta**2
        step = -np.linalg.solve(A + np.diag(2 * v / theta**3), gradient)
        decrement = -gradient @ step
        if decrement <= NEWTON_TOLERANCE * objective(theta):
            break
        length = NEWTON_TO_BOUNDARY / max(np.max(-step / theta), NEWTON_TO_BOUNDARY)
        wanted = NEWTON_DECREASE * decrement
        here = objective(theta)
        while (
            length > NEWTON_SHORTEST and objective(theta + length * step) > here - length * wanted
        ):
            length *= 0.5
        theta = theta + length * step
    return theta


def _positive_definite(name: str, values: object) -> np.ndarray:
    E = as_numbers(name, values)
    if E.ndim != 2 or E.shape[0] != E.shape[1] or E.size == 0:
        raise ValueError(f"{name} must be a square matrix, got an array of shape {E.shape}")
    if not np.all(np.isfinite(E)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    if not np.allclose(E, E.T, rtol=1e-8, atol=1e-10 * np.abs(E).max()):
        raise ValueError(
            f"{name} must be symmetric, but differs by {np.abs(E - E.T).max():.3g} from its "
            f"transpose; average them, ({name} + {name}.T) / 2"
        )
    E = np.asarray(0.5 * (E + E.T), dtype=float)
    smallest, largest = np.linalg.eigvalsh(E)[[0, -1]]
    if smallest <= SINGULAR * largest:
        raise ValueError(
            f"{name} must be positive definite, but its smallest eigenvalue is {smallest:.3g}, and "
            f"its largest {largest:.3g}; add a small multiple of the identity, such as "
            f"{name} + 1e-6 * np.eye({len(E)})"
        )
    E.setflags(write=False)
    return E
