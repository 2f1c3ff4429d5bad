"""Cached properties without a lock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):
    """A property that is computed at first access and cached in the ``__dict__`` of its object.

    Before Python 3.12 ``functools.cached_property`` locks during the computation. The lock would
    stay locked in the child of a fork. This one has no lock: two threads that access it at the same
    time may both compute the value.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        super().__init__(compute)
        self.lock: Any = nullcontext()
