"""Methods that exist only for some parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


class ConditionalMethod:
    """A method that raises AttributeError on access if a check of the estimator fails.

    The AttributeError of the check is raised unchanged. scikit-learn's `available_if` raises a
    generic one instead, and its message does not contain the reason.

    Parameters
    ----------
    method : callable
    check : callable
        Takes the estimator and raises AttributeError if it does not have the method.
    """

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], object]):
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type) -> Callable[..., Any]:
        if model is None:
            return self.method
        self.check(model)
        return MethodType(self.method, model)


def only_if(
    check: Callable[[Any], object],
) -> Callable[[Callable[..., Any]], ConditionalMethod]:
    """Return a decorator of methods that exist only for estimators that pass a check."""
    return lambda method: ConditionalMethod(method, check)
