"""The kernels of an estimator that was given none, for each view of its examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.default import default_kernels
from kernelweave.kernels.encoding import encode
from kernelweave.kernels.precomputed import Precomputed
from kernelweave.views import Grams, Views


def default_of_views(X: Any, weights: np.ndarray) -> list[Kernel]:
    """Return default kernels: of each view of `Views`, of each matrix of `Grams`, or of X.

    Parameters
    ----------
    X : the training examples.
    weights : shape (n,).
    """
    if isinstance(X, Grams):
        return [Precomputed(columns=name, name=name) for name in X.names]
    if not isinstance(X, Views):
        with np.errstate(over="ignore", invalid="ignore"):  # an error says what is too large
            return default_kernels(X, weights)
    return [kernel for view in X.names for kernel in _of_view(view, X, weights)]


def _of_view(view: str, X: Views, weights: np.ndarray) -> list[Kernel]:
    columns = encode(view, X)
    absent = columns.absent(X)
    present = weights if absent is None else weights[~absent]
    kernels = default_kernels(columns.present_values(X), present)
    return [kernel.on(view).named(view) for kernel in kernels]
