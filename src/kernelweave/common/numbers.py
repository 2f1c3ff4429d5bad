"""Checks of numeric parameters: numbers, integers, arrays of numbers, numbers of threads."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

MOST_THREADS = 1024  # larger values of n_jobs raise an error
THREAD_COUNTS = f"None or a non-zero integer from -{MOST_THREADS} to {MOST_THREADS}"


def as_number(value: object) -> float:
    """Return a real number as a float, and NaN for any other value.

    Parameters
    ----------
    value : any object
        Booleans and strings are not numbers.

    Returns
    -------
    float
        Infinite for integers that exceed the range of floats.
    """
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def is_whole(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_count(name: str, value: object, least: int = 1) -> int:
    """Return an integer argument as an int.

    Raises
    ------
    ValueError
        If `value` is not an integer >= `least`; the message contains `name`.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def not_negative(value: object) -> bool:
    """Return whether a value is a finite number >= 0."""
    return 0 <= as_number(value) < np.inf


def as_numbers(name: str, values: object) -> np.ndarray:
    """Return an array of numbers as floats.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    values : array-like of any shape

    Returns
    -------
    array of float64 with the shape of `values`

    Raises
    ------
    ValueError
        If `values` has entries that are not numbers.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":  # such as integers beyond 64 bits
            array = np.vectorize(as_number, otypes=[float])(array)
        if array.dtype.kind not in "iuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must contain numbers, got {values!r}") from None
    return array.astype(float)


def as_positive(name: str, values: object) -> tuple[float, ...]:
    """Return a sequence of positive finite numbers as a tuple of floats.

    Raises
    ------
    ValueError
        If `values` is not such a sequence; the message contains `name`.
    """
    array = as_numbers(name, values)
    if array.ndim != 1 or not np.all((array > 0) & (array < np.inf)):
        raise ValueError(f"{name} must be a sequence of positive finite numbers, got {values!r}")
    return tuple(array.tolist())


def is_thread_count(n_jobs: Any) -> bool:
    """Return whether a value is valid for ``n_jobs``."""
    return n_jobs is None or (is_whole(n_jobs) and 0 < abs(n_jobs) <= MOST_THREADS)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for a value of ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None means one thread, -1 all processors, as in scikit-learn.

    Returns
    -------
    int >= 1

    Raises
    ------
    ValueError
        If `n_jobs` is zero, not an integer, or beyond ±1024.
    """
    if not is_thread_count(n_jobs):
        raise ValueError(f"n_jobs must be {THREAD_COUNTS}, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))
