"""What is missing in a table: a kernel that sees it, and texts that may be missing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.columns import Columns, choose, found
from kernelweave.kernels.inputs import as_input, column, is_numeric_array, items_or_none
from kernelweave.kernels.parameters import frozen, label
from kernelweave.kernels.program import Expression, Layout
from kernelweave.kernels.tables import Table, vector_table
from kernelweave.stored import stored


@stored("Missing")
@dataclass(frozen=True)
class Missing(OnColumns):
    """The number of columns in which the values of both examples are missing (NaN or None).

    Parameters
    ----------
    columns : the part of X to use; all of it by default.
    """

    columns: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns))

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        return replace(self, columns=choose(self.columns, as_input(X)))

    @property
    def labels(self) -> tuple[str, ...]:
        return (label("Missing", {}, self.columns),)

    @property
    def is_family(self) -> bool:
        return False

    def expressions(self, layout: Layout) -> list[Expression]:
        _ = found(self, Columns)
        return [(("copy", layout.source("dot", self)),)]

    def table(self, X: Any, training: bool) -> Table:
        """Return the indicators of what is missing in X."""
        return vector_table(missing(X, self.columns.locate(X)).astype(np.float64))


@stored("FilledTexts")
@dataclass(frozen=True, repr=False)
class FilledTexts(Columns):
    """Columns of texts, in which a missing one is empty."""

    def _items(self, values: Any, label: str) -> list[Any]:
        return ["" if item is None else item for item in items_or_none(values)]


def missing(X: Any, indices: list[int]) -> np.ndarray:
    """Return which values of some columns of X are missing, shape (n, columns)."""
    if sp.issparse(X):
        return np.zeros((X.shape[0], len(indices)), dtype=bool)
    if is_numeric_array(X):
        gaps: np.ndarray = np.isnan(np.asarray(X[:, indices], dtype=np.float64))
        return gaps
    columns = [[item is None for item in items_or_none(column(X, index))] for index in indices]
    return np.array(columns, dtype=bool).T
