"""A kernel that counts values missing in both examples, and texts with missing values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel, TableKernel
from kernelweave.kernels.compile.examples import Table, vector_table
from kernelweave.kernels.data.columns import Columns, choose
from kernelweave.kernels.data.inputs import as_input, column, is_numeric_array, items_or_none
from kernelweave.model.files.registry import registered


@registered("Missing")
@dataclass(frozen=True)
class Missing(TableKernel):
    """Kernel that counts the columns whose values are missing (NaN or None) in both examples.

    Parameters
    ----------
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.
    """

    quantity = "dot"

    def resolve(self, X: Data) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        where = choose(self.columns, as_input(X), self.name)
        return replace(self, columns=Gaps(**vars(where)))

    def table(self, X: Tabular, training: bool) -> Table:
        return vector_table(self.columns.missing(X).astype(np.float64))


@registered("Gaps")
@dataclass(frozen=True, repr=False)
class Gaps(Columns):
    """Columns encoded as indicators of missing values; no example counts as absent."""

    def absent(self, X: Tabular) -> None:
        return None  # also in a view that is absent: all its values are missing

    def missing(self, X: Tabular) -> np.ndarray:
        """Return a mask of the missing values, shape (n, number of columns)."""
        part = self.part(X)
        if part is None:
            return np.ones((X.shape[0], len(self.indices)), dtype=bool)
        return missing(part, self.locate(part))


@registered("FilledTexts")
@dataclass(frozen=True, repr=False)
class FilledTexts(Columns):
    """Columns of texts in which a missing value is an empty text, or "-" as a sequence."""

    imputes = True

    def strings(self, part: Tabular) -> object:
        # Sequences must not be empty; a gap contains no word.
        return [item or "-" for item in self._items(super().strings(part), self.label)]

    def _items(self, values: object, label: str) -> list[object]:
        return ["" if item is None else item for item in items_or_none(values)]


def missing(X: Any, indices: list[int]) -> np.ndarray:
    """Return a mask of the missing values of the columns `indices`, shape (n, len(indices))."""
    if sp.issparse(X):
        return np.zeros((X.shape[0], len(indices)), dtype=bool)
    if is_numeric_array(X):
        return np.isnan(np.asarray(X[:, indices], dtype=np.float64))
    columns = [[item is None for item in items_or_none(column(X, index))] for index in indices]
    return np.array(columns, dtype=bool).T
