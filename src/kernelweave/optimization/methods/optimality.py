"""Approximate optimality conditions at p = 1, and sparser weights (Bach et al., 2004).

At p = 1 the optimal weights for an alpha need not be unique: `sparsify` removes redundant kernels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from ...engines.base import Engine, kernel_blocks
from ...problem.problem import Problem
from ..inner.violations import Violations
from ..result import Result


def optimality(
    problem: Problem, alpha: np.ndarray, F: np.ndarray, s: np.ndarray, theta: np.ndarray
) -> tuple[float, float]:
    """Return the smallest (eps1, eps2) for which (alpha, theta) is (eps1, eps2)-optimal.

    eps1 is the largest difference between the maximum of s_m / (2 c_m), where c_m is the cost of
    kernel m in the norm, and its value for a kernel of positive weight. eps2 is the smallest change
    of outputs with which the KKT conditions hold (OPT_3 in the paper).

    Parameters
    ----------
    problem : Problem
    alpha, F : ndarrays of shape (n,)
        Dual variables and combined outputs.
    s, theta : ndarrays of shape (M,)
        Squared block norms and weights.
    """
    height = 0.5 * s / problem.norm.costs(len(s))
    missing = height.max() - height[theta > 0].min()
    violations = Violations(problem.term, alpha, F, fixed_sum=problem.risk.has_intercept)
    return float(missing), violations.correction


def best_weights(
    problem: Problem, alpha: np.ndarray, g: np.ndarray, costs: np.ndarray
) -> np.ndarray | None:
    """Return the weights of k kernels with the smallest eps2, shape (k,), or None if infeasible.

    A linear program: minimise eps2 over theta >= 0 with ||theta|| = 1, b and eps2, subject to
    down_i + F_i <= b + eps2 and up_i + F_i >= b - eps2. Here F = sum_m theta_m g_m, and down and up
    are the left and right derivatives of the conjugates of the losses. Without an intercept b is 0.

    Parameters
    ----------
    problem : Problem
    alpha : ndarray of shape (n,)
    g : ndarray of shape (k, n)
        Outputs of the kernels.
    costs : ndarray of shape (k,)
        Their factors in the norm.
    """
    down, up = problem.term.slopes(alpha)
    low, high = np.isfinite(down), np.isfinite(up)
    bias = (None, None) if problem.risk.has_intercept else (0, 0)
    solution = linprog(
        np.append(np.zeros(len(g) + 1), 1.0),
        A_ub=np.concatenate([_rows(g.T[low], -1.0), _rows(-g.T[high], 1.0)]),
        b_ub=np.concatenate([-down[low], up[high]]),
        A_eq=[[*costs, 0.0, 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * len(g) + [bias, (0, None)],
    )
    if solution.status != 0:
        return None
    theta = solution.x[: len(g)]
    return theta / (costs @ theta)


def _rows(g: np.ndarray, sign: float) -> np.ndarray:
    """Return the coefficients of g theta + sign b - eps2, shape (rows, k + 2)."""
    return np.column_stack([g, np.full(len(g), sign), np.full(len(g), -1.0)])


def sparsify(problem: Problem, engine: Engine, result: Result, tol: float) -> Result:
    """Return a result of p = 1 without redundant kernels.

    Kernels are removed one by one, those with the smallest weight first, and a linear program gives
    the weights of the others (Bach et al., 2004). alpha and the dual value do not change. A kernel
    is removed only if the relative duality gap stays within `tol`.
    """
    support = np.flatnonzero(result.weights)
    g = kernel_blocks(engine).outputs(support)
    for m in support[np.argsort(result.weights[support], kind="stable")]:
        others = np.flatnonzero((result.weights[support] > 0) & (support != m))
        if result.weights[m] > 0 and others.size:
            lighter = _with_weights(problem, result, support[others], g[others])
            result = lighter if lighter is not None and lighter.gap <= tol else result
    return result


def _with_weights(
    problem: Problem, result: Result, kernels: np.ndarray, g: np.ndarray
) -> Result | None:
    """Return the result with the best weights of k kernels, given their outputs g, (k, n)."""
    M = len(result.weights)
    weights = best_weights(problem, result.alpha, g, problem.norm.costs(M)[kernels])
    if weights is None:
        return None
    theta, s = np.zeros((2, M))
    theta[kernels], s[kernels] = weights, g @ result.alpha
    F = weights @ g
    bias = problem.best_bias(F)
    primal = problem.primal(F, s, theta, bias)
    gap = problem.gap(primal, result.dual)
    return replace(result, primal=primal, gap=gap, bias=bias, weights=theta)
