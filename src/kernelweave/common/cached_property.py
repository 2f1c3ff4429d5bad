"""Values that are computed when they are first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):
    """A property that is computed once and then kept in the ``__dict__`` of its object.

    Before Python 3.12 that of ``functools`` holds a lock meanwhile, which the child of a fork would
    find taken for good. This one holds none: two threads that ask at the same time may both compute
    the value.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        super().__init__(compute)
        self.lock: Any = nullcontext()
