"""Repair matrices that are not symmetric or not positive semidefinite.

A matrix is averaged with its transpose, and the eigenvectors of negative eigenvalues are projected
out. The result is the nearest positive semidefinite matrix in the Frobenius norm (Higham, 1988).
The same eigenvectors are projected out of the similarities of new examples.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import scipy.linalg

from kernelweave.common.core import single_threaded_blas
from kernelweave.common.warnings import warn
from kernelweave.kernels.compile.examples import Given

REPAIRS = ("clip", "error")
# Size of negative eigenvalues and asymmetries, relative to the largest entry, that counts as
# rounding error of a double precision matrix.
RELATIVE_TOLERANCE = 1e-10
# The same in units of the rounding error of single precision, for matrices of single precision
# numbers.
SINGLE_ROUNDINGS = 10.0
# Largest number of rows of a matrix that is factorised in one thread: more threads are slower.
ONE_THREAD = 5000


def check_repair(kernel: str, repair: str) -> None:
    """Raise ValueError unless `repair` is "clip" or "error"."""
    if repair not in REPAIRS:
        raise ValueError(f'{kernel}: repair must be "clip" or "error", got {repair!r}')


def find_negative(matrix: np.ndarray, repair: str, title: str) -> np.ndarray | None:
    """Return the eigenvectors of the negative eigenvalues of a training matrix.

    Parameters
    ----------
    matrix : array of shape (n, n)
        The training matrix.
    repair : {"clip", "error"}
        Whether to warn or to raise an error if the matrix is not symmetric or not positive
        semidefinite.
    title : str
        Name of the matrix in messages.

    Returns
    -------
    array of shape (n, r), or None
        None if no eigenvalue is negative beyond rounding error.

    Raises
    ------
    ValueError
        If ``repair="error"`` and the matrix needs repair.
    """
    tolerance = _relative_tolerance(matrix) * np.abs(matrix).max()
    largest = np.abs(matrix - matrix.T).max()
    if largest > tolerance:
        _report(f"{title} is not symmetric: K and K.T differ by up to {largest:.6g}", repair)
    values, vectors = _negative_part(symmetric(matrix), tolerance)
    if values.size == 0:
        return None
    _report(
        f"{title} is not positive semidefinite: its smallest eigenvalue is {values[0]:.6g}", repair
    )
    return vectors


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return the mean of a matrix, shape (n, n), and its transpose."""
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def projected(matrix: np.ndarray, negative: np.ndarray | None) -> np.ndarray:
    """Return similarities, shape (n, n_train), with the columns of `negative` projected out."""
    if negative is None:
        return matrix
    return matrix - (matrix @ negative) @ negative.T


def repaired(matrix: np.ndarray, negative: np.ndarray | None) -> np.ndarray:
    """Return a training matrix, (n, n), made symmetric, with the columns of `negative` removed."""
    return symmetric(projected(symmetric(matrix), negative))


def repaired_table(matrix: np.ndarray, negative: np.ndarray | None, training: bool) -> Given:
    """Return similarities to the training examples after projecting out negative eigenvectors.

    Parameters
    ----------
    matrix : array of shape (n, n_train)
        The similarities.
    negative : array of shape (n_train, r), or None
        The r eigenvectors of the training matrix to project out, from `find_negative`; None for
        no projection.
    training : bool
        Whether `matrix` is the training matrix, which is also made symmetric.
    """
    if not training:
        return Given(np.ascontiguousarray(projected(matrix, negative)), np.arange(0))
    matrix = repaired(matrix, negative)
    return Given(np.ascontiguousarray(matrix), np.arange(len(matrix)))


def _report(problem: str, repair: str) -> None:
    if repair == "error":
        raise ValueError(f"{problem}; pass a valid kernel matrix, or repair='clip'")
    warn(f"{problem}; it was repaired", UserWarning)


def _relative_tolerance(matrix: np.ndarray) -> float:
    """Return the size of rounding errors of eigenvalues, relative to the largest matrix entry.

    It depends on whether the entries have single or double precision. Rounding errors of the n
    entries of a row change eigenvalues by about sqrt(n) times as much.
    """
    with np.errstate(over="ignore"):  # entries that overflow are not single precision
        single = matrix.astype(np.float32)
    if not np.array_equal(single, matrix) or np.array_equal(np.rint(matrix), matrix):
        return RELATIVE_TOLERANCE
    return float(np.finfo(np.float32).eps) * max(SINGLE_ROUNDINGS, float(np.sqrt(len(matrix))))


def _negative_part(matrix: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the r eigenvalues <= 0, (r,), and their eigenvectors, (n, r).

    Both are empty if no eigenvalue is below -tolerance.
    """
    nothing = np.empty(0), np.empty((len(matrix), 0))
    try:
        # If this Cholesky factorisation succeeds, all eigenvalues are >= -tolerance. It is much
        # cheaper than computing them.
        with single_threaded_blas() if len(matrix) <= ONE_THREAD else nullcontext():
            scipy.linalg.cholesky(matrix + tolerance * np.eye(len(matrix)), check_finite=False)
        return nothing
    except scipy.linalg.LinAlgError:
        values, vectors = _below_zero(matrix)
    return (values, vectors) if values.size and values[0] < -tolerance else nothing


def _below_zero(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues <= 0, (r,), and their eigenvectors, (n, r)."""
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_value=(-np.inf, 0.0))
    except scipy.linalg.LinAlgError:  # LAPACK's routine for a subset can fail to converge
        values, vectors = scipy.linalg.eigh(matrix, driver="ev")
        below = values <= 0
        values, vectors = values[below], vectors[:, below]
    return values, vectors
