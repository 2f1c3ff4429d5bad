"""The reference for small problems: the dual as a cone program, solved by Clarabel.

Lanckriet et al. (2004) wrote multiple kernel learning as a quadratically constrained quadratic
program; Bach et al. (2004) as a second-order cone program. With K_m = L_m L_m' and signed alpha,

    min over alpha   sum_i conj_i(alpha_i) + 1/2 ||s||_dual,      sum_i alpha_i = tau,

where sqrt(s_m) = ||L_m' alpha||_2 is one second-order cone per kernel. The dual of an lp norm of s
is the square of a norm of u_m >= sqrt(s_m): its maximum for p = 1, and otherwise power cones make
it up. Entropies in the loss are exponential cones. So nearly every loss and norm of the library is
served, to the accuracy of an interior point method, at O(M n^3) a step.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpstrf

from ..engines.base import Engine
from ..norms import Block, Elliptic, Lp, Norm
from ..problem import Problem, Progress, Result
from .chunking import Budget

MOST_ENTRIES = 50_000_000  # M n^2: about 4 GB
BYTES_PER_ENTRY = 75  # of M n^2, measured: constraints, KKT matrix and factors at full rank
TOLERANCES = (1e-8, 1e-10, 1e-11)  # of Clarabel, in turn until the gap of the model is certified
RANK = 1e-11  # pivots below this part of the largest diagonal element count as zero
NEAR = 1e-7  # how close to a bound, relative to the largest alpha, counts as being there


def serves(norm: Norm) -> bool:
    """Whether the weights of a norm follow from alpha or from multipliers: not at q = inf."""
    return isinstance(norm, Lp | Elliptic) or (isinstance(norm, Block) and norm.q < np.inf)


def qcqp(
    problem: Problem,
    engine: Engine,
    alpha: np.ndarray,
    theta: np.ndarray,
    budget: Budget,
    interleaved: bool = True,
) -> Result:
    """Solve a problem with Clarabel; where it starts, (alpha, theta), makes no difference.

    Raises
    ------
    ImportError : without Clarabel, which the extra ``kernelweave[conic]`` installs.
    ValueError : where M n^2 exceeds `MOST_ENTRIES`.
    """
    clarabel = _clarabel()
    _refuse_large(engine.n, engine.n_kernels)
    started = time.perf_counter()
    program = ConeProgram(clarabel)
    a = program.loss(problem)
    cones = program.regularizer(problem.norm, a, _factors(engine))
    results: list[Result] = []
    for tolerance in TOLERANCES:
        solution = program.solve(tolerance)
        sizes = None if cones is None else np.array(solution.z)[cones]
        alpha = feasible(problem, np.array(solution.x)[a])
        model = _certified(problem, engine, alpha, sizes)
        progress = Progress(**model, seconds=time.perf_counter() - started)
        budget.watch(progress)
        results.append(
            Result(
                **model,
                alpha=alpha,
                n_iter=solution.iterations,
                history=[*(results[-1].history if results else []), progress],
                converged=progress.gap <= budget.tol,
            )
        )
        if results[-1].converged:
            break
    best = min(results, key=lambda result: result.gap)
    engine.rebuild(best.alpha)
    return best


def _certified(
    problem: Problem, engine: Engine, alpha: np.ndarray, sizes: np.ndarray | None
) -> dict[str, Any]:
    """Return the certificate of alpha, and weights: from multipliers, or the best response."""
    engine.rebuild(alpha)
    s = engine.outputs @ alpha
    theta = problem.norm.best(s) if sizes is None else _multipliers(problem.norm, sizes)
    certificate = problem.certificate(alpha, theta @ engine.outputs, s, theta)
    return {**vars(certificate), "weights": theta}


class ConeProgram:
    """min 1/2 x'Px + q'x over x with b - A x in a product of cones, built up piece by piece."""

    def __init__(self, clarabel: Any):
        self.clarabel = clarabel
        self.linear: list[np.ndarray] = []
        self.quadratic: list[np.ndarray] = []
        self.blocks: list[tuple[int, int, Any]] = []
        self.right: list[np.ndarray] = []
        self.cones: list[Any] = []
        self.n_rows = 0
        self.n_columns = 0

    def variables(self, count: int, linear: Any = 0.0, quadratic: Any = 0.0) -> slice:
        """Append variables with these costs, and return where they are."""
        self.linear.append(np.broadcast_to(np.asarray(linear, dtype=float), (count,)))
        self.quadratic.append(np.broadcast_to(np.asarray(quadratic, dtype=float), (count,)))
        self.n_columns += count
        return slice(self.n_columns - count, self.n_columns)

    def rows(self, right: np.ndarray, *terms: tuple[slice, Any]) -> None:
        """Append rows right - sum_k matrix_k x[where_k], to which a cone is then given."""
        for where, matrix in terms:
            self.blocks.append((self.n_rows, where.start, sp.coo_array(matrix)))
        self.right.append(right)
        self.n_rows += len(right)

    def cone(self, kind: str, *arguments: Any, times: int = 1) -> None:
        """Say which cone the next rows lie in."""
        make = getattr(self.clarabel, f"{kind}ConeT")
        self.cones.extend(make(*arguments) for _ in range(times))

    def loss(self, problem: Problem) -> slice:
        """Append alpha, its constraints, and the dual terms of the loss."""
        term, n = problem.term, len(problem.y)
        a = self.variables(n, term.lin, term.curv)
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

    def _entropies(self, a: slice, term: Any) -> None:
        """z log z and (1 - z) log(1 - z), z being the position of alpha in its box."""
        chosen = np.flatnonzero(term.ent > 0)
        lo, width = term.lo[chosen], (term.hi - term.lo)[chosen]
        pick = sp.csr_array(
            (1.0 / width, (3 * np.arange(len(chosen)) + 1, chosen)), (3 * len(chosen), len(term.lo))
        )
        for offset, sign in ((-lo / width, 1.0), (1.0 + lo / width, -1.0)):
            # (-t, z, 1) lies in the exponential cone exactly when z log z <= t.
            height = self.variables(len(chosen), term.ent[chosen])
            right = np.stack([np.zeros_like(lo), offset, np.ones_like(lo)], axis=1).ravel()
            first = sp.kron(sp.eye_array(len(chosen)), np.array([[1.0], [0.0], [0.0]]))
            self.rows(right, (height, first), (a, -sign * pick))
            self.cone("Exponential", times=len(chosen))

    def regularizer(self, norm: Norm, a: slice, factors: list[np.ndarray]) -> np.ndarray | None:
        """Append 1/2 ||s||_dual; for p = 1 return the first row of the cone of each kernel."""
        if isinstance(norm, Elliptic):
            self._elliptic(norm, a, factors)
            return None
        scales, exponent = _scales(norm, len(factors))
        gamma = self.variables(1, quadratic=1.0)
        if exponent == np.inf:
            return self._sizes(a, factors, [gamma] * len(factors), scales)
        if exponent == 2:  # one cone for the sum of the kernels
            self._sizes(a, [np.hstack(factors)], [gamma], [1.0])
            return None
        u = self.variables(len(factors))
        each = [slice(m, m + 1) for m in range(u.start, u.stop)]
        self._sizes(a, factors, each, scales)
        self._norm(u, gamma, exponent)
        return None

    def _sizes(self, a, factors, bounds, scales) -> np.ndarray:
        """||L_m' alpha|| <= scale_m bound_m; return the first row of each cone."""
        first = []
        for factor, bound, scale in zip(factors, bounds, scales, strict=True):
            first.append(self.n_rows)
            self.rows(np.zeros(1), (bound, [[-scale]]))
            self.rows(np.zeros(factor.shape[1]), (a, -factor.T))
            self.cone("SecondOrder", 1 + factor.shape[1])
        return np.array(first)

    def _norm(self, u: slice, gamma: slice, exponent: float) -> None:
        """(sum_m u_m^r)^(1/r) <= gamma: u_m <= v_m^(1/r) gamma^(1 - 1/r) and sum_m v_m = gamma."""
        M = u.stop - u.start
        v = self.variables(M)
        self.rows(np.zeros(1), (v, np.ones((1, M))), (gamma, [[-1.0]]))
        self.cone("Zero", 1)
        first, second, third = (sp.kron(sp.eye_array(M), -np.eye(3)[:, [k]]) for k in range(3))
        self.rows(np.zeros(3 * M), (v, first), (gamma, second @ np.ones((M, 1))), (u, third))
        self.cone("Power", 1.0 / exponent, times=M)

    def _elliptic(self, norm: Elliptic, a: slice, factors: list[np.ndarray]) -> None:
        """The largest theta . s with theta >= 0, theta'E theta <= 1: min ||E^(-1/2) v||, v >= s."""
        M = len(factors)
        v, top = self.variables(M), self.variables(1, linear=0.5)
        for m, factor in enumerate(factors):
            one = slice(v.start + m, v.start + m + 1)
            self.rows(np.array([0.5, -0.5]), (one, [[-0.5], [-0.5]]))
            self.rows(np.zeros(factor.shape[1]), (a, -factor.T))
            self.cone("SecondOrder", 2 + factor.shape[1])
        root = np.linalg.inv(np.linalg.cholesky(norm.E))
        self.rows(np.zeros(1), (top, [[-1.0]]))
        self.rows(np.zeros(M), (v, -root))
        self.cone("SecondOrder", 1 + M)

    def solve(self, tolerance: float) -> Any:
        """Return Clarabel's solution."""
        settings = self.clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tolerance
        P = sp.csc_array(sp.diags_array(np.concatenate(self.quadratic)))
        q, b = np.concatenate(self.linear), np.concatenate(self.right)
        return self.clarabel.DefaultSolver(
            sp.csc_matrix(P), q, self._matrix(), b, self.cones, settings
        ).solve()

    def _matrix(self) -> sp.csc_matrix:
        parts = [(block.data, block.row + r, block.col + c) for r, c, block in self.blocks]
        data, row, col = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sp.csc_matrix((data, (row, col)), (self.n_rows, self.n_columns))


