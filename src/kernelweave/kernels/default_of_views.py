"""The kernels of an estimator that was given none, for each view of its examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.data.columns import choose
from kernelweave.kernels.data.views import Grams, Views
from kernelweave.kernels.default import default_kernels
from kernelweave.kernels.vector.precomputed import Precomputed

Default = Callable[[Any, np.ndarray], list[Kernel]]


def default_of_views(
    X: Any, weights: np.ndarray, default: Default = default_kernels
) -> list[Kernel]:
    """Return default kernels: of each view of `Views`, of each matrix of `Grams`, or of X.

    Parameters
    ----------
    X : the training examples.
    weights : shape (n,).
    default : gives the kernels of a table and its weights.
    """
    if isinstance(X, Grams):
        return [Precomputed(columns=name, name=name) for name in X.names]
    if not isinstance(X, Views):
        return default(X, weights)
    return [kernel for view in X.names for kernel in _of_view(view, X, weights, default)]


def _of_view(view: str, X: Views, weights: np.ndarray, default: Default) -> list[Kernel]:
    """Return the kernels of the examples that a view is present for."""
    table, rows = choose(view, X).present(X)
    if table is None:
        raise ValueError(f"view {view!r} is absent for all training examples: leave it out")
    kernels = default(table, weights if rows is None else weights[rows])
    return [kernel.within(view).named(view) for kernel in kernels]
