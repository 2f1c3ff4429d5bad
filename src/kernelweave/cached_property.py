"""Values that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")
Self = TypeVar("Self", bound="cached_property[Any]")


class cached_property(Generic[Value]):  # as in functools
    """A property that is computed once and then kept in the ``__dict__`` of its object.

    Unlike ``functools.cached_property`` before Python 3.12 it holds no lock meanwhile, which the
    child of a fork would find taken for good. Two threads that ask at the same time may both
    compute the value.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self: Self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: object, owner: type) -> Value: ...

    def __get__(self, holder: object | None, owner: type) -> Any:
        if holder is None:
            return self
        return vars(holder).setdefault(self.name, self.compute(holder))
