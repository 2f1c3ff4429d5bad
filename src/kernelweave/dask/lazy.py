"""Lazy predictions for Dask collections."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask import delayed
from dask.array import Array, concatenate, from_delayed

from ..common.types import Data
from .cluster import Cluster
from .collections import is_collection, partitions


def lazily(model: object, name: str, X: Data) -> Array:
    """Return the results of a method of a fitted estimator for a collection as a Dask array.

    Parameters
    ----------
    model : fitted local estimator
    name : str
        Name of a method that returns one row per example, such as "predict".
    X : Dask collection
        If its chunk sizes are unknown, so are those of the result.
    """
    shape, dtype = _shape_and_dtype(model, name)
    one, parts = delayed(model, pure=True), partitions(X)
    sizes = X.chunks[0] if isinstance(X, Array) else (np.nan,) * len(parts)
    answers = [delayed(apply)(one, name, part, shape, dtype) for part in parts]
    arrays = [
        from_delayed(answer, (size, *shape), dtype=dtype)
        for answer, size in zip(answers, sizes, strict=True)
    ]
    return concatenate(arrays, allow_unknown_chunksizes=True)


def apply(model: Any, name: str, part: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return the result of a method of a model for a partition, which may be empty."""
    if len(part) == 0:
        return np.empty((0, *shape), dtype=dtype)
    return getattr(model, name)(part)


def _shape_and_dtype(model: Any, name: str) -> tuple[tuple[int, ...], object]:
    """Return the shape (without the axis of examples) and the dtype of the result of a method."""
    outputs, M = model._model.weights.shape
    several = (outputs,) if outputs > 1 else ()
    if name == "contributions":
        return (*several, M), float
    if name == "predict_proba":
        return (len(model.classes_),), float
    if hasattr(model, "offset_"):  # one class: +1 and -1, or decision values
        return (), int if name == "predict" else float
    if name != "predict" or not hasattr(model, "classes_"):
        return several, float
    labels = getattr(model, "multilabel_", False)
    return (several, int) if labels else ((), model.classes_.dtype)


def local(values: object, cluster: Cluster) -> object:
    """Return targets or weights as a local array; local values are returned unchanged."""
    if not is_collection(values):
        return values
    parts = cluster.gather(cluster.compute(partitions(values, "y")))
    return np.concatenate([np.asarray(part) for part in parts])
