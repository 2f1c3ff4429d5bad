"""Standardised columns: what default kernels see of a table, whatever its units.

Each column has mean 0 and variance 1 on the training data, so that no other unit changes anything.
The indicators of a column of categories have variance 1 together. Sparse matrices are not centred,
which neither distances nor a machine with a bias can tell. Columns that do not vary are left out.

Standardised values are rounded to single precision: what is left of another unit is in the last
digits, and a solver that meets them may take another path to its tolerance.

A missing number is the mean, and a missing category is a category of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.data.encoding import Encoded, one_hot
from kernelweave.kernels.data.inputs import (
    column,
    column_names,
    holds_numbers,
    is_numeric_array,
    items_or_none,
    numbers,
)
from kernelweave.model.files.registry import stored

ROUNDINGS = 16 * np.finfo(float).eps  # spread over largest value, from which on a column varies


@stored("Standardized")
@dataclass(frozen=True, repr=False)
class Standardized(Encoded):
    """Columns of numbers and categories, each with mean 0 and variance 1.

    Attributes
    ----------
    offsets : what is subtracted from each column of numbers; empty for sparse matrices.
    factors : what each column is then multiplied by; 0 where it does not vary.
    """

    factors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.factors) != len(self.indices):
            raise ValueError("columns: there must be a factor for each column")

    @property
    def label(self) -> str:
        """How the columns are written in the name of a kernel."""
        return f"standardized {super().label or 'columns'}"

    @property
    def n_varying(self) -> int:
        """Number of columns that vary, which is the sum of all variances."""
        return int(np.count_nonzero(self.factors))

    def absent(self, X: Any) -> np.ndarray | None:
        return super().absent(X) if self.view else None  # in a table numbers are only missing

    def _values(self, X: Any) -> np.ndarray | sp.csr_array:
        indices = self.locate(X)
        if sp.issparse(X) and self.offsets:
            X = X.toarray()  # the training data were dense
        if sp.issparse(X):
            chosen = sp.csr_array(X[:, indices], dtype=np.float64)
            self._refuse_infinite(chosen.data, chosen.indices)
            scaled = sp.csr_array(chosen @ sp.diags_array(np.array(self.factors)))
            scaled.data = rounded(scaled.data)
            return scaled
        if is_numeric_array(X) and not self.categories:
            return self._standardized(np.asarray(X[:, indices], dtype=np.float64))
        return self._encode(X, indices)

    def _standardized(self, values: np.ndarray) -> np.ndarray:
        """Return columns of numbers, shape (n, columns), with mean 0 and variance 1."""
        missing = np.isnan(values)
        self._refuse_infinite(np.where(missing, 0.0, values), np.arange(values.shape[1]))
        offsets = np.array(self.offsets) if self.offsets else 0.0
        return self._scaled(
            values, missing, offsets, np.array(self.factors), np.arange(len(values.T))
        )

    def _scaled(
        self,
        values: np.ndarray,
        missing: np.ndarray,
        shift: Any,
        factor: Any,
        positions: np.ndarray,
    ) -> np.ndarray:
        """Return (values - shift) * factor, 0 where they are missing; what overflows is refused."""
        with np.errstate(over="ignore"):
            scaled = np.where(missing, 0.0, values - shift) * factor
        far = np.isinf(scaled)
        if far.any():
            position = int(np.broadcast_to(positions, scaled.shape)[far][0])
            raise ValueError(
                f"X: column {self.label_of(position)} has values too far from those of training "
                "for floating point numbers"
            )
        return rounded(scaled)

    def _part(self, X: Any, position: int, index: int) -> Any:
        found = self.categories[position] if self.categories else None
        factor = self.factors[position]
        if found is not None:
            return factor * one_hot(items_or_none(column(X, index)), found)
        values = self._read(X, position, index)
        missing = np.isnan(values)
        self._refuse_infinite(np.where(missing, 0.0, values), np.array(position))
        shift = self.offsets[position] if self.offsets else 0.0
        scaled = self._scaled(values, missing, shift, factor, np.array(position))[:, None]
        return sp.csr_array(scaled) if self.categories else scaled


def rounded(values: np.ndarray) -> np.ndarray:
    """Return numbers rounded to single precision, where that holds them."""
    with np.errstate(over="ignore", under="ignore"):
        single: np.ndarray = values.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(single), single, values)


def standardized(indices: Sequence[int], X: Any, weights: np.ndarray) -> Standardized:
    """Return columns of X, standardised.

    Parameters
    ----------
    indices : the positions of the columns, at least one.
    X : array, sparse matrix or frame with n examples.
    weights : how much each example counts, shape (n,).
    """
    shares, names = weights / weights.sum(), column_names(X)
    chosen = None if list(indices) == list(range(X.shape[1])) else tuple(indices)
    where = (X.shape[1], chosen, names and tuple(names[index] for index in indices))
    if sp.issparse(X):
        means, spreads = sparse_moments(X[:, list(indices)], shares)
        return Standardized(*where, factors=_factors(spreads))
    if is_numeric_array(X):
        means, spreads = moments(X[:, list(indices)].astype(np.float64), shares)
        return Standardized(*where, offsets=_listed(means), factors=_factors(spreads))
    columns = [_column(column(X, index), str(index), shares) for index in indices]
    categories, offsets, factors = zip(*columns, strict=True)
    some = categories if any(found is not None for found in categories) else ()
    return Standardized(*where, categories=some, offsets=offsets, factors=factors)


def _column(
    values: Any, label: str, shares: np.ndarray
) -> tuple[tuple[Any, ...] | None, float, float]:
    """Return the categories of a column (None for numbers), its offset and its factor."""
    if holds_numbers(values, label):
        means, spreads = moments(numbers(values)[:, None], shares)
        return None, float(means[0]), _factors(spreads)[0]
    listed = items_or_none(values)
    found = tuple(sorted(set(listed), key=lambda value: (type(value).__name__, value)))
    parts = shares @ one_hot(listed, found)
    spread = np.sqrt(parts @ (parts.sum() - parts))  # exactly 0 of a single category
    return found, 0.0, _factors(_varying(spread[None]))[0]


def moments(values: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns of numbers, each of shape (d,).

    Spreads that are nothing but rounding are 0.

    Parameters
    ----------
    values : shape (n, d); NaN is left out.
    shares : how much each example counts, shape (n,).
    """
    known = np.isfinite(values) & (shares > 0)[:, None]
    filled = np.where(known, values, 0.0)
    largest = np.abs(filled).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that squares neither overflow nor vanish
    parts = shares[:, None] * known
    parts = parts / np.maximum(parts.sum(axis=0), np.finfo(float).tiny)
    scaled = filled / unit
    means = np.einsum("ij,ij->j", parts, scaled)
    spreads = np.sqrt(np.einsum("ij,ij->j", parts, (scaled - means) ** 2))
    return means * unit, np.where(spreads > ROUNDINGS, spreads, 0.0) * unit


def sparse_moments(X: Any, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of the columns of a sparse matrix, as `moments` does."""
    X = sp.csc_array(X, dtype=np.float64)
    largest = np.asarray(abs(X).max(axis=0).toarray()).ravel()
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    scaled = sp.csr_array(X @ sp.diags_array(1.0 / unit))
    means = shares @ scaled
    variances = shares @ scaled.multiply(scaled) - means**2
    spreads = np.sqrt(np.maximum(variances, 0.0))
    return means * unit, _varying(spreads) * unit


def _varying(spreads: np.ndarray) -> np.ndarray:
    """Return spreads of columns that are not centred, 0 where they are nothing but rounding."""
    return np.where(spreads > np.sqrt(ROUNDINGS), spreads, 0.0)


def _factors(spreads: np.ndarray) -> tuple[float, ...]:
    """Return 1 / spread of each column, and 0 where there is none that numbers can hold."""
    least = 1.0 / np.finfo(float).max
    with np.errstate(divide="ignore", over="ignore"):
        return _listed(np.where(spreads > least, 1.0 / spreads, 0.0))


def _listed(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())
