"""Methods that exist only for some parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Concatenate, Generic, ParamSpec, TypeVar

Model = TypeVar("Model")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Check = Callable[[Model], object]
Method = Callable[Concatenate[Model, Arguments], Returned]


class ConditionalMethod(Generic[Model, Arguments, Returned]):
    """A method that raises AttributeError on access if a check of the estimator fails.

    The AttributeError of the check is raised unchanged. scikit-learn's `available_if` raises a
    generic one instead, and its message does not contain the reason.

    Parameters
    ----------
    method : callable
        The method itself.
    check : callable
        Takes the estimator and raises AttributeError if it does not have the method.
    """

    def __init__(self, method: Method[Model, Arguments, Returned], check: Check[Model]):
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Model | None, owner: type) -> Callable[Arguments, Returned]:
        if model is None:
            return self.method  # type: ignore[return-value]
        self.check(model)
        return MethodType(self.method, model)


def only_if(
    check: Check[Model],
) -> Callable[[Method[Model, Arguments, Returned]], ConditionalMethod[Model, Arguments, Returned]]:
    """Return a decorator of methods that exist only for estimators that pass a check."""
    return lambda method: ConditionalMethod(method, check)


def check_calibrated(calibrate: str | None, method: str, values: str) -> None:
    """Raise AttributeError if a model is not calibrated, which a method requires.

    Parameters
    ----------
    calibrate : str or None
        The parameter of the estimator.
    method : str
        Name of the method, for the message.
    values : str
        The values of `calibrate` with which the method exists, for the message.
    """
    if not calibrate:
        raise AttributeError(f"{method} requires calibrate={values}, got calibrate=None")