def _scales(norm: Norm, M: int) -> tuple[np.ndarray, float]:
    """Return c and r with dual(s) = (sum_m (sqrt(s_m) / c_m)^r)^(2/r)."""
    if isinstance(norm, Block):
        return np.ones(M), np.inf if norm.q == 1 else norm.q / (norm.q - 1)
    assert isinstance(norm, Lp)
    costs = np.ones(M) if norm.weights is None else np.array(norm.weights)
    if norm.p == np.inf:
        return np.ones(M), 2.0
    return costs ** (0.5 / norm.p), np.inf if norm.p == 1 else 2 * norm.p / (norm.p - 1)


def _multipliers(norm: Norm, sizes: np.ndarray) -> np.ndarray:
    """Return theta, (M,), from the multipliers of the cones: z_m = ||w_m|| = theta_m sqrt(s_m)."""
    scales, _ = _scales(norm, len(sizes))
    theta = np.maximum(sizes, 0.0) / scales
    theta[theta < NEAR * theta.max()] = 0.0
    return theta / norm.value(theta)


def feasible(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return alpha, shape (n,), moved from nearly to exactly feasible."""
    term = problem.term
    near = NEAR * np.abs(alpha).max()
    alpha = np.where((np.abs(alpha) < near) & (term.eps > 0), 0.0, alpha)
    if not term.ent.any():
        alpha = np.where(alpha - term.lo < near, term.lo, alpha)
        alpha = np.where(term.hi - alpha < near, term.hi, alpha)
    alpha = np.clip(alpha, term.lo, term.hi)
    missing = problem.tau - alpha.sum()
    room = term.hi - alpha if missing > 0 else alpha - term.lo
    share = np.minimum(room, np.abs(alpha))
    if share.sum() < abs(missing):
        share = np.minimum(room, 1.0 + np.abs(alpha))
    return alpha + missing * share / share.sum() if missing else alpha


def _factors(engine: Engine) -> list[np.ndarray]:
    """Return L_m, shape (n, rank), with K_m = L_m L_m', for each kernel."""
    everyone, each = np.arange(engine.n), np.eye(engine.n_kernels)
    return [_factor(engine.block(everyone, weights)) for weights in each]


def _factor(kernel: np.ndarray) -> np.ndarray:
    lower, pivots, rank, _ = dpstrf(kernel, lower=1, tol=RANK * kernel.diagonal().max())
    factor = np.empty((len(kernel), rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    return factor


def _refuse_large(n: int, M: int) -> None:
    entries = M * n * n
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"solver='qcqp' is for small problems, M n^2 <= {MOST_ENTRIES:.0e}: {M} kernels and "
            f"{n} examples would need about {entries * BYTES_PER_ENTRY / 2**30:.0f} GB; use "
            "solver='auto', which solves the same problem"
        )


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise ImportError(
            "solver='qcqp' needs the package clarabel: pip install 'kernelweave[conic]'"
        ) from None
    return clarabel
