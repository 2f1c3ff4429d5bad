"""Validation of the parameters of estimators."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from ..common.numbers import THREAD_COUNTS, as_number, is_thread_count, is_whole, not_negative

RULES = ("best", "one-standard-error")
MULTI_CLASS = ("auto", "ovr", "ovo", "joint")
SHAPES = ("ovr", "ovo")
NORMALIZATIONS = ("variance", "unit", "trace", "center", None)


def check_parameters(estimator: BaseEstimator) -> None:
    """Raise ValueError for the first parameter with an invalid value.

    Parameters
    ----------
    estimator : BaseEstimator
    """
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
        "calibrate": _calibrations(estimator),
        "checkpoint": (lambda path: path is None or isinstance(path, str | os.PathLike), "a path"),
        "n_jobs": (is_thread_count, THREAD_COUNTS),
        "interleaved": (_yes_or_no, "True or False"),
        "fit_intercept": (_yes_or_no, "True or False"),
        "share_weights": (_yes_or_no, "True or False"),
        "multi_class": (lambda how: how in MULTI_CLASS, f"one of {MULTI_CLASS}"),
        "decision_function_shape": (lambda how: how in SHAPES, f"one of {SHAPES}"),
        "verbose": (lambda v: _yes_or_no(v) or _count(v, 0), "an integer of at least 0"),
    }
    if is_classifier(estimator) or is_regressor(estimator):
        rules["C"] = (_or_auto(rules["C"][0]), f'{rules["C"][1]}, or "auto"')
    if is_classifier(estimator):
        rules["share_weights"] = (_or_auto(_yes_or_no), 'True, False or "auto"')
    if is_regressor(estimator):
        rules["C"] = (_or_scale(rules["C"][0]), f'{rules["C"][1]}, or "scale"')
        rules["Cs"] = (_or_scale(rules["Cs"][0]), f'{rules["Cs"][1]}, or "scale"')
    if getattr(type(estimator), "Cs", ()) is None:
        rules["Cs"] = (_or_none(rules["Cs"][0]), f"None, or {rules['Cs'][1]}")
    given = vars(estimator)
    for name, (accepts, accepted) in rules.items():
        if name in given and not accepts(given[name]):
            raise ValueError(f"{name} must be {accepted}, got {given[name]!r}")


def _calibrations(estimator: BaseEstimator) -> tuple[Callable[[Any], bool], str]:
    """Return the rule for ``calibrate=``, and the accepted values as text."""
    intervals, probabilities = ("residuals", "jackknife+", None), ("sigmoid", "isotonic", None)
    known = intervals if is_regressor(estimator) else probabilities
    return lambda how: how is None or (isinstance(how, str) and how in known), f"one of {known}"


def is_auto(value: object) -> bool:
    """Return whether the value of a parameter is "auto"."""
    return _is(value, "auto")


def _or_auto(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: is_auto(value) or rule(value)


def _or_scale(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is(value, "scale") or rule(value)


def _or_none(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _several(values: object) -> bool:
    return np.iterable(values) and not isinstance(values, str) and len(list(values)) > 0


def _all_positive(values: Any) -> bool:
    return _several(values) and all(_positive(value) for value in values)


def _positive(value: object) -> bool:
    return 0 < as_number(value) < np.inf


def _above_zero(value: object) -> bool:
    """Return whether a number is above 0 and, unless it is inf, representable as a float."""
    return _positive(value) or value == np.inf


def _count(value: Any, least: int) -> bool:
    return is_whole(value) and value >= least


def _class_weight(value: object) -> bool:
    return value is None or isinstance(value, dict) or _is(value, "balanced")


def _yes_or_no(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _is(value: object, word: str) -> bool:
    return isinstance(value, str) and value == word
