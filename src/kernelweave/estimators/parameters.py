"""Parameters: what counts as a number, for everything, and what estimators accept."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, is_regressor

RULES = ("best", "one-standard-error")
NORMALIZATIONS = ("variance", "unit", "trace", "center", None)
MOST_THREADS = 1024
THREAD_COUNTS = f"None or a non-zero integer from -{MOST_THREADS} to {MOST_THREADS}"


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


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for: None is one, -1 all processors."""
    if not is_thread_count(n_jobs):
        raise ValueError(f"n_jobs must be {THREAD_COUNTS}, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def check_parameters(estimator: BaseEstimator) -> None:
    """Raise ValueError for the first parameter that is not as it should be."""
    costs = (_positive, "a finite number above 0")
    if getattr(estimator, "_takes_hard_margins", False):
        costs = (_above_zero, "a finite number above 0, or inf for a hard margin")
    rules = {
        "C": costs,
        "Cs": (_all_positive, "a sequence of finite numbers above 0, at least one"),
        "norms": (_several, "a sequence of numbers p >= 1 and norm objects, at least one"),
        "rule": (lambda rule: isinstance(rule, str) and rule in RULES, f"one of {RULES}"),
        "nu": (lambda nu: _positive(nu) and nu <= 1, "a number above 0 and at most 1"),
        "epsilon": (_or_scale(not_negative), 'a number of at least 0, or "scale"'),
        "tol": (_positive, "a finite number above 0"),
        "max_iter": (lambda k: k is None or _count(k, 1), "None or an integer of at least 1"),
        "max_time": (lambda t: t is None or _positive(t), "None or a finite number above 0"),
        "working_set": (lambda q: _is(q, "auto") or _count(q, 2), '"auto" or an integer above 1'),
        "cache_mb": (not_negative, "a number of at least 0"),
        "class_weight": (_class_weight, 'None, "balanced" or a dict from classes to factors'),
        "normalize": (lambda how: how in NORMALIZATIONS, f"one of {NORMALIZATIONS}"),
        "checkpoint": (lambda path: path is None or isinstance(path, str | os.PathLike), "a path"),
        "n_jobs": (is_thread_count, THREAD_COUNTS),
        "interleaved": (_yes_or_no, "True or False"),
        "share_weights": (_yes_or_no, "True or False"),
        "verbose": (lambda v: _yes_or_no(v) or _count(v, 0), "an integer of at least 0"),
    }
    rules["C"] = (_or_auto(rules["C"][0]), f'{rules["C"][1]}, or "auto"')
    if is_regressor(estimator):
        rules["C"] = (_or_scale(rules["C"][0]), f'{rules["C"][1]}, or "scale"')
        rules["Cs"] = (_or_scale(rules["Cs"][0]), f'{rules["Cs"][1]}, or "scale"')
    given = vars(estimator)
    for name, (accepts, accepted) in rules.items():
        if name in given and not accepts(given[name]):
            raise ValueError(f"{name} must be {accepted}, got {given[name]!r}")


def is_auto(value: Any) -> bool:
    """Return whether a parameter is to be chosen automatically."""
    return _is(value, "auto")


def _or_auto(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: is_auto(value) or rule(value)


def _or_scale(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is(value, "scale") or rule(value)


def _several(values: Any) -> bool:
    return np.iterable(values) and not isinstance(values, str) and len(list(values)) > 0


def _all_positive(values: Any) -> bool:
    return _several(values) and all(_positive(value) for value in values)


def _positive(value: Any) -> bool:
    return 0 < as_number(value) < np.inf


def _above_zero(value: Any) -> bool:
    """Whether a number is above 0; infinity is, but no integer beyond all floats."""
    return _positive(value) or value == np.inf


def not_negative(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    return 0 <= as_number(value) < np.inf


def _count(value: Any, least: int) -> bool:
    return is_whole(value) and value >= least


def _class_weight(value: Any) -> bool:
    return value is None or isinstance(value, dict) or _is(value, "balanced")


def _yes_or_no(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word
