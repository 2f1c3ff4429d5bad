"""Bounds on the smoothing of the support kernel machine (Bach et al., 2004, section 4.3).

The smoothed problem adds 1/2 a_j^2 ||w_j||^2 to the primal for each kernel. Theorem 1 bounds the
suboptimality of its solutions for the original problem. Corollary 1 is the inverse: it gives,
without solving any problem, values of a_j that suffice for a given suboptimality.
"""

from __future__ import annotations

import math

import numpy as np

from ...common.numbers import as_number, as_numbers, as_positive


def smoothed_optimality(
    K: np.ndarray, C: float, a: object, *, d: object = None, eps: float = 0.0
) -> tuple[float, float]:
    """Return the (eps1, eps2) that solutions of the smoothed problem have (theorem 1).

    Parameters
    ----------
    K : array of shape (M, n, n)
        Kernel matrices.
    C : float
        Cost of an error, with the hinge loss.
    a : float, or sequence of M positive floats
        Smoothing of each kernel.
    d : sequence of M positive floats, optional
        Block scales, the square roots of the weights of the norm; 1 by default.
    eps : float
        KKT violation to which the smoothed problem is solved.

    Returns
    -------
    eps1, eps2 : float
        See `SKM`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF
    >>> from kernelweave.solvers.skm import a_priori_smoothing, smoothed_optimality
    >>> K = RBF([0.1, 1.0])(np.random.default_rng(0).normal(size=(50, 2)))
    >>> a = a_priori_smoothing(K, C=1.0, eps1=0.5, eps2=0.1)
    >>> eps1, eps2 = smoothed_optimality(K, C=1.0, a=a, eps=0.05)
    >>> eps1 <= 0.5 and eps2 <= 0.1 + 1e-12
    True
    """
    rows, squares = _row_sums(K), _squares(d, K)
    smoothing = np.array(as_positive("a", np.broadcast_to(as_numbers("a", a), rows.shape))) ** 2
    largest = float(np.max(smoothing / squares))
    n = np.shape(K)[1]
    eps1 = n * _positive("C", C) * largest * (2.0 + largest)
    return eps1, float(eps + C * np.max(smoothing * rows / squares**2))


def a_priori_smoothing(
    K: np.ndarray, C: float, eps1: float, eps2: float, *, d: object = None
) -> float:
    """Return the largest smoothing a_j that guarantees (eps1, eps2)-optimality (corollary 1).

    If no a_j is larger, and the smoothed problem is solved to a KKT violation of eps2 / 2, its
    solution is (eps1, eps2)-optimal.

    Parameters
    ----------
    K : array of shape (M, n, n)
        Kernel matrices.
    C : float
        Cost of an error, with the hinge loss.
    eps1, eps2 : float
        See `SKM`.
    d : sequence of M positive floats, optional
        Block scales, the square roots of the weights of the norm; 1 by default.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    The bound is cautious: it decreases with n C / eps1. Training with `SKM` starts from a larger
    smoothing and stops when the model itself is (eps1, eps2)-optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF
    >>> from kernelweave.solvers.skm import a_priori_smoothing
    >>> K = RBF([0.1, 1.0])(np.random.default_rng(0).normal(size=(50, 2)))
    >>> print(f"{a_priori_smoothing(K, C=1.0, eps1=0.05, eps2=0.01):.2f}")
    0.01
    """
    rows, squares = _row_sums(K), _squares(d, K)
    share = _positive("eps1", eps1) / (np.shape(K)[1] * _positive("C", C))
    first = float(squares.min()) * share / (1.0 + math.sqrt(1.0 + share))
    second = 0.5 * _positive("eps2", eps2) / float(np.max(rows * C / squares**2))
    return math.sqrt(min(first, second))


def _row_sums(K: object) -> np.ndarray:
    """Return M_j = max_u sum_v |K_j[u, v]|, shape (M,)."""
    matrices = as_numbers("K", K)
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2] or not matrices.size:
        raise ValueError(f"K must have shape (M, n, n), got an array of shape {matrices.shape}")
    sums: np.ndarray = np.abs(matrices).sum(axis=2).max(axis=1)
    if not np.all((sums > 0) & (sums < np.inf)):
        raise ValueError("K must contain finite matrices that are not zero")
    return sums


def _squares(d: object, K: np.ndarray) -> np.ndarray:
    """Return d_j^2, shape (M,)."""
    M = len(K)
    if d is None:
        return np.ones(M)
    scales = as_positive("d", d)
    if len(scales) != M:
        raise ValueError(f"d must have one entry for each of the {M} kernels, got {len(scales)}")
    return np.square(scales)


def _positive(name: str, value: object) -> float:
    number = as_number(value)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number
