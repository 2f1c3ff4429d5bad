"""The examples of a fit on a cluster: partitions, what is known of them, and a sample of rows.

What kernels take from data (widths, categories, factors of normalisations) they take on one machine
from all examples or from evenly spaced ones. Here they take it from the same evenly spaced
examples, and from what each partition reports of all of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future
from sklearn.utils import _safe_indexing

from .. import __version__
from ..kernels.compile.normalized_kernels import MOST_EXAMPLES
from ..kernels.data.inputs import as_input, is_frame
from .cluster import Cluster
from .collections import concatenated, known_bytes, labels_of, partitions


@dataclass(frozen=True)
class Report:
    """What a partition says of itself.

    Attributes
    ----------
    n : number of examples.
    version : that of this package on the worker.
    columns : number of columns.
    kinds : for each column of a frame its name, type and the categories that the type lists.
    """

    n: int
    version: str
    columns: int
    kinds: tuple[tuple[str, str, tuple[Any, ...]], ...]


def report(part: Any) -> Report:
    """Return what a partition holds."""
    n = len(part) if isinstance(part, list) else part.shape[0]
    X = as_input(part) if n else part
    columns = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 1
    kinds = _kinds(X) if is_frame(X) else ()
    return Report(n, __version__, columns, kinds)


def _kinds(X: Any) -> tuple[tuple[str, str, tuple[Any, ...]], ...]:
    listed = [tuple(getattr(dtype, "categories", ())) for dtype in X.dtypes]
    types = [getattr(dtype, "name", str(dtype)) for dtype in X.dtypes]
    return tuple(zip(map(str, X.columns), types, listed, strict=True))


def some_rows(part: Any, rows: np.ndarray) -> Any:
    """Return some examples of a partition."""
    if isinstance(part, list):  # texts
        return [part[row] for row in rows]
    return _safe_indexing(as_input(part), rows)


@dataclass(frozen=True, eq=False)
class Data:
    """Examples on a cluster.

    Attributes
    ----------
    cluster : where they are.
    parts : the partitions that hold examples.
    sizes : number of examples of each, (partitions,).
    labels : what messages call them.
    chosen : evenly spaced examples of all, at most `MOST_EXAMPLES`, sorted.
    sample : these examples, on this machine.
    """

    cluster: Cluster
    parts: Sequence[Future]
    sizes: np.ndarray
    labels: Sequence[str]
    chosen: np.ndarray
    sample: Any

    @classmethod
    def of(cls, X: Any, cluster: Cluster) -> Data:
        """Look at the partitions of a collection.

        Raises
        ------
        ValueError : where X is no collection, or its partitions do not belong together.
        """
        parts = partitions(X)
        labels = labels_of(X, len(parts))
        if known_bytes(X) > cluster.memory:
            raise ValueError(
                f"X has a partition of {known_bytes(X) / 2**30:.2g} GB, more than the "
                f"{cluster.memory / 2**30:.2g} GB that a worker may use: make partitions smaller "
                "(rechunk, repartition), or give workers more memory"
            )
        futures = cluster.compute(parts)
        reports = cluster.gather([cluster.submit("report", report, one) for one in futures])
        _check_alike(reports, labels)
        sizes = np.array([one.n for one in reports])
        held = np.flatnonzero(sizes)
        if not len(held):
            raise ValueError("X is empty: no partition holds an example")
        n = int(sizes.sum())
        chosen = np.linspace(0, n - 1, min(n, MOST_EXAMPLES)).astype(np.int64)
        parts, sizes = [futures[k] for k in held], sizes[held]
        sample = _fetched(cluster, parts, sizes, chosen)
        return cls(cluster, parts, sizes, [labels[k] for k in held], chosen, sample)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and of columns."""
        width = as_input(self.sample).shape[1]
        return int(self.sizes.sum()), width

    @property
    def is_sampled(self) -> bool:
        """Whether there are examples that are not in the sample."""
        return len(self.chosen) < self.shape[0]


def _fetched(
    cluster: Cluster, parts: Sequence[Future], sizes: np.ndarray, chosen: np.ndarray
) -> Any:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.searchsorted(chosen, starts)
    each = zip(parts, ends[:-1], ends[1:], starts[:-1], strict=True)
    tasks = [
        cluster.submit("sample", some_rows, part, chosen[a:b] - start)
        for part, a, b, start in each
        if a < b
    ]
    return concatenated(cluster.gather(tasks))


def _check_alike(reports: Sequence[Report], labels: Sequence[str]) -> None:
    """Raise where partitions are of different kinds, or workers of different versions."""
    held = [(one, label) for one, label in zip(reports, labels, strict=True) if one.n]
    for one, label in zip(reports, labels, strict=True):
        if one.version != __version__:
            raise ValueError(
                f"{label} was read by kernelweave {one.version}, but this is {__version__}: "
                "install the same version on all workers"
            )
    for one, label in held[1:]:
        first, before = held[0]
        if one.columns != first.columns:
            raise ValueError(
                f"X: {label} has {one.columns} columns, but {before} has {first.columns}"
            )
        for mine, theirs in zip(one.kinds, first.kinds, strict=True):
            _check_column(mine, theirs, label, before)


def _check_column(mine: Any, theirs: Any, label: str, before: str) -> None:
    name, kind, categories = mine
    if name != theirs[0]:
        raise ValueError(f"X: {label} has a column {name!r} where {before} has {theirs[0]!r}")
    if kind != theirs[1]:
        raise ValueError(f"X: column {name!r} is {kind} in {label}, but {theirs[1]} in {before}")
    if categories != theirs[2]:
        raise ValueError(
            f"X: column {name!r} has other categories in {label} than in {before}: call "
            "X.categorize() first"
        )
