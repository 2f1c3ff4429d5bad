"""Parameters of kernels that depend on all examples, which are nowhere together.

Every partition resolves the kernels on its own examples. Words and categories are the union of
theirs, and ``gamma="scale"`` follows the variance of all; all else is as the sample has it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.compose.per_feature import Stack
from ..kernels.data.encoding import Encoded
from ..kernels.data.inputs import as_input
from ..kernels.vector.base import VectorKernel
from ..kernels.vector.gamma import variance
from .data import Data


def resolved(kernels: list[Kernel], data: Data) -> list[Kernel]:
    """Return kernels with every parameter made concrete on the examples of a cluster."""
    found = [kernel.resolve(data.sample) for kernel in kernels]
    if not data.is_sampled:
        return found
    if any(depends(kernel) for kernel in found):
        parts = _on_parts("resolve", resolve_part, kernels, data)
        found = [merged(each) for each in zip(found, *parts, strict=True)]
    scaled: list[Encoded] = []
    pairs = list(zip(kernels, found, strict=True))

    def note(leaf: Any, asked: Any) -> Any:
        scaled.append(leaf.columns)
        return leaf

    for asked, kernel in pairs:
        rebuilt(asked, kernel, note)
    if not scaled:
        return found
    spreads = iter(_spreads(_on_parts("moments", moments_of_part, scaled, data)))
    return [
        rebuilt(asked, kernel, lambda leaf, asked: _scaled(asked, leaf, next(spreads)))
        for asked, kernel in pairs
    ]


def _on_parts(name: str, function: Callable[..., Any], told: Any, data: Data) -> list[Any]:
    """Return what a function says of each partition, and of something that all are told."""
    message = data.cluster.share(told, len(data.parts))
    tasks = [data.cluster.submit(name, function, part, message) for part in data.parts]
    return data.cluster.gather(tasks)


def resolve_part(part: Any, message: bytes) -> list[Kernel]:
    """Return kernels, packed, as they are on the examples of a partition."""
    return [kernel.resolve(part) for kernel in pickle.loads(message)]


def moments_of_part(part: Any, message: bytes) -> list[tuple[float, float, float]]:
    """Return number, mean and sum of squared deviations of the values of columns, packed."""
    X, found = as_input(part), []
    for columns in pickle.loads(message):
        values = columns.present_values(X)
        count = float(np.prod(values.shape))
        found.append((count, float(values.mean()), count * variance(values)))
    return found


def _spreads(parts: Sequence[Sequence[tuple[float, float, float]]]) -> Iterator[float]:
    """Give the variance of all values of each view, from the moments of their parts."""
    for each in zip(*parts, strict=True):
        counts, means, squares = np.array(each).T
        centre = counts @ means / counts.sum()
        yield float((squares.sum() + counts @ (means - centre) ** 2) / counts.sum())


def _scaled(asked: Any, leaf: Any, spread: float) -> Any:
    """Return a kernel whose gammas that were asked to be "scale" follow a variance."""
    gamma = 1.0 / (leaf.columns.n_features * spread) if spread > 0 else 1.0
    if isinstance(asked.gamma, tuple):
        pairs = zip(asked.gamma, leaf.gamma, strict=True)
        return replace(leaf, gamma=tuple(gamma if one == "scale" else own for one, own in pairs))
    return replace(leaf, gamma=gamma)


def rebuilt(asked: Any, found: Any, change: Callable[[Any, Any], Any]) -> Any:
    """Return a resolved kernel in which those with a gamma of "scale" are changed.

    Parameters
    ----------
    asked : the kernel as it was before it was resolved.
    change : gives another kernel, from the resolved one and the one that was asked for.
    """
    if isinstance(found, VectorKernel):
        gamma = getattr(asked, "gamma", None)
        scale = "scale" in gamma if isinstance(gamma, tuple) else gamma == "scale"
        return change(found, asked) if scale else found
    if isinstance(found, Stack):
        inner = asked.kernels if isinstance(asked, Stack) else [asked.kernel] * len(found.kernels)
        pairs = zip(inner, found.kernels, strict=True)
        return replace(found, kernels=tuple(rebuilt(*pair, change) for pair in pairs))
    names = [
        field.name for field in fields(found) if isinstance(getattr(found, field.name), Kernel)
    ]
    same = type(asked) is type(found)  # or it was wrapped
    changed = {
        name: rebuilt(getattr(asked, name) if same else asked, getattr(found, name), change)
        for name in names
    }
    return replace(found, **changed) if changed else found


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
