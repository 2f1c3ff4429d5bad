"""Accepted types of X, and access to its columns.

X is a 2-D NumPy array (or array-like), a SciPy sparse matrix, a pandas or polars DataFrame, a list
of texts, which is one column, or `Views` of several of these. Neither pandas nor polars is
imported: data frames are recognised by their attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.data.views import Views, from_frame, is_multi_index, unmasked
from kernelweave.sequences import Sequences

Column: TypeAlias = Any
"""A column of X: a Series of pandas or polars, or a 1-D array."""

# Prefixes of the names of nested dtypes of polars and pyarrow.
NESTED = ("list", "large_list", "fixed_size_list", "array", "struct", "map")


class PandasFrame(Tabular, Protocol):
    """A pandas DataFrame."""

    iloc: Any  # pandas has its own types for its indexers


def as_input(X: Any) -> Tabular:
    """Return X as a 2-D array, CSR matrix, data frame or `Views`.

    Raises
    ------
    ValueError
        If X is empty, not 2-D or complex.
    """
    X = unpacked(X)
    if isinstance(X, Views):
        pass
    elif sp.issparse(X):
        X = X.tocsr()
    elif not is_frame(X) and not isinstance(X, Sequences):
        X = _as_array(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(X.shape)}D array instead: X must have one row per "
            "example. Reshape your data."
        )
    for count, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise ValueError(
                f"X is empty: found 0 {what} (shape={X.shape}) while a minimum of 1 is required."
            )
    return X


def unpacked(X: Data) -> Any:
    """Return X with dicts and MultiIndex columns as `Views`, and masked values as NaN."""
    if type(X) is np.ndarray:
        return X
    if isinstance(X, dict) and not sp.issparse(X):  # SciPy's dok_matrix is a dict
        return Views(X)
    return from_frame(X) if is_multi_index(X) else unmasked(X)


def _as_array(X: Data) -> np.ndarray:
    # Texts as objects: NumPy's string dtype would pad all of them to the longest one.
    texts = isinstance(X, list | tuple) and any(isinstance(one, str) for one in X)
    X = np.array(X, dtype=object) if texts else np.asarray(X)
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported: X must contain real numbers.")
    return X[:, None] if X.ndim == 1 and X.dtype.kind in "OUST" else X


def as_view(table: Any) -> Any:
    """Return a table of `Views` as `as_input` returns it; a 1-D array becomes one column."""
    if isinstance(table, list | tuple):
        table = np.array(table, dtype=object if _contains_texts(table) else None)
    if len(table.shape) == 1:
        table = table.to_frame() if hasattr(table, "to_frame") else table[:, None]
    return as_input(table)


def _contains_texts(table: Sequence[object]) -> bool:
    return any(isinstance(one, str | None) for one in table)


def absent_rows(X: Any, indices: Sequence[int]) -> np.ndarray | None:
    """Return a mask of the rows that are missing in all given columns, (n,); None if none are."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        first: np.ndarray = np.isnan(X[:, indices[0]])  # rules out most rows
        absent = _all_nan(X, indices, first) if first.any() else None
    elif sp.issparse(X):
        missing = sp.csr_array(X[:, indices]) if np.isnan(X.data).any() else None
        absent = None if missing is None else _count_nan(missing) == len(indices)
    elif isinstance(X, Sequences):
        absent = None
    elif contains_floats(X):
        missing = np.asarray(X.iloc[:, list(indices)].isna())
        absent = np.logical_and.reduce(missing, axis=1)
    else:
        absent = np.logical_and.reduce([_missing(column(X, index)) for index in indices])
    return absent if absent is not None and absent.any() else None


def _count_nan(X: sp.csr_array) -> np.ndarray:
    return np.bincount(
        np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), np.isnan(X.data), X.shape[0]
    )


