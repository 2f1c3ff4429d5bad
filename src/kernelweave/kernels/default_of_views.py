"""Default kernels of each view: those of an estimator with ``kernels=None``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compose.algebra import Named
from kernelweave.kernels.data.columns import choose
from kernelweave.kernels.data.views import Grams, Views
from kernelweave.kernels.default import default_candidates, default_kernels
from kernelweave.kernels.vector.precomputed import Precomputed
from kernelweave.model.files.registry import registered


@registered("OfView")
@dataclass(frozen=True)
class OfView(Named):
    """A default kernel of a view. Its name refers to its columns, its `views` to the whole view."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.kernel.labels


Default = Callable[[Any, np.ndarray], list[Kernel]]


def default_of_views(
    X: Data, weights: np.ndarray, default: Default = default_kernels
) -> list[Kernel]:
    """Return default kernels: of each view of `Views`, of each matrix of `Grams`, or of X.

    Parameters
    ----------
    X : n training examples.
    weights : weight of each example in means and variances, shape (n,).
    default : function that returns the kernels of one table, given the table and the weights.
    """
    if isinstance(X, Grams):
        return [Precomputed(columns=name, name=name) for name in X.names]
    if not isinstance(X, Views):
        return default(X, weights)
    return [kernel for view in X.names for kernel in _of_view(view, X, weights, default)]


def candidates_of_views(X: Data, weights: np.ndarray) -> dict[str, list[Kernel]]:
    """Return the alternative sets of default kernels by name, simplest first.

    Views and matrices have one set; see `kernels.default.default_candidates` for other X.

    Parameters
    ----------
    X : n training examples.
    weights : weight of each example in means and variances, shape (n,).
    """
    if isinstance(X, Views):
        return {"each view": default_of_views(X, weights)}
    return default_candidates(X, weights)


def _of_view(view: str, X: Views, weights: np.ndarray, default: Default) -> list[Kernel]:
    """Return the default kernels of a view, from the examples that have the view."""
    table, rows = choose(view, X).present(X)
    if table is None:
        raise ValueError(f"X: view {view!r} is absent for all training examples; leave it out")
    kernels = default(table, weights if rows is None else weights[rows])
    return [OfView(kernel.within(view), view) for kernel in kernels]
