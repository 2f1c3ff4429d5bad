"""Matrices that are no kernels yet: not symmetric, or with negative eigenvalues.

A matrix is averaged with its transpose, and the projection on the eigenvectors of its negative
eigenvalues is removed: of all positive semidefinite matrices that is the nearest one (Higham,
1988). The same projection is removed from the similarities of new examples.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from kernelweave.common.warnings import warn

REPAIRS = ("clip", "error")
RELATIVE_TOLERANCE = 1e-10  # times the largest value: smaller negative eigenvalues are roundings


def check_repair(kernel: str, repair: str) -> None:
    """Refuse what is no way to repair a matrix."""
    if repair not in REPAIRS:
        raise ValueError(f'{kernel}: repair must be "clip" or "error", not {repair!r}')


def find_negative(matrix: np.ndarray, repair: str, title: str) -> np.ndarray | None:
    """Return what is wrong with a training matrix, as eigenvectors to be projected out.

    Parameters
    ----------
    matrix : array of shape (n, n)
    repair : {"clip", "error"}, whether to warn or to raise where something is wrong.
    title : what messages call the matrix.

    Returns
    -------
    Eigenvectors, shape (n, r), or None where no eigenvalue is negative beyond rounding.
    """
    tolerance = _relative_tolerance(matrix) * np.abs(matrix).max()
    largest = np.abs(matrix - matrix.T).max()
    if largest > tolerance:
        _settle(f"{title} is not symmetric: K and K.T differ by up to {largest:.6g}", repair)
    values, vectors = _negative_part(symmetric(matrix), tolerance)
    if values.size == 0:
        return None
    _settle(
        f"{title} is not positive semidefinite: its smallest eigenvalue is {values[0]:.6g}", repair
    )
    return vectors


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return the mean of a matrix and its transpose."""
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def projected(matrix: np.ndarray, negative: np.ndarray | None) -> np.ndarray:
    """Return rows of similarities, shape (n, n_train), without their negative part."""
    if negative is None:
        return matrix
    rest: np.ndarray = matrix - (matrix @ negative) @ negative.T
    return rest


def repaired(matrix: np.ndarray, negative: np.ndarray | None) -> np.ndarray:
    """Return the training matrix, symmetric and without its negative part."""
    return symmetric(projected(symmetric(matrix), negative))


def _settle(problem: str, repair: str) -> None:
    if repair == "error":
        raise ValueError(problem)
    warn(f"{problem}; it was repaired", UserWarning)


def _relative_tolerance(matrix: np.ndarray) -> float:
    """Return what to take for roundings: more where the values have single precision only.

    The rounding of n values in a row moves eigenvalues by about sqrt(n) times as much.
    """
    with np.errstate(over="ignore"):  # what single precision cannot hold has not come from it
        single = matrix.astype(np.float32)
    if not np.array_equal(single, matrix) or np.array_equal(np.rint(matrix), matrix):
        return RELATIVE_TOLERANCE
    return float(np.finfo(np.float32).eps) * max(10.0, float(np.sqrt(len(matrix))))


def _negative_part(matrix: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the negative eigenvalues and their eigenvectors; none where they are roundings."""
    nothing = np.empty(0), np.empty((len(matrix), 0))
    try:
        # A Cholesky factor proves at little cost that no eigenvalue is below -tolerance.
        scipy.linalg.cholesky(matrix + tolerance * np.eye(len(matrix)), check_finite=False)
        return nothing
    except scipy.linalg.LinAlgError:
        values, vectors = _below_zero(matrix)
    return (values, vectors) if values.size and values[0] < -tolerance else nothing


def _below_zero(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues that are not above 0, and their eigenvectors."""
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_value=(-np.inf, 0.0))
    except scipy.linalg.LinAlgError:  # LAPACK's method for a part of them fails for some
        values, vectors = scipy.linalg.eigh(matrix, driver="ev")
        below = values <= 0
        values, vectors = values[below], vectors[:, below]
    return values, vectors
