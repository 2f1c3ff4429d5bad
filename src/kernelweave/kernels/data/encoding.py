"""Encode columns as numeric vectors.

Numeric columns are unchanged. Columns of categories (strings, booleans, categorical columns and
mixed objects of a data frame) are one-hot encoded with the categories of the training data. New
categories of other data are encoded as zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Data, Tabular
from kernelweave.common.warnings import warn
from kernelweave.kernels.compile.examples import Table, vector_table
from kernelweave.kernels.data.columns import Columns, choose
from kernelweave.kernels.data.inputs import (
    as_input,
    column,
    contains_floats,
    contains_numbers,
    is_numeric_array,
    is_sparse,
    items,
    numbers,
)
from kernelweave.model.files.registry import registered

IMPUTE = (
    "; impute missing values, for example with sklearn.impute.SimpleImputer (only rows without any "
    "value are accepted, as absent examples)"
)
# A column is centred if its squared mean exceeds this multiple of its variance. Squared distances
# would otherwise lose two decimal digits or more.
SHIFT_RATIO = 100.0


@registered("Encoded")
@dataclass(frozen=True, repr=False)
class Encoded(Columns):
    """Columns and their encoding as numeric vectors.

    Attributes
    ----------
    width, chosen, names, view : as in `Columns`
    categories : tuple
        For each column None (numeric) or the categories of the training data; empty if all columns
        are numeric.
    offsets : tuple of floats
        Number that is subtracted from each column; empty for no offsets.
    fill : tuple of n_features floats
        Vector that represents examples whose columns are all missing; empty if there is none.
    """

    categories: tuple[tuple[Any, ...] | None, ...] = ()
    offsets: tuple[float, ...] = ()
    fill: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("categories", "offsets"):
            if len(getattr(self, name)) not in (0, len(self.indices)):
                raise ValueError(
                    f"columns: {name} must have one entry per column or be empty, got "
                    f"{len(getattr(self, name))} entries for {len(self.indices)} columns"
                )
        if len(self.fill) not in (0, self.n_features):
            raise ValueError(
                f"columns: fill must have one value per feature or be empty, got {len(self.fill)} "
                f"values for {self.n_features} features"
            )

    @property
    def n_features(self) -> int:
        """Number of features after encoding."""
        if not self.categories:
            return len(self.indices)
        return sum(1 if found is None else len(found) for found in self.categories)

    def shifted(self, X: Tabular) -> Encoded:
        """Return the same columns, with offsets that centre those with a large mean in X.

        This makes squared distances more accurate: the core computes ||x||^2 + ||y||^2 - 2 x . y,
        which loses precision if the norms are much larger than the distance. Columns with a small
        mean are not shifted, so that zeros stay zeros.

        Parameters
        ----------
        X : n training examples

        Returns
        -------
        Encoded
        """
        part = self.present_part(X)
        if is_sparse(part):
            return self
        offsets = np.zeros(len(self.indices))
        if self.categories:
            for position, index in enumerate(self.indices):
                if self.categories[position] is None:
                    offsets[position] = _offsets(self._numbers(part, position, index))
        else:
            offsets = _offsets(self._values(part))
        return replace(self, offsets=tuple(offsets.tolist())) if offsets.any() else self

    def values(self, X: Tabular) -> np.ndarray | sp.csr_array:
        """Return the encoded vectors of all examples.

        Parameters
        ----------
        X : n examples

        Returns
        -------
        array or sparse matrix of shape (n, n_features), float64
            Examples whose columns are all missing have the row `fill`, or zeros if that is empty.
        """
        part, rows = self.present(X)
        values = np.empty((0, self.n_features)) if part is None else self._values(part)
        return values if rows is None else _spread(values, rows, X.shape[0], self.fill)

    def present_values(self, X: Tabular) -> np.ndarray | sp.csr_array:
        """Return the encoded vectors of the examples that are not absent."""
        return self._values(self.present_part(X))

    def _values(self, X: Tabular) -> np.ndarray | sp.csr_array:
        indices = self.locate(X)
        if is_sparse(X) and (self.categories or self.offsets):
            X = X.toarray()  # the training data were dense
        if not self.categories and contains_floats(X):
            X, indices = X.iloc[:, indices].to_numpy(np.float64), list(range(len(indices)))
        if self.categories or not (is_sparse(X) or is_numeric_array(X)):
            return self._encode(X, indices)
        values = X if indices == list(range(X.shape[1])) else X[:, indices]
        if is_sparse(X):
            values = sp.csr_array(values, dtype=np.float64)
            self._refuse_infinite(values.data, values.indices)
            return values
        values = np.asarray(values, dtype=np.float64)
        self._refuse_infinite(values, np.arange(values.shape[1]))
        return values - np.array(self.offsets) if self.offsets else values

    def _encode(self, X: Tabular, indices: list[int]) -> np.ndarray | sp.csr_array:
        parts = [self._part(X, position, index) for position, index in enumerate(indices)]
        return sp.hstack(parts, format="csr") if self.categories else np.hstack(parts)

    def _part(self, X: Tabular, position: int, index: int) -> Any:
        found = self.categories[position] if self.categories else None
        if found is not None:
            return one_hot(items(column(X, index), self.label_of(position)), found)
        shift = self.offsets[position] if self.offsets else 0.0
        values = self._numbers(X, position, index)[:, None] - shift
        return sp.csr_array(values) if self.categories else values

    def _numbers(self, X: Tabular, position: int, index: int) -> np.ndarray:
        values = self._read(X, position, index)
        self._refuse_infinite(values, np.array(position))
        return values

    def _read(self, X: Tabular, position: int, index: int) -> np.ndarray:
        """Return a numeric column of X, shape (n,), with NaN for missing values.

        Parameters
        ----------
        X : n examples
        position : int
            Position among the selected columns, for the error message.
        index : int
            Position in X.
        """
        try:
            return numbers(column(X, index))
        except ValueError as error:
            raise ValueError(f"X: {error} in column {self.label_of(position)}") from error

    def _refuse_infinite(self, values: np.ndarray, positions: np.ndarray) -> None:
        """Raise ValueError if a value is not finite.

        `positions` broadcasts to the shape of `values` and gives the column of each value.
        """
        bad = ~np.isfinite(values)
        if bad.any():
            what = "NaN" if np.isnan(values).any() else "infinity"
            where = f"Input X contains {what} in column {self._first_label(bad, positions)}"
            raise ValueError(f"{where}{IMPUTE if what == 'NaN' else ''}")

    def _first_label(self, bad: np.ndarray, positions: np.ndarray) -> str:
        """Return the name of the first column where `bad` is True; see `_refuse_infinite`."""
        return self.label_of(int(np.broadcast_to(positions, bad.shape)[bad][0]))

    def table(self, X: Tabular, training: bool) -> Table:
        """Return the encoded vectors of X as a table that the compiled core reads."""
        return vector_table(self.values(X))

    @property
    def always_present(self) -> bool:
        return len(self.fill) > 0


def encode(selection: object, X: Data, name: str | None = None) -> Encoded:
    """Return the columns of X that a value of ``columns=`` selects, with the categories in X.

    Parameters
    ----------
    selection : None, position, name, list, slice, boolean mask or function
        As in scikit-learn's ColumnTransformer; if X is `Views`, the name of a view, or a pair of a
        name and a selection within the view.
    name : str or None
        Name of the kernel, which selects a view if `selection` is None.
    X : n training examples

    Raises
    ------
    ValueError
        If all examples are absent, or if a column has missing or unsupported values.
    """
    columns = choose(selection, X, name)
    part = columns.present_part(as_input(X))
    found = []
    if not (is_sparse(part) or is_numeric_array(part) or contains_floats(part)):
        for position, index in enumerate(columns.indices):
            found.append(_categories(column(part, index), columns.label_of(position)))
    categories = tuple(found) if any(found) else ()
    return Encoded(**vars(columns), categories=categories)


def _categories(values: object, label: str) -> tuple[object, ...] | None:
    if contains_numbers(values, label):
        return None
    listed = items(values, label)
    warn_of_numbers(set(listed), label)
    return distinct(listed)


def distinct(values: list[object]) -> tuple[object, ...]:
    """Return the distinct values of a column, sorted by type and value."""
    # Values of different types cannot be compared with each other.
    return tuple(sorted(set(values), key=lambda value: (type(value).__name__, value)))


def warn_of_numbers(kinds: set[object], label: str) -> None:
    """Warn if all categories of a column are strings that represent numbers."""
    if kinds and all(isinstance(kind, str) and _represents_number(kind) for kind in kinds):
        warn(
            f"X: column {label} contains numbers as strings, which are treated as categories; "
            "convert them with astype(float) if they are quantities",
            UserWarning,
        )


def _represents_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def one_hot(values: list[object], categories: tuple[object, ...]) -> sp.csr_array:
    """Return the one-hot encoding, shape (n, n_categories); other values have rows of zeros."""
    code = {category: index for index, category in enumerate(categories)}
    known = [(row, code[value]) for row, value in enumerate(values) if value in code]
    rows, columns = np.array(known, dtype=np.int64).reshape(-1, 2).T
    shape = (len(values), len(categories))
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _spread(
    values: Any, rows: np.ndarray, n: int, fill: tuple[float, ...]
) -> np.ndarray | sp.csr_array:
    """Return n vectors: `values` at the positions `rows`, and `fill` or zeros elsewhere."""
    if fill or not sp.issparse(values):
        dense = np.tile(fill or np.zeros(values.shape[1]), (n, 1))
        dense[rows] = values.toarray() if sp.issparse(values) else values
        return dense
    counts = np.zeros(n, dtype=values.indptr.dtype)
    counts[rows] = np.diff(values.indptr)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((values.data, values.indices, starts), shape=(n, values.shape[1]))


def _offsets(values: np.ndarray) -> np.ndarray:
    """Return the mean over axis 0 of columns with a large mean, and 0 for other columns."""
    with np.errstate(over="ignore", invalid="ignore"):  # columns that overflow are not shifted
        means = values.mean(axis=0)
        variances = np.einsum("i...,i...->...", values, values) / len(values) - means**2
        large = means**2 > SHIFT_RATIO * np.maximum(variances, 0.0)
    return np.where(large, means, 0.0)
