"""Interior points for the working set of a multi-class hinge loss.

The number of steps hardly depends on the condition number of the kernel matrix. Let x_ik >= 0 be
the part of the cost C_i of example i that belongs to class k. Then alpha_ik = C_i [k = c_i] - x_ik,
where c_i is the class of the example, and the dual problem of a working set is

    minimise    1/2 sum_k (alpha_k - start_k)' K (alpha_k - start_k)
                + sum_k outputs_k' (alpha_k - start_k) - sum_i alpha_{i c_i}
    subject to  sum_k x_ik = C_i,    sum_i x_ik = the sum at the start  (with an intercept).

Mehrotra's predictor-corrector steps (1992) solve one dense system of all x and multipliers. They
are used for a few hundred variables, if block coordinate descent would take millions of passes.
"""

from __future__ import annotations

import numpy as np

from ..kkt_system import longest_step

MAX_STEPS = 60
INSET = 0.1  # the first iterate is the start plus this fraction of the way to an inner point
STEP_FRACTION = 0.99  # fraction of the longest feasible step that is taken, to stay inside


def class_interior_points(
    kernel: np.ndarray,
    own: np.ndarray,
    costs: np.ndarray,
    intercept: bool,
    gap: float,
    alpha: np.ndarray,
    outputs: np.ndarray,
) -> np.ndarray | None:
    """Return better alphas, shape (K, q), or None if rounding prevents it.

    Parameters
    ----------
    kernel : ndarray of shape (q, q)
        Combined kernel matrix of the working set.
    own : boolean ndarray of shape (K, q)
        Whether a class is that of the example.
    costs : ndarray of shape (q,)
        Costs C_i, all positive.
    intercept : bool
        Whether the sum of the alphas of each class is fixed.
    gap : float
        Duality gap of the working set at which to stop.
    alpha, outputs : ndarrays of shape (K, q)
        Feasible start, and its outputs.
    """
    K, q = own.shape
    bounds = costs * own
    start = bounds - alpha
    totals = start.sum(axis=1) if intercept else np.full(K, costs.sum() / K)
    if np.any(totals <= 0):
        return None
    inside = costs * (totals / totals.sum())[:, None]  # has the same sums
    x = ((1 - INSET) * start + INSET * inside).ravel()
    # Sums over the classes of each example, and over the examples of all classes but the last.
    equal = np.tile(np.eye(q), K)
    if intercept:
        equal = np.vstack([equal, np.kron(np.eye(K - 1, K), np.ones(q))])
    m, size = len(equal), len(x)
    quadratic = np.kron(np.eye(K), kernel)
    slopes = (own - outputs).ravel() - quadratic @ (bounds - alpha).ravel()
    z = np.full(size, np.abs(quadratic @ x + slopes).max() or 1.0)
    multipliers = np.zeros(m)
    system = np.zeros((size + m, size + m))
    system[:size, size:], system[size:, :size] = equal.T, equal
    for _ in range(MAX_STEPS):
        residual = quadratic @ x + slopes + equal.T @ multipliers - z
        if x @ (z + np.abs(residual)) <= gap:
            break
        system[:size, :size] = quadratic
        system.flat[: size * (size + m + 1) : size + m + 1] += z / x

        try:
            dx, _, dz = newton_step(system, x, z, residual, -x * z)
            predicted = (x + longest_step(x, dx, 1.0) * dx) @ (z + longest_step(z, dz, 1.0) * dz)
            centre = (x @ z / size) * (predicted / (x @ z)) ** 3
            products = centre - x * z - dx * dz
            dx, dmultipliers, dz = newton_step(system, x, z, residual, products)
        except np.linalg.LinAlgError:
            return None
        step = STEP_FRACTION * min(longest_step(x, dx, 1.0), longest_step(z, dz, 1.0))
        x, z, multipliers = x + step * dx, z + step * dz, multipliers + step * dmultipliers
        if not (np.all(np.isfinite(x)) and x.min() > 0):
            return None
    else:
        return None
    found = bounds - x.reshape(K, q)
    found[own.argmax(axis=0), np.arange(q)] = -np.where(own, 0.0, found).sum(axis=0)
    if intercept:
        balance(found, bounds, alpha.sum(axis=1))
    change = found - alpha
    gain = (own - outputs).ravel() @ change.ravel() - 0.5 * np.sum(change * (change @ kernel))
    return found if gain > 0 else None


def newton_step(
    system: np.ndarray, x: np.ndarray, z: np.ndarray, residual: np.ndarray, products: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the changes of x, multipliers and z that change x * z by `products` to first order.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the system is singular.
    """
    size = len(x)
    right = np.concatenate([products / x - residual, np.zeros(len(system) - size)])
    step = np.linalg.solve(system, right)
    return step[:size], step[size:], (products - z * step[:size]) / x


def balance(alpha: np.ndarray, bounds: np.ndarray, totals: np.ndarray) -> None:
    """Change alpha, (K, q), by its rounding errors so that each class k has the sum totals[k].

    Each class but the last exchanges the difference with the last, at the example with most room.
    """
    for k in range(len(alpha) - 1):
        missing = totals[k] - alpha[k].sum()
        room = bounds - alpha
        i = int((room[k] if missing > 0 else room[-1]).argmax())
        alpha[k, i] += missing
        alpha[-1, i] -= missing
