"""What counts as a number: one answer for the parameters of everything."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

MOST_THREADS = 1024


def as_number(value: Any) -> float:
    """Return a number as a float: NaN for what is none, inf for integers beyond all floats."""
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, of Python or of NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_numbers(name: str, values: Any) -> np.ndarray:
    """Return an array of numbers as floats; refuse texts, objects and integers beyond all floats.

    Raises
    ------
    ValueError : which names the argument.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":  # such as integers beyond 64 bits
            array = np.vectorize(as_number, otypes=[float])(array)
        if array.dtype.kind not in "iuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {values!r}") from None
    return array.astype(float)


def is_thread_count(n_jobs: Any) -> bool:
    """Return whether a value says how many threads to use."""
    return n_jobs is None or (is_whole(n_jobs) and 0 < abs(n_jobs) <= MOST_THREADS)


THREAD_COUNTS = f"None or a non-zero integer from -{MOST_THREADS} to {MOST_THREADS}"


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for: None is one, -1 all processors."""
    if not is_thread_count(n_jobs):
        raise ValueError(f"n_jobs must be {THREAD_COUNTS}, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))
