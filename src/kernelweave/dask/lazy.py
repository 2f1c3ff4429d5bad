"""What a model says of a collection: another collection, computed when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask import delayed
from dask.array import Array, concatenate, from_delayed

from .cluster import Cluster
from .collections import is_collection, partitions


def lazily(model: Any, what: str, X: Any) -> Array:
    """Return what a method of a fitted plain estimator says of each partition, as a Dask array.

    Parameters
    ----------
    model : the estimator.
    what : the name of the method, whose answer has a row for each example.
    X : the collection; numbers of examples that are not known stay unknown.
    """
    shape, dtype = _kind(model, what)
    one, parts = delayed(model, pure=True), partitions(X)
    sizes = X.chunks[0] if isinstance(X, Array) else (np.nan,) * len(parts)
    answers = [delayed(says)(one, what, part, shape, dtype) for part in parts]
    arrays = [
        from_delayed(answer, (size, *shape), dtype=dtype)
        for answer, size in zip(answers, sizes, strict=True)
    ]
    return concatenate(arrays, allow_unknown_chunksizes=True)


def says(model: Any, what: str, part: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return what a method of a model says of a partition."""
    if len(part) == 0:
        return np.empty((0, *shape), dtype=dtype)
    found: np.ndarray = getattr(model, what)(part)
    return found


def _kind(model: Any, what: str) -> tuple[tuple[int, ...], Any]:
    """Return shape (without the examples) and type of an answer."""
    outputs, M = model._model.weights.shape
    several = (outputs,) if outputs > 1 else ()
    if what == "contributions":
        return (*several, M), float
    if what == "predict_proba":
        return (len(model.classes_),), float
    if what != "predict" or not hasattr(model, "classes_"):
        return (several if not hasattr(model, "offset_") else ()), int if _marks(
            model, what
        ) else float
    labels = getattr(model, "multilabel_", False)
    return (several, int) if labels else ((), model.classes_.dtype)


def _marks(model: Any, what: str) -> bool:
    """Return whether an answer says inside or outside."""
    return what == "predict" and hasattr(model, "offset_")


def local(values: Any, cluster: Cluster) -> Any:
    """Return targets or weights of examples as an array here, wherever they are."""
    if not is_collection(values):
        return values
    parts = cluster.gather(cluster.compute(partitions(values, "y")))
    return np.concatenate([np.asarray(part) for part in parts])
