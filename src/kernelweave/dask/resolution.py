"""Parameters of kernels that depend on all examples, which are nowhere together.

Every partition resolves the kernels on its own examples. Words and categories are the union of
theirs; all else is as the sample has it.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..kernels import Kernel
from .data import Data


def resolved(kernels: list[Kernel], data: Data) -> list[Kernel]:
    """Return kernels with every parameter made concrete on the examples of a cluster."""
    found = [kernel.resolve(data.sample) for kernel in kernels]
    if not data.is_sampled or not any(depends(kernel) for kernel in found):
        return found
    cluster = data.cluster
    message = cluster.share(kernels, len(data.parts))
    tasks = [cluster.submit("resolve", resolve_part, part, message) for part in data.parts]
    return [merged(each) for each in zip(found, *cluster.gather(tasks), strict=True)]


def resolve_part(part: Any, message: bytes) -> list[Kernel]:
    """Return kernels, packed, as they are on the examples of a partition."""
    return [kernel.resolve(part) for kernel in pickle.loads(message)]


def depends(value: Any) -> bool:
    """Return whether a resolved kernel has words or categories."""
    if isinstance(value, tuple):
        return any(depends(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return False
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    lists = values.get("vocabulary") or values.get("categories")
    return bool(lists) or any(depends(item) for item in values.values())


def merged(parts: Sequence[Any]) -> Any:
    """Return a value like the first, with the words and categories of all.

    Parameters
    ----------
    parts : the same part of a kernel, as it is on different examples.
    """
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(merged(each) for each in zip(*parts, strict=True))
    if not is_dataclass(first) or isinstance(first, type):
        return first
    changed: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(part, field.name) for part in parts]
        if field.name == "vocabulary":
            changed[field.name] = _union(values)
        elif field.name == "categories":
            changed[field.name] = tuple(_union(each) for each in zip(*values, strict=True))
        elif isinstance(values[0], tuple) or is_dataclass(values[0]):
            changed[field.name] = merged(values)
    return replace(first, **changed)


def _union(values: Sequence[Any]) -> Any:
    """Return all that some lists hold, in the order of categories; None where they are none."""
    if values[0] is None:
        return None
    every = set().union(*values)
    return tuple(sorted(every, key=lambda value: (type(value).__name__, value)))
