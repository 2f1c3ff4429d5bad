"""The kernels of an estimator that was given none."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.vectors import RBF, Linear


def default_kernels(X: Any) -> list[Kernel]:
    """Return a linear kernel and RBF kernels of seven widths around the scale of the data.

    The middle width is what scikit-learn's ``gamma="scale"`` gives; neighbours differ by a factor 4
    in gamma. X must hold numbers only.
    """
    values = X if sp.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            "kernels=None is for X that holds numbers only; for other columns name the kernels, "
            'for example kernels=[RBF(columns=["age"]), BagOfWords(columns="notes")]'
        )
    variance = _variance(values)
    middle = 1.0 / (values.shape[1] * variance) if variance > 0 else 1.0
    return [Linear(), RBF(gamma=[middle * 4.0**k for k in range(-3, 4)])]


def _variance(X: Any) -> float:
    if sp.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(X))
