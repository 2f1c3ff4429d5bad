"""Reference solver for small problems: the dual as a cone program, solved by Clarabel.

Lanckriet et al. (2004) wrote multiple kernel learning as a quadratically constrained quadratic
program; Bach et al. (2004) as a second-order cone program. With K_m = L_m L_m' and signed alpha,

    min over alpha   sum_i conj_i(alpha_i) + 1/2 ||s||_dual,      sum_i alpha_i = tau,

where conj_i is the convex conjugate of a loss and sqrt(s_m) = ||L_m' alpha||_2 is one second-order
cone per kernel. The dual of an lp norm of s is the square of a norm of u_m >= sqrt(s_m): the
maximum norm for p = 1, otherwise a norm expressed by power cones. Entropies in the loss are
exponential cones. So nearly every loss and norm of the library is supported, at O(M n^3) per
iteration. Newton's method (`polish`) refines the solution.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType

import numpy as np
from scipy.linalg.lapack import dpstrf

from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...model.files.registry import registered
from ...norms import Norm
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..inner.subproblem import balanced
from ..result import Result
from ..run import Run
from ..solver import Solver
from .base import Method
from .cone_program import ClarabelSettings, ConeProgram
from .polish import Point, polish

MOST_ENTRIES = 50_000_000  # largest M n^2: about 4 GB
BYTES_PER_ENTRY = 75  # per M n^2, measured: constraints, KKT matrix and factors at full rank
# Settings of Clarabel, tried one after the other until the gap is certified. With power cones it
# sometimes stalls, and shorter steps avoid that. Equilibration ignores the exponents of power cones
# and often makes their problems harder, so it is tried last.
ATTEMPTS = (
    ClarabelSettings(1e-8),
    ClarabelSettings(1e-8, step_fraction=0.9),
    ClarabelSettings(1e-10),
    ClarabelSettings(1e-10, step_fraction=0.9),
    ClarabelSettings(1e-10, equilibrate=True),
)
FLAT = 1e4  # dual exponents above this are also replaced by infinity (maximum norm)
NEWTON_STEPS = 2  # after each attempt; they converge quadratically
RANK = 1e-11  # pivots below this, relative to the largest diagonal element, count as zero
NEAR = 1e-7  # distances from a bound below this, relative to the largest alpha, count as zero


@registered("QCQP")
@dataclass(frozen=True)
class QCQP(Method):
    """The dual as a cone program for Clarabel: slow but accurate, for small problems.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> exact = MKLClassifier(RBF([0.1, 1.0]), norm=1, solver="qcqp", tol=1e-7).fit(X, X[:, 0] > 0)
    >>> exact.duality_gap_ <= 1e-7
    True
    """

    def solver(self, costs: EngineCosts) -> Solver:
        return self

    def serves(self, norm: Norm) -> bool:
        """Return whether alpha or the multipliers determine the weights: False for `Block(inf)`.

        Parameters
        ----------
        norm : Norm

        Returns
        -------
        bool
        """
        return norm.dual_matrix is not None or norm.dual_exponent > 1

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Solve a problem with Clarabel; the result does not depend on the start.

        Parameters
        ----------
        problem : Problem
        engine : Engine
            Stores the examples and alpha.
        weights : ndarray of shape (M,)
            Not used.
        run : Run

        Returns
        -------
        Result

        Raises
        ------
        ImportError
            If Clarabel is not installed (extra ``kernelweave[conic]``).
        ValueError
            If M n^2 exceeds `MOST_ENTRIES`.
        """
        clarabel = _clarabel()
        _refuse_large(engine.n, engine.n_kernels)
        factors, exponents = _factors(engine), dual_exponents(problem.norm)
        programs = [ConeProgram.of(clarabel, problem, factors, exponent) for exponent in exponents]
        results: list[Result] = []
        for settings, program in product(ATTEMPTS, programs):
            left = max(0.0, run.budget.deadline - time.monotonic())
            solution = program.solve(settings, left)
            x = np.array(solution.x)[program.alpha]
            sizes = None if program.sizes is None else np.array(solution.z)[program.sizes]
            for certificate, point in _refined(problem, engine, x, sizes):
                run.record(certificate, point.theta, 0)
                result = run.result(certificate, point.alpha, point.theta)
                results.append(replace(result, n_iter=solution.iterations))
            if run.budget.out_of_time or any(result.converged for result in results):
                break
        if not results:
            raise FloatingPointError(
                "Clarabel found no finite alpha; scale the data or use solver='auto'"
            )
        best = min(results, key=lambda result: result.gap)
        engine.move_to(best.alpha)
        return best


