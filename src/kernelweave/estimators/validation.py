"""Validation of examples, targets and sample weights."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_y,
    _get_feature_names,
    _num_samples,
    check_consistent_length,
    validate_data,
)

from ..common.numbers import as_numbers, not_negative
from ..common.types import Data
from ..kernels.compile.normalize import all_pairwise
from ..kernels.compose.nested_parameters import by_name, nested_params
from ..kernels.data.inputs import is_frame, unpacked
from ..kernels.data.views import Grams, Views
from ..sequences import Sequences


class _Names:
    """Column names with the interface by which scikit-learn reads those of data frames."""

    def __init__(self, names: list[str]):
        self.names = names

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[str]:
        return self.names


def _with_names(X: Any) -> Any:
    """Return a frame, or its column names if scikit-learn cannot read them from the frame.

    scikit-learn <= 1.7 uses a protocol that polars 2.0 has removed.
    """
    names = list(X.columns)
    strange = all(isinstance(name, str) for name in names) and _get_feature_names(X) is None
    return _Names(names) if strange else X


def check_examples(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return validated examples, and set or check ``n_features_in_`` and ``feature_names_in_``.

    Arrays and sparse matrices of numbers become float64; data frames and texts are unchanged.
    Default kernels accept missing numbers. Other kernels accept them only in examples without any
    value in the columns that the kernel reads.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `kernels` determine what X may be.
    X : n examples
    reset : bool
        Whether to set the number and names of columns, as in `fit`, or to compare with them.

    Returns
    -------
    validated examples

    Raises
    ------
    ValueError
        If X cannot be read by the kernels, or differs in its columns from the training data.
    """
    named, least = estimator.kernels is not None, 2 if reset else 1
    X = _in_known_form(estimator.kernels, X)
    if isinstance(X, Views):
        _check_n_samples(X, least)
        if reset:
            _check_n_features(estimator, X, reset=True)
        return X
    if is_frame(X):
        _check_names_differ(X)
        _check_feature_names(estimator, _with_names(X), reset=reset)
    if is_frame(X) or isinstance(X, Sequences):
        _check_n_features(estimator, X, reset=reset)
        _check_n_samples(X, least)
        return X
    if _contains_texts(X):
        _check_n_samples(X, least)
        return X if named else _as_strings(X)
    return _check_array(estimator, X, least, reset=reset)


def _in_known_form(kernels: object, X: Any) -> Any:
    """Return X as a type that kernels can read.

    Arrow tables become data frames, dicts and frames with MultiIndex columns `Views`, and masked
    values NaN. A 3-D array becomes a list of kernel matrices if all `kernels` are precomputed.

    Raises
    ------
    ValueError
        For lazy frames, lists of dicts, and kernel matrices without precomputed kernels.
    """
    if hasattr(X, "collect"):
        raise ValueError("X is a lazy frame, whose rows are not known; pass X.collect()")
    X = unpacked(X)
    if _is_arrow_table(X):
        X = X.to_pandas()
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict):
        raise ValueError("X is a list of dicts; pass a table of them, such as pandas.DataFrame(X)")
    _refuse_matrices(X, kernels)
    if getattr(X, "ndim", 2) == 3 and all_pairwise(kernels):
        return Grams(X)
    return X


def _check_array(estimator: BaseEstimator, X: Any, least: int, *, reset: bool) -> Any:
    """Return an array or a sparse matrix of at least `least` rows as float64.

    An array of objects that contains strings is returned as it is to default kernels.
    """
    named = estimator.kernels is not None
    X = as_rows(estimator.kernels, X) if named else X
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(
            f"X must contain numbers, got dates or times ({X.dtype}); replace them by numbers, "
            "such as days since a date, the month or the hour"
        )
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=least,
            ensure_all_finite=True if sp.issparse(X) and not named else "allow-nan",
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        if named:
            raise ValueError(
                f"X must contain numbers, but {error}; pass a DataFrame (pandas or polars) and "
                "select the columns of each kernel: "
                '[RBF(columns=["age"]), BagOfWords(columns="notes")]'
            ) from error
        X = np.asarray(X, dtype=object)  # default kernels read columns of strings
        _refuse_mixed(X)
        _check_n_features(estimator, X, reset=reset)
        return X


def _is_arrow_table(X: Data) -> bool:
    return hasattr(X, "to_pandas") and hasattr(X, "schema") and not is_frame(X)


