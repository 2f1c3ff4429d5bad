"""A few kernels that stand for all of a family.

The kernels of a family are smooth functions of one quantity, and many of them are nearly dependent:
a thousand RBF widths between 0.001 and 1 are sums of 17 of them, to six digits. An interpolative
decomposition of their values finds those, and the sums.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg.interpolative import interp_decomp


def representatives(
    families: Iterable[tuple[list[int], np.ndarray]], tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return R of M kernels, shape (R,), and how they make up all, shape (M, R).

    Parameters
    ----------
    families : for each shared quantity its m kernels, and their values at S samples of it, shape
        (m, S).
    tolerance : error that is allowed, relative to the size of a kernel.
    """
    chosen, mixing = [np.empty(0, dtype=np.int64)], []
    for kernels, values in families:
        members, sums = _decompose(values, tolerance)
        chosen.append(np.asarray(kernels)[members])
        mixing.append((kernels, sums))
    members = np.concatenate(chosen)
    whole = np.zeros((sum(len(kernels) for kernels, _ in mixing), len(members)))
    first = 0
    for kernels, sums in mixing:
        whole[kernels, first : first + sums.shape[1]] = sums
        first += sums.shape[1]
    return members, whole


def _decompose(values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows, shape (r,), and the matrix, shape (m, r), that makes all of them."""
    sizes = np.abs(values).max(axis=1)
    sizes[sizes == 0] = 1.0
    rank, order, rest = interp_decomp((values / sizes[:, None]).T, tolerance, rand=False)
    sums = np.zeros((len(values), rank))
    sums[order[:rank]] = np.eye(rank)
    sums[order[rank:]] = rest.T
    members = order[:rank]
    return members, sizes[:, None] * sums / sizes[members]