def _all_nan(X: np.ndarray, indices: Sequence[int], first: np.ndarray) -> np.ndarray:
    """Return a mask of the rows that are all NaN, (n,), among those whose first value is NaN."""
    absent, rows = first.copy(), np.flatnonzero(first)
    absent[rows] = np.isnan(X[np.ix_(rows, np.asarray(indices))]).all(axis=1)
    return absent


def _missing(values: Column) -> np.ndarray:
    """Return a mask of the missing values of a column, (n,)."""
    if hasattr(values, "isna"):  # pandas
        return np.asarray(values.isna())
    if hasattr(values, "is_null"):  # polars
        nan = values.is_nan() if values.dtype.is_float() else values.is_null()
        return np.asarray((values.is_null() | nan).fill_null(value=True))
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([one is None or one != one for one in values.tolist()], dtype=bool)


def is_frame(X: Data) -> bool:
    """Return whether X is a pandas or polars DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def is_sparse(X: Data) -> TypeGuard[sp.csr_array]:
    """Return whether X is a SciPy sparse matrix."""
    return bool(sp.issparse(X))


def contains_floats(X: Any) -> TypeGuard[PandasFrame]:
    """Return whether X is a pandas DataFrame of NumPy numbers."""
    if not hasattr(X, "iloc"):
        return False
    return all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes)


def is_numeric_array(X: Data) -> TypeGuard[np.ndarray]:
    """Return whether X is a NumPy array with a numeric or boolean dtype."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "biuf"


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame if they are unique strings, else None."""
    names = tuple(X.columns) if is_frame(X) else ()
    distinct = len(set(names)) == len(names) > 0
    return names if distinct and all(isinstance(name, str) for name in names) else None


def column(X: Any, index: int) -> Column:
    """Return one column: a Series of a data frame, or a 1-D array."""
    if sp.issparse(X):
        raise ValueError(
            "X is a sparse matrix, which contains numbers only; pass texts and sequences as a "
            "list, an array or a data frame"
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, index]
    return X.to_series(index) if is_frame(X) else X[:, index]


def contains_numbers(values: Column, label: str) -> bool:
    """Return whether a column is numeric; other columns are categories.

    A column of Python objects is numeric if none of them is a string or a boolean.

    Raises
    ------
    ValueError
        For dates, complex numbers and nested values.
    """
    kind = _kind(values.dtype)
    if kind in "mM":
        raise ValueError(f"X: column {label} contains dates or times; convert it to numbers first")
    if kind == "c":
        raise ValueError(f"Complex data not supported: column {label} must contain real numbers")
    if str(values.dtype).lower().startswith(NESTED):
        raise ValueError(
            f"X: column {label} contains lists or records; convert them to columns first"
        )
    if str(values.dtype) == "object":
        return not any(isinstance(value, str | bool) for value in values)
    return kind in "iuf"


def _kind(dtype: Any) -> str:
    if hasattr(dtype, "kind"):  # NumPy and pandas
        return str(dtype.kind)
    if dtype.is_temporal():
        return "M"
    return "f" if dtype.is_numeric() else "O"


def numbers(values: Column) -> np.ndarray:
    """Return a numeric column as float64, shape (n,), with NaN for missing values."""
    if hasattr(values, "isna"):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(values).astype(np.float64)


def items(values: Column, label: str) -> list[object]:
    """Return a column of categories or texts as a list.

    Raises
    ------
    ValueError
        If values are missing.
    """
    listed = items_or_none(values)
    if any(item is None for item in listed):
        raise ValueError(
            f"X: column {label} contains NaN or missing values; impute them, for example with a "
            "separate category"
        )
    return listed


def items_or_none(values: Column) -> list[object]:
    """Return a column as a list, with None for missing values."""
    listed: list[object] = values.to_list() if hasattr(values, "to_list") else values.tolist()
    if hasattr(values, "isna"):
        missing = values.isna().to_numpy()
        return [None if gone else item for item, gone in zip(listed, missing, strict=True)]
    return [None if item is None or item != item else item for item in listed]
