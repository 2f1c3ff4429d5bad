"""The kernels of an estimator that was given none."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.vectors import RBF, Linear


def default_kernels(X: Any, weights: np.ndarray) -> list[Kernel]:
    """Return a linear kernel and RBF kernels of seven widths around the scale of the data.

    The middle width is what scikit-learn's ``gamma="scale"`` gives, each example counting as often
    as its weight says; neighbours differ by a factor 4 in gamma.

    Parameters
    ----------
    X : array or sparse matrix of numbers, shape (n, d).
    weights : shape (n,).
    """
    shares = weights / weights.sum()
    mean = (shares @ X).mean()
    square = (shares @ (X.multiply(X) if sp.issparse(X) else X**2)).mean()
    spread = X.shape[1] * (square - mean**2)
    if not np.isfinite(spread):
        raise ValueError("X holds numbers that are too large to be squared: scale its columns")
    middle = 1.0 / spread if spread > 0 else 1.0
    return [Linear(), RBF(gamma=[middle * 4.0**k for k in range(-3, 4)])]
