"""Columns of numbers scaled to [0, 1] by their range, and categories, for the clinical kernel.

Every column contributes at most 1 to the sum of absolute differences of two examples: the
difference of two numbers divided by the range of the training data, or 1 for different categories.
Numbers outside the range are moved to its ends. A missing number is replaced by the mean, and a
missing category counts as a separate category. All categories that are not in the training data
count as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.common.types import Tabular
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.data.encoding import Encoded, distinct, one_hot, warn_of_numbers
from kernelweave.kernels.data.inputs import (
    column,
    contains_numbers,
    is_numeric_array,
    is_sparse,
    items_or_none,
    numbers,
)
from kernelweave.model.files.registry import registered


@registered("Ranged")
@dataclass(frozen=True, repr=False)
class Ranged(Encoded):
    """Columns of numbers and categories, encoded so that two values differ by at most 1.

    Attributes
    ----------
    width, chosen, names, view, categories, fill : as in `Encoded`
    offsets : tuple of floats
        Smallest value of each column of numbers; 0 for categories.
    factors : tuple of floats
        1 / range of each column of numbers; 0 for constant columns and for categories.
    means : tuple of floats
        Mean of each column of numbers after scaling, which replaces missing values.
    """

    factors: tuple[float, ...] = ()
    means: tuple[float, ...] = ()

    imputes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("offsets", "factors", "means"):
            if len(getattr(self, name)) != len(self.indices):
                raise ValueError(
                    f"columns: {name} must have one entry per column, got "
                    f"{len(getattr(self, name))} for {len(self.indices)} columns"
                )

    @property
    def n_features(self) -> int:
        """Number of features after encoding: one indicator per category, and one for all others."""
        if not self.categories:
            return len(self.indices)
        return sum(1 if found is None else len(found) + 1 for found in self.categories)

    def _values(self, X: Tabular) -> np.ndarray:
        indices = self.locate(X)
        if is_sparse(X):
            X = X.toarray()
        parts = [self._part(X, position, index) for position, index in enumerate(indices)]
        return np.hstack(parts)

    def _part(self, X: Tabular, position: int, index: int) -> np.ndarray:
        found = self.categories[position] if self.categories else None
        if found is not None:
            known = one_hot(items_or_none(column(X, index)), found).toarray()
            # Two categories differ in two indicators: with 0.5 each, their distance is 1.
            return 0.5 * np.column_stack([known, 1.0 - known.sum(axis=1)])
        values = self._read(X, position, index)
        missing = np.isnan(values)
        self._refuse_infinite(np.where(missing, 0.0, values), np.array(position))
        scaled = (values - self.offsets[position]) * self.factors[position]
        return np.where(missing, self.means[position], np.clip(scaled, 0.0, 1.0))[:, None]


def ranged(columns: Columns, X: Tabular) -> Ranged:
    """Return columns with the categories, minima, ranges and means of X.

    Parameters
    ----------
    columns : Columns
        The columns to scale.
    X : n training examples

    Returns
    -------
    Ranged
    """
    part = columns.present_part(X)
    part = part.toarray() if is_sparse(part) else part
    found = [
        _column(column(part, index), columns.label_of(position), is_numeric_array(part))
        for position, index in enumerate(columns.locate(part))
    ]
    categories, offsets, factors, means = zip(*found, strict=True)
    some = categories if any(one is not None for one in categories) else ()
    return Ranged(**vars(columns), categories=some, offsets=offsets, factors=factors, means=means)


def _column(
    values: object, label: str, numeric: bool
) -> tuple[tuple[Any, ...] | None, float, float, float]:
    """Return the categories (None if numeric), minimum, 1 / range and scaled mean of a column."""
    if not (numeric or contains_numbers(values, label)):
        listed = items_or_none(values)
        warn_of_numbers({one for one in listed if one is not None}, label)
        return distinct(listed), 0.0, 0.0, 0.0
    known = numbers(values)
    known = known[np.isfinite(known)]
    if not len(known) or not known.max() > known.min():
        return None, float(known.min()) if len(known) else 0.0, 0.0, 0.0
    least, width = float(known.min()), float(known.max() - known.min())
    return None, least, 1.0 / width, float((known - least).mean() / width)
