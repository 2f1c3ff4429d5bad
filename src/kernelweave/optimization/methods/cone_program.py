"""The dual of a problem as a cone program for Clarabel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ...losses import DualTerm
from ...norms import Norm
from ...problem.problem import Problem


@dataclass(frozen=True)
class ClarabelSettings:
    """Settings of Clarabel.

    Attributes
    ----------
    tolerance : absolute and relative gap, and residual of feasibility, at which Clarabel stops.
    step_fraction : largest fraction of the step to the boundary that is taken.
    equilibrate : whether rows and columns of the constraints are scaled first.
    """

    tolerance: float
    step_fraction: float = 0.99
    equilibrate: bool = False


class Solution(Protocol):
    """Clarabel's solution: variables x, multipliers z, and the number of iterations."""

    x: Sequence[float]
    z: Sequence[float]
    iterations: int


class ConeProgram:
    """The cone program: minimise 1/2 x'Px + q'x over x, with b - A x in a product of cones.

    Variables and rows are appended one group at a time.

    Parameters
    ----------
    clarabel : module
        Clarabel, imported when it is needed.

    Attributes
    ----------
    alpha : slice
        Positions of alpha in x.
    sizes : ndarray of int, shape (M,), or None
        Rows whose multipliers are theta_m sqrt(s_m).
    """

    def __init__(self, clarabel: ModuleType):
        self.clarabel = clarabel
        self.linear: list[np.ndarray] = []
        self.quadratic: list[np.ndarray] = []
        self.blocks: list[tuple[int, int, sp.coo_array]] = []
        self.right: list[np.ndarray] = []
        self.cones: list[object] = []
        self.n_rows = 0
        self.n_columns = 0
        self.alpha = slice(0)
        self.sizes: np.ndarray | None = None

    @classmethod
    def of(
        cls, clarabel: ModuleType, problem: Problem, factors: list[np.ndarray], exponent: float
    ) -> ConeProgram:
        """Return the dual of a problem as a cone program.

        Parameters
        ----------
        clarabel : module
        problem : Problem
        factors : list of M ndarrays of shape (n, rank)
            L_m, with kernel matrices L_m L_m'.
        exponent : float
            Exponent of the dual norm, see `Norm.dual_exponent`, or an approximation of it.
        """
        program = cls(clarabel)
        program.alpha = program.loss(problem)
        program.sizes = program.regularizer(problem.norm, program.alpha, factors, exponent)
        return program

    def variables(self, count: int, linear: object = 0.0, quadratic: object = 0.0) -> slice:
        """Append variables with linear and quadratic costs, and return their positions in x."""
        self.linear.append(np.broadcast_to(np.asarray(linear, dtype=float), (count,)))
        self.quadratic.append(np.broadcast_to(np.asarray(quadratic, dtype=float), (count,)))
        self.n_columns += count
        return slice(self.n_columns - count, self.n_columns)

    def rows(self, right: np.ndarray, *terms: tuple[slice, object]) -> None:
        """Append rows right - sum_k matrix_k x[where_k]; `cone` must then state their cone.

        `terms` are the pairs (where_k, matrix_k).
        """
        for where, matrix in terms:
            self.blocks.append((self.n_rows, where.start, sp.coo_array(matrix)))
        self.right.append(right)
        self.n_rows += len(right)

    def cone(self, kind: str, *arguments: object, times: int = 1) -> None:
        """Append `times` cones of a kind, for the rows appended last."""
        make = getattr(self.clarabel, f"{kind}ConeT")
        self.cones.extend(make(*arguments) for _ in range(times))

    def loss(self, problem: Problem) -> slice:
        """Append alpha, its constraints and its part of the objective; return its positions."""
        term, n = problem.term, len(problem.y)
        a = self.variables(n, term.lin, term.curv)
        if problem.tau is not None:
            self.rows(np.array([problem.tau]), (a, np.ones((1, n))))
            self.cone("Zero", 1)
        for bound, sign in ((term.lo, -1.0), (term.hi, 1.0)):
            finite = np.flatnonzero(np.isfinite(bound))
            if finite.size:
                self.rows(sign * bound[finite], (a, sign * sp.eye_array(n).tocsr()[finite]))
                self.cone("Nonnegative", len(finite))
        if term.eps.any():
            size = self.variables(n, term.eps)
            for sign in (-1.0, 1.0):
                self.rows(np.zeros(n), (a, sign * sp.eye_array(n)), (size, -sp.eye_array(n)))
                self.cone("Nonnegative", n)
        if term.ent.any():
            self._entropies(a, term)
        return a

    def _entropies(self, a: slice, term: DualTerm) -> None:
        """Append z log z and (1 - z) log(1 - z) for z = (alpha - lo) / (hi - lo)."""
        chosen = np.flatnonzero(term.ent > 0)
        lo, width = term.lo[chosen], (term.hi - term.lo)[chosen]
        pick = sp.csr_array(
            (1.0 / width, (3 * np.arange(len(chosen)) + 1, chosen)), (3 * len(chosen), len(term.lo))
        )
        for offset, sign in ((-lo / width, 1.0), (1.0 + lo / width, -1.0)):
            # (-t, z, 1) is in the exponential cone if and only if z log z <= t.
            height = self.variables(len(chosen), term.ent[chosen])
            right = np.stack([np.zeros_like(lo), offset, np.ones_like(lo)], axis=1).ravel()
            first = sp.kron(sp.eye_array(len(chosen)), np.array([[1.0], [0.0], [0.0]]))
            self.rows(right, (height, first), (a, -sign * pick))
            self.cone("Exponential", times=len(chosen))

    def regularizer(
        self, norm: Norm, a: slice, factors: list[np.ndarray], exponent: float
    ) -> np.ndarray | None:
        """Append 1/2 ||s||_dual to the objective; return the first row of each kernel's cone, (M,).

        Here s_m = alpha' K_m alpha. The multiplier of the row of kernel m is the derivative of
        1/2 ||s||_dual in sqrt(s_m), theta_m sqrt(s_m). Returns None if there is a single cone for
        all kernels.
        """
        if norm.dual_matrix is not None:
            self._elliptic(norm.dual_matrix, a, factors)
            return None
        scales = norm.dual_scales(len(factors))
        gamma = self.variables(1, quadratic=1.0)
        if exponent == np.inf:
            return self._sizes(a, factors, [gamma] * len(factors), scales)
        if exponent == 2:  # one cone for the sum of the kernels
            self._sizes(a, [np.hstack(factors)], [gamma], [1.0])
            return None
        u = self.variables(len(factors))
        each = [slice(m, m + 1) for m in range(u.start, u.stop)]
        self._norm(u, gamma, exponent)
        return self._sizes(a, factors, each, scales)

    def _sizes(
        self,
        a: slice,
        factors: list[np.ndarray],
        bounds: list[slice],
        scales: Sequence[float] | np.ndarray,
    ) -> np.ndarray:
        """Append constraints ||L_m' alpha|| <= scale_m bound_m; return the first row of each."""
        first = []
        for factor, bound, scale in zip(factors, bounds, scales, strict=True):
            first.append(self.n_rows)
            self.rows(np.zeros(1), (bound, [[-scale]]))
            self.rows(np.zeros(factor.shape[1]), (a, -factor.T))
            self.cone("SecondOrder", 1 + factor.shape[1])
        return np.array(first)

    def _norm(self, u: slice, gamma: slice, exponent: float) -> None:
        """Append ||u||_r <= gamma: u_m <= v_m^(1/r) gamma^(1 - 1/r) and sum_m v_m = gamma."""
        M = u.stop - u.start
        v = self.variables(M)
        self.rows(np.zeros(1), (v, np.ones((1, M))), (gamma, [[-1.0]]))
        self.cone("Zero", 1)
        first, second, third = (sp.kron(sp.eye_array(M), -np.eye(3)[:, [k]]) for k in range(3))
        self.rows(np.zeros(3 * M), (v, first), (gamma, second @ np.ones((M, 1))), (u, third))
        self.cone("Power", 1.0 / exponent, times=M)

    def _elliptic(self, E: np.ndarray, a: slice, factors: list[np.ndarray]) -> None:
        """Append 1/2 ||s||_dual of an elliptic norm with matrix E to the objective.

        With s_m = ||L_m' alpha||^2, the dual norm is

        max {theta . s : theta >= 0, theta' E^-1 theta <= 1} = min {sqrt(v' E v) : v >= s}
        """
        M = len(factors)
        v, top = self.variables(M), self.variables(1, linear=0.5)
        for m, factor in enumerate(factors):
            one = slice(v.start + m, v.start + m + 1)
            self.rows(np.array([0.5, -0.5]), (one, [[-0.5], [-0.5]]))
            self.rows(np.zeros(factor.shape[1]), (a, -factor.T))
            self.cone("SecondOrder", 2 + factor.shape[1])
        root = np.linalg.cholesky(E).T
        self.rows(np.zeros(1), (top, [[-1.0]]))
        self.rows(np.zeros(M), (v, -root))
        self.cone("SecondOrder", 1 + M)

    def solve(self, settings: ClarabelSettings, time_limit: float) -> Solution:
        """Return Clarabel's solution.

        Parameters
        ----------
        settings : ClarabelSettings
        time_limit : float
            Maximum number of seconds.
        """
        own = self.clarabel.DefaultSettings()
        own.verbose = False
        own.max_threads = 1  # more threads are slower on small problems
        own.equilibrate_enable = settings.equilibrate
        own.tol_gap_rel = own.tol_gap_abs = own.tol_feas = settings.tolerance
        own.max_step_fraction = settings.step_fraction
        own.time_limit = time_limit
        P = sp.csc_matrix(sp.diags_array(np.concatenate(self.quadratic)))
        q, b = np.concatenate(self.linear), np.concatenate(self.right)
        solver = self.clarabel.DefaultSolver(P, q, self._matrix(), b, self.cones, own)
        return solver.solve()

    def _matrix(self) -> sp.csc_matrix:
        """Return the matrix A of the constraints."""
        parts = [(block.data, block.row + r, block.col + c) for r, c, block in self.blocks]
        data, row, col = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sp.csc_matrix((data, (row, col)), (self.n_rows, self.n_columns))