def dual_exponents(norm: Norm) -> list[float]:
    """Return the exponents r to try for ||sqrt(s)||_r, whose square is the dual norm of s.

    s are the squared block norms alpha' K_m alpha.

    Near p = 1, r is large, and power cones are inaccurate. The maximum norm needs no power cones.
    It differs by a factor of at most M^(1/r), which Newton's method corrects.
    """
    exponent = norm.dual_exponent
    return [np.inf, exponent] if FLAT <= exponent < np.inf else [exponent]


def _refined(
    problem: Problem, engine: Engine, alpha: np.ndarray, sizes: np.ndarray | None
) -> Iterator[tuple[Certificate, Point]]:
    """Yield models with Clarabel's alpha, (n,), then the best of them after each Newton step.

    The weights are the best ones for alpha, or follow from the multipliers of the cones,
    theta_m sqrt(s_m) (`sizes`). At p = 1 the best weights for alpha are not unique. At large p
    those that follow from the multipliers are less accurate.
    """
    norm = problem.norm
    alpha, s = _placed(problem, engine, alpha)
    if not np.isfinite(s).all():  # Clarabel has failed
        return
    models = [_certified(problem, engine, alpha, s, norm.best(s))]
    if sizes is not None:
        models.append(_certified(problem, engine, alpha, s, _weights(norm, sizes, s)))
    yield from models
    if problem.term.ent.any():  # no alpha is at a bound
        return
    _, point = min(models, key=lambda model: model[0].gap)
    for _ in range(NEWTON_STEPS):
        try:
            moved = polish(problem, engine, point)
        except np.linalg.LinAlgError:  # ill-conditioned
            return
        alpha, s = _placed(problem, engine, moved.alpha)
        certificate, point = _certified(problem, engine, alpha, s, moved.theta)
        yield certificate, point


def _placed(problem: Problem, engine: Engine, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make alpha feasible, move the engine to it, and return alpha and s, shape (M,)."""
    alpha = feasible(problem, alpha)
    engine.move_to(alpha)
    return alpha, engine.quadratic()


def _certified(
    problem: Problem, engine: Engine, alpha: np.ndarray, s: np.ndarray, theta: np.ndarray
) -> tuple[Certificate, Point]:
    """Return the certificate and the point of the engine's alpha with weights theta, (M,)."""
    certificate = problem.certificate(alpha, engine.combined(theta), s, theta)
    return certificate, Point(alpha, theta, float(certificate.bias))


def _weights(norm: Norm, sizes: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return weights theta, (M,), from `sizes` theta_m sqrt(s_m); any weights if all s_m are 0."""
    if not s.any():
        return norm.start(len(s))
    theta = np.maximum(sizes, 0.0) / np.sqrt(np.maximum(s, NEAR**2 * s.max()))
    if norm.is_sparse:
        theta[theta < NEAR * theta.max()] = 0.0
    return theta / norm.value(theta)


def feasible(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return the feasible alpha, shape (n,), next to an alpha that is feasible up to rounding."""
    term = problem.term
    near = NEAR * np.abs(alpha).max()
    alpha = np.where((np.abs(alpha) < near) & (term.eps > 0), 0.0, alpha)
    if not term.ent.any():
        alpha = np.where(alpha - term.lo < near, term.lo, alpha)
        alpha = np.where(term.hi - alpha < near, term.hi, alpha)
    alpha = np.clip(alpha, term.lo, term.hi)
    return balanced(alpha, term.lo, term.hi, problem.tau, alpha != 0)


def _factors(engine: Engine) -> list[np.ndarray]:
    """Return L_m, shape (n, rank), with K_m = L_m L_m', for each kernel."""
    examples, unit_weights = np.arange(engine.n), np.eye(engine.n_kernels)
    return [_factor(engine.block(examples, weights)) for weights in unit_weights]


def _factor(kernel: np.ndarray) -> np.ndarray:
    """Return L, shape (n, rank), with kernel = L L', by a pivoted Cholesky factorisation."""
    lower, pivots, rank, _ = dpstrf(kernel, lower=1, tol=RANK * kernel.diagonal().max())
    factor = np.empty((len(kernel), rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    return factor


def _refuse_large(n: int, M: int) -> None:
    """Raise ValueError if a cone program with M kernels on n examples needs too much memory."""
    entries = M * n * n
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"solver='qcqp' is for small problems, M n^2 <= {MOST_ENTRIES:.0e}: {M} kernels and "
            f"{n} examples would need about {entries * BYTES_PER_ENTRY / 2**30:.0f} GB; use "
            "solver='auto', which solves the same problem"
        )


def _clarabel() -> ModuleType:
    """Return the module clarabel, or raise ImportError with the command that installs it."""
    try:
        import clarabel
    except ImportError:
        raise ImportError(
            "solver='qcqp' needs the package clarabel: pip install 'kernelweave[conic]'"
        ) from None
    return clarabel
