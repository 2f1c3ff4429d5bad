"""Determine the data-dependent parameters of kernels from the examples of a cluster.

Every partition resolves the kernels on its own examples. Vocabularies and categories are the union
over all partitions, and ``gamma="scale"`` uses the variance of all examples. All other parameters
are determined from the sample.
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
    """Return kernels with all parameters that depend on data determined on a cluster.

    Parameters
    ----------
    kernels : list of Kernel
        Kernels as the user passed them.
    data : Data
        The training examples on the workers, and the local sample.

    Returns
    -------
    list of Kernel
    """
    found = [kernel.resolve(data.sample) for kernel in kernels]
    if not data.is_sampled:
        return found
    if any(has_categories(kernel) for kernel in found):
        parts = _on_parts("resolve", resolve_part, kernels, data)
        found = [merged(each) for each in zip(found, *parts, strict=True)]
    scaled: list[Encoded] = []
    pairs = list(zip(kernels, found, strict=True))

    def collect(leaf: Any, original: object) -> object:
        scaled.append(leaf.columns)
        return leaf

    for original, kernel in pairs:
        rebuilt(original, kernel, collect)
    if not scaled:
        return found
    variances = iter(_variances(_on_parts("moments", moments_of_part, scaled, data)))
    return [
        rebuilt(original, kernel, lambda leaf, original: _scaled(original, leaf, next(variances)))
        for original, kernel in pairs
    ]


def _on_parts(name: str, function: Callable[..., Any], shared: object, data: Data) -> list[Any]:
    """Return function(partition, message) of each partition; the message is `shared`, pickled."""
    message = data.cluster.share(shared, len(data.parts))
    tasks = [data.cluster.submit(name, function, part, message) for part in data.parts]
    return data.cluster.gather(tasks)


def resolve_part(part: object, message: bytes) -> list[Kernel]:
    """Unpickle kernels, and return them with data-dependent parameters set from a partition."""
    return [kernel.resolve(part) for kernel in pickle.loads(message)]


def moments_of_part(part: object, message: bytes) -> list[tuple[float, float, float]]:
    """Return count, mean and sum of squared deviations of all values in selections of columns.

    The message is a pickled list of `Encoded` columns, one for each result.
    """
    X, found = as_input(part), []
    for columns in pickle.loads(message):
        values = columns.present_values(X)
        count = float(np.prod(values.shape))
        found.append((count, float(values.mean()), count * variance(values)))
    return found


def _variances(parts: Sequence[Sequence[tuple[float, float, float]]]) -> Iterator[float]:
    """Yield the variance over all partitions, one for each entry of `moments_of_part`."""
    for each in zip(*parts, strict=True):
        counts, means, squares = np.array(each).T
        centre = counts @ means / counts.sum()
        yield float((squares.sum() + counts @ (means - centre) ** 2) / counts.sum())


def _scaled(original: Any, leaf: Any, variance: float) -> Any:
    """Return the kernel `leaf`; gammas that are "scale" in `original` follow from a variance."""
    gamma = 1.0 / (leaf.columns.n_features * variance) if variance > 0 else 1.0
    if isinstance(original.gamma, tuple):
        pairs = zip(original.gamma, leaf.gamma, strict=True)
        return replace(leaf, gamma=tuple(gamma if one == "scale" else own for one, own in pairs))
    return replace(leaf, gamma=gamma)


def rebuilt(original: Any, found: Any, change: Callable[[Any, Any], Any]) -> Any:
    """Return a kernel in which `change` replaces each part that was given ``gamma="scale"``.

    Parameters
    ----------
    original : Kernel
        The kernel as the user passed it.
    found : Kernel
        The same kernel with numbers for the parameters that depend on the data.
    change : callable
        Called with a part of `found` and the same part of `original`; returns the replacement.
    """
    if isinstance(found, VectorKernel):
        gamma = getattr(original, "gamma", None)
        scale = "scale" in gamma if isinstance(gamma, tuple) else gamma == "scale"
        return change(found, original) if scale else found
    if isinstance(found, Stack):
        inner = (
            original.kernels
            if isinstance(original, Stack)
            else [original.kernel] * len(found.kernels)
        )
        pairs = zip(inner, found.kernels, strict=True)
        return replace(found, kernels=tuple(rebuilt(*pair, change) for pair in pairs))
    names = [
        field.name for field in fields(found) if isinstance(getattr(found, field.name), Kernel)
    ]
    same = type(original) is type(found)  # otherwise `resolve` has wrapped it
    changed = {
        name: rebuilt(getattr(original, name) if same else original, getattr(found, name), change)
        for name in names
    }
    return replace(found, **changed) if changed else found


def has_categories(value: object) -> bool:
    """Return whether a kernel, after `resolve`, or a part of it has a vocabulary or categories."""
    if isinstance(value, tuple):
        return any(has_categories(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return False
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    lists = values.get("vocabulary") or values.get("categories")
    return bool(lists) or any(has_categories(item) for item in values.values())


def merged(parts: Sequence[object]) -> Any:
    """Return a kernel with the union of the vocabularies and categories of several kernels.

    Parameters
    ----------
    parts : sequence
        The results of `resolve` for one kernel, or for a part of it, on different examples.
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
    """Return the union of lists of categories in their order; None if they are None."""
    if values[0] is None:
        return None
    union = set().union(*values)
    return tuple(sorted(union, key=lambda value: (type(value).__name__, value)))