def _as_strings(X: Any) -> np.ndarray:
    """Return a list or column of strings as an array of objects, shape (n, 1)."""
    listed = X.to_list() if hasattr(X, "to_list") else list(X)
    array = np.empty((len(listed), 1), dtype=object)
    array[:, 0] = listed
    return array


def _refuse_mixed(X: np.ndarray) -> None:
    """Raise for a column of an array of objects that has both strings and numbers."""
    for index, values in enumerate(X.T.tolist()):
        strings = [value for value in values if isinstance(value, str)]
        others = any(not isinstance(value, str | None) and value == value for value in values)
        if strings and others:
            raise ValueError(
                f"X must contain numbers, but column {index} has numbers and the string "
                f"{strings[0]!r}; make all of them numbers (NaN if missing) or strings, or pass a "
                "DataFrame, where such a column is a category"
            )


def _refuse_matrices(X: Data, kernels: object) -> None:
    """Raise for kernel matrices that are passed as X or as kernels without a wrapper."""
    if isinstance(kernels, list | tuple) and any(np.ndim(one) == 2 for one in kernels):
        raise ValueError(
            "kernels must be kernel objects, got arrays; for kernel matrices pass "
            "kernels=[Precomputed(matrix=K) for K in matrices] and row numbers "
            "np.arange(n) as X, or X=Grams(matrices) without kernels"
        )
    if isinstance(X, list | tuple) and X and all(np.ndim(one) == 2 for one in X):
        raise ValueError(
            f"X is a list of {len(X)} matrices; for kernel matrices pass X=Grams(matrices) and "
            "kernels=Precomputed() or None, for several tables of the same examples a dict of them"
        )
    shape = getattr(X, "shape", ())
    if len(shape) == 3 and not all_pairwise(kernels):
        raise ValueError(
            f"X must have 2 dimensions, but has shape {shape}; for kernel matrices pass "
            "X=Grams(X) without kernels, for images X.reshape(len(X), -1)"
        )


def _check_names_differ(X: Any) -> None:
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"X has several columns named {twice!r}; rename them, or pass an array")


def _contains_row_numbers(X: Any) -> bool:
    return getattr(X, "ndim", 0) == 1 and getattr(X.dtype, "kind", "O") in "iuf"


def as_rows(kernels: object, X: Data) -> Any:
    """Return row numbers, shape (n,), as a column (n, 1) if kernels contain matrices."""
    return (
        np.asarray(X)[:, None] if _contains_row_numbers(X) and _accept_row_numbers(kernels) else X
    )


def _accept_row_numbers(kernels: object) -> bool:
    """Return whether X may be row numbers: some kernel contains a matrix."""
    found = nested_params({"kernels": kernels} | by_name(kernels))
    return any(name.endswith("matrix") and value is not None for name, value in found.items())


def _check_n_samples(X: Data, least: int) -> None:
    if (n := _num_samples(X)) < least:
        raise ValueError(f"X has {n} sample(s), but a minimum of {least} is required")


def _contains_texts(X: Any) -> bool:
    """Return whether X is a list or column of texts, some of which may be missing."""
    if not isinstance(X, list | tuple) and getattr(X, "ndim", 2) != 1:
        return False
    return not _contains_row_numbers(X) and any(isinstance(one, str) for one in X)


def check_values(name: str, values: np.ndarray) -> np.ndarray:
    """Return values of n examples, shape (n, ...); raise ValueError if they are not finite."""
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"X: the {name} of example {int(np.argmin(finite))} are not finite: its numbers are "
            "too large for the kernels; rescale X to the scale of the training data"
        )
    return values


