"""Standardised columns, which the default kernels read.

Each numeric column has mean 0 and variance 1 on the training data, so that units do not matter. The
indicators of a column of categories have total variance 1. Sparse matrices are not centred, which
changes neither distances nor models with an intercept. Constant columns are set to 0.

Standardised values are rounded to single precision. So a change of units changes no value, and the
solver takes exactly the same steps; in double precision rounding errors would differ.

A missing number is replaced by the mean, and a missing category counts as a separate category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Tabular
from kernelweave.kernels.data.columns import MOST_NAMED
from kernelweave.kernels.data.encoding import Encoded, distinct, one_hot
from kernelweave.kernels.data.inputs import (
    column,
    column_names,
    contains_numbers,
    is_numeric_array,
    is_sparse,
    items_or_none,
    numbers,
)
from kernelweave.model.files.registry import registered

# A column counts as constant up to this ratio of standard deviation to largest absolute value.
ROUNDING = 16 * np.finfo(float).eps


@registered("Standardized")
@dataclass(frozen=True, repr=False)
class Standardized(Encoded):
    """Columns of numbers and categories, each scaled to variance 1.

    Numbers are centred unless X is sparse. Indicators of categories are not centred.

    Attributes
    ----------
    width, chosen, names, view, categories, fill : as in `Encoded`
    offsets : tuple of floats
        Mean, which is subtracted, of each numeric column, and 0 for categories; empty for sparse
        matrices.
    factors : tuple of floats
        1 / standard deviation, by which each column is multiplied; 0 for constant columns.
    """

    factors: tuple[float, ...] = ()

    imputes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.factors) != len(self.indices):
            raise ValueError(
                f"columns: factors must have one entry per column, got {len(self.factors)} for "
                f"{len(self.indices)} columns"
            )

    @property
    def label(self) -> str:
        """The text for the columns in a kernel's name: "age, city" or "12 numeric columns"."""
        if self.chosen is None or len(self.indices) <= MOST_NAMED:
            return super().label or "all columns"
        numeric = [found is None for found in self.categories or (None,)]
        kind = "numeric " if all(numeric) else "" if any(numeric) else "categorical "
        where = f"{self.view}: " if self.view else ""
        return f"{where}{len(self.indices)} {kind}columns"

    @property
    def n_varying(self) -> int:
        """Number of columns that are not constant; it is also the sum of their variances."""
        return int(np.count_nonzero(self.factors))

    def _values(self, X: Tabular) -> np.ndarray | sp.csr_array:
        indices = self.locate(X)
        if is_sparse(X) and self.offsets:
            X = X.toarray()  # the training data were dense
        if is_sparse(X):
            chosen = sp.csr_array(X[:, indices], dtype=np.float64)
            self._refuse_infinite(chosen.data, chosen.indices)
            scaled = sp.csr_array(chosen @ sp.diags_array(np.array(self.factors)))
            scaled.data = rounded(scaled.data)
            return scaled
        if is_numeric_array(X) and not self.categories:
            values = np.asarray(X[:, indices], dtype=np.float64)
            return self._standardized(values, np.arange(len(indices)))
        return self._encode(X, indices)

    def _standardized(self, values: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return numbers, shape (n, k), minus the offsets and times the factors of their columns.

        `positions`, shape (k,), are the positions of the k columns among the selected ones.
        """
        missing = np.isnan(values)
        self._refuse_infinite(np.where(missing, 0.0, values), positions)
        offsets = np.array(self.offsets)[positions] if self.offsets else 0.0
        with np.errstate(over="ignore"):
            scaled = np.where(missing, 0.0, values - offsets) * np.array(self.factors)[positions]
        if (infinite := np.isinf(scaled)).any():
            raise ValueError(
                f"X: column {self._first_label(infinite, positions)} overflows when it is "
                "standardised with the training data; its values must be on the scale of the "
                "training data"
            )
        return rounded(scaled)

    def _part(self, X: Tabular, position: int, index: int) -> object:
        found = self.categories[position] if self.categories else None
        if found is not None:
            return self.factors[position] * one_hot(items_or_none(column(X, index)), found)
        values = self._read(X, position, index)[:, None]
        scaled = self._standardized(values, np.array([position]))
        return sp.csr_array(scaled) if self.categories else scaled


def rounded(values: np.ndarray) -> np.ndarray:
    """Return numbers rounded to single precision; those that would overflow are unchanged."""
    with np.errstate(over="ignore", under="ignore"):
        single: np.ndarray = values.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(single), single, values)


def standardized(indices: Sequence[int], X: Any, weights: np.ndarray) -> Standardized:
    """Return the columns of X with the means and standard deviations that standardise them.

    Parameters
    ----------
    indices : sequence of int
        Positions of the columns, at least one.
    X : array, sparse matrix or data frame with n examples
    weights : array of shape (n,)
        Weight of each example in means and variances.

    Returns
    -------
    Standardized
    """
    shares, names = weights / weights.sum(), column_names(X)
    chosen = None if list(indices) == list(range(X.shape[1])) else tuple(indices)
    where = (X.shape[1], chosen, names and tuple(names[index] for index in indices))
    if is_sparse(X):
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
    values: object, label: str, shares: np.ndarray
) -> tuple[tuple[Any, ...] | None, float, float]:
    """Return the categories of a column (None if numeric), its mean and 1 / its deviation."""
    if contains_numbers(values, label):
        means, spreads = moments(numbers(values)[:, None], shares)
        return None, float(means[0]), _factors(spreads)[0]
    listed = items_or_none(values)
    found = distinct(listed)
    parts = shares @ one_hot(listed, found)
    spread = np.sqrt(parts @ (parts.sum() - parts))  # exactly 0 for a single category
    return found, 0.0, _factors(_varying(spread[None]))[0]


def moments(values: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and standard deviations of numeric columns.

    Parameters
    ----------
    values : array of shape (n, d)
        NaN is ignored.
    shares : array of shape (n,)
        Weight of each example.

    Returns
    -------
    means, deviations : arrays of shape (d,)
        Standard deviations at the level of rounding errors are replaced by 0.
    """
    known = np.isfinite(values) & (shares > 0)[:, None]
    filled = np.where(known, values, 0.0)
    largest = np.abs(filled).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that squares neither overflow nor underflow
    parts = shares[:, None] * known
    parts = parts / np.maximum(parts.sum(axis=0), np.finfo(float).tiny)
    scaled = filled / unit
    means = np.einsum("ij,ij->j", parts, scaled)
    spreads = np.sqrt(np.einsum("ij,ij->j", parts, (scaled - means) ** 2))
    return means * unit, np.where(spreads > ROUNDING, spreads, 0.0) * unit


def sparse_moments(X: sp.csr_array, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and standard deviations of the columns of a sparse matrix; see `moments`."""
    X = sp.csc_array(X, dtype=np.float64)
    largest = np.asarray(abs(X).max(axis=0).toarray()).ravel()
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    scaled = sp.csr_array(X @ sp.diags_array(1.0 / unit))
    means = shares @ scaled
    variances = shares @ scaled.multiply(scaled) - means**2
    spreads = np.sqrt(np.maximum(variances, 0.0))
    return means * unit, _varying(spreads) * unit


def _varying(spreads: np.ndarray) -> np.ndarray:
    """Return standard deviations, those at the level of rounding errors replaced by 0.

    The deviations are computed without centring, from values of at most 1. Their rounding errors
    are therefore about the square root of those of centred values.
    """
    return np.where(spreads > np.sqrt(ROUNDING), spreads, 0.0)


def _factors(spreads: np.ndarray) -> tuple[float, ...]:
    """Return 1 / standard deviation of each column, and 0 if it is 0 or the result overflows."""
    least = 1.0 / np.finfo(float).max
    with np.errstate(divide="ignore", over="ignore"):
        return _listed(np.where(spreads > least, 1.0 / spreads, 0.0))


def _listed(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())
