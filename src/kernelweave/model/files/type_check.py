"""Check values against type annotations."""

from __future__ import annotations

import types
import typing
from typing import Any


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value has the annotated type.

    Parameters
    ----------
    value : object
    hint : type annotation
        Any, object, a class (protocols must be runtime-checkable), a union, or ``tuple[...]``. A
        bool is not an int; an int is accepted as float.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and _items_fit(value, arguments)
    if isinstance(value, bool):
        return hint is bool
    if hint is float:
        return isinstance(value, float | int)
    return isinstance(value, type(None) if hint is None else hint)


def _items_fit(values: tuple[object, ...], hints: tuple[object, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(fits, values, hints))