def check_targets(
    estimator: BaseEstimator, X: Data, y: object, *, numeric: bool, several: bool = False
) -> np.ndarray:
    """Return validated targets, shape (n,), or (n, n_outputs) if `several` are accepted.

    Parameters
    ----------
    estimator : BaseEstimator
        Named in messages.
    X : n examples
    y : array-like of shape (n,) or (n, n_outputs)
        Targets.
    numeric : bool
        Whether targets are numbers.
    several : bool
        Whether several targets per example are accepted.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If y is missing, masked, not finite, or differs in length from X.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    _refuse_masked("y", y)
    shape = np.asarray(y).shape if several else ()
    several = len(shape) == 2 and shape[1] > 1
    try:
        targets: np.ndarray = _check_y(y, several, numeric, estimator)
        targets = targets.astype(float) if numeric else targets
    except ValueError as error:
        text = str(error)
        if text.startswith("could not convert"):
            text = f"y must contain numbers, but {text}; for classes use a classifier"
        elif "contains NaN" in text and (found := _position_of_nan(y)):
            text = f"Input y contains NaN {found}; leave these examples out"
        elif text.startswith("y should be a 1d array"):
            text = f"{text.rstrip('.')}; fit one estimator for each column of y"
        raise ValueError(text) from None
    if not numeric:
        _refuse_missing_labels(targets)
    check_consistent_length(X, targets)
    return targets


def _position_of_nan(y: object) -> str:
    """Return how many examples have a NaN in y, shape (n,), and the first, as text; or ""."""
    values = np.asarray(y, dtype=object)
    if values.ndim != 1 or not (nan := values != values).any():
        return ""
    return f"for {nan.sum()} of {len(nan)} examples, first for example {nan.argmax()}"


def _refuse_masked(name: str, values: object) -> None:
    """Raise ValueError for a NumPy masked array with masked values."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values; leave these examples out")


def _refuse_missing_labels(y: np.ndarray) -> None:
    """Raise ValueError for None among labels; scikit-learn finds NaN."""
    if y.dtype == object and (missing := [label is None for label in y.ravel()]).count(True):
        raise ValueError(
            f"y must have a label for every example, but has None for {missing.count(True)} of "
            f"{len(y)}, first for example {missing.index(True)}; leave these examples out"
        )


def one_number(y: np.ndarray) -> np.ndarray:
    """Return a number for each example, shape (n,): equal for equal targets only."""
    return y if y.ndim == 1 else np.unique(y, axis=0, return_inverse=True)[1].ravel()


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return validated sample weights, shape (n,), all >= 0; 1 by default."""
    if sample_weight is None:
        return np.ones(n)
    _refuse_masked("sample_weight", sample_weight)
    mask = getattr(sample_weight, "dtype", None) == "bool"
    weights = as_numbers("sample_weight", 1.0 * sample_weight if mask else sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must be one number or have shape ({n},), got shape {weights.shape}"
        )
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(
            "sample_weight must be finite and at least 0 for every example, got negative weights, "
            "NaN or infinity"
        )
    if not weights.any():
        raise ValueError("sample_weight must be positive for at least one example, got zeros")
    return weights


def check_class_weights(class_weight: object, classes: np.ndarray) -> None:
    """Raise ValueError if class weights are not finite numbers >= 0.

    A label that does not occur in y is also an error, unless all classes of y have a weight.
    """
    if not isinstance(class_weight, dict):
        return
    for label, weight in class_weight.items():
        if not not_negative(weight):
            raise ValueError(
                f"class_weight must contain finite numbers >= 0, got {weight!r} for class {label!r}"
            )
    known = classes.tolist()
    other = [label for label in class_weight if label not in known]
    if other and not all(label in class_weight for label in known):
        raise ValueError(
            f"class_weight has {other[0]!r}, which is not a class of y; the classes are {known}"
        )


def weighed(C: float, *factors: np.ndarray) -> np.ndarray:
    """Return the costs of n examples: C times the product of their weights.

    The square of their sum must be finite, since objectives are quadratic in alpha, which may be
    as large as the costs. C = inf is a hard margin: costs are inf for examples with a weight.

    Parameters
    ----------
    C : float
    *factors : ndarrays of shape (n,)
        Sample weights and class weights.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If costs overflow or underflow.
    """
    with np.errstate(over="ignore", under="ignore"):
        weights = np.prod(factors, axis=0)
        if np.inf == C:
            return np.where(weights > 0, np.inf, 0.0)
        costs: np.ndarray = C * weights
        square = costs.sum() ** 2
    if not np.isfinite(square):
        raise ValueError(
            f"C={C:g} times sample_weight and class_weight, which reach {weights.max():g}, is too "
            "large: the square of the sum overflows; scale the weights down, or lower C"
        )
    if np.any(costs[weights > 0] < np.finfo(float).tiny):
        raise ValueError(
            f"C={C:g} times sample_weight and class_weight, which go down to "
            f"{weights[weights > 0].min():g}, underflows; scale the weights up, or raise C; "
            "a weight of 0 excludes an example"
        )
    return costs
