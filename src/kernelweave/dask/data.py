"""The training examples on a cluster: partitions, their sizes, and a local sample of rows.

Parameters of kernels that depend on data (gamma, categories, normalisation factors) are determined
from a sample of evenly spaced examples, as for local estimators, and from statistics that each
partition computes from its examples.
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

Kind = tuple[str, str, tuple[Any, ...]]
"""Name, dtype and categories of a column of a data frame."""


@dataclass(frozen=True)
class Report:
    """Size, columns and package version of a partition, as reported by its worker.

    Attributes
    ----------
    n : int
        Number of examples.
    version : str
        Version of this package on the worker.
    columns : int
        Number of columns.
    kinds : tuple of (name, dtype, categories)
        For each column of a data frame; empty for other data.
    """

    n: int
    version: str
    columns: int
    kinds: tuple[Kind, ...]


def report(part: Any) -> Report:
    """Describe a partition, so that the client can check that partitions and workers agree."""
    n = len(part) if isinstance(part, list) else part.shape[0]
    X = as_input(part) if n else part
    columns = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 1
    kinds = _kinds(X) if is_frame(X) else ()
    return Report(n, __version__, columns, kinds)


def _kinds(X: Any) -> tuple[Kind, ...]:
    listed = [tuple(getattr(dtype, "categories", ())) for dtype in X.dtypes]
    types = [getattr(dtype, "name", str(dtype)) for dtype in X.dtypes]
    return tuple(zip(map(str, X.columns), types, listed, strict=True))


def some_rows(part: object, rows: np.ndarray) -> object:
    """Return the examples of a partition at the given positions."""
    if isinstance(part, list):  # texts
        return [part[row] for row in rows]
    return _safe_indexing(as_input(part), rows)


@dataclass(frozen=True, eq=False)
class Data:
    """Training examples on a cluster.

    Attributes
    ----------
    cluster : Cluster
        The cluster whose workers have the partitions.
    parts : sequence of futures
        The partitions that are not empty.
    sizes : array of shape (partitions,)
        Number of examples of each partition.
    labels : sequence of str
        Names of the partitions in messages.
    chosen : array of positions
        At most `MOST_EXAMPLES` evenly spaced examples, sorted.
    sample : the examples `chosen`, in local memory
    """

    cluster: Cluster
    parts: Sequence[Future]
    sizes: np.ndarray
    labels: Sequence[str]
    chosen: np.ndarray
    sample: Any

    @classmethod
    def of(cls, X: object, cluster: Cluster) -> Data:
        """Compute and inspect the partitions of a collection.

        Raises
        ------
        ValueError
            If X is not a Dask collection, is empty or too large, or if its partitions differ in
            their columns.
        """
        parts = partitions(X)
        labels = labels_of(X, len(parts))
        if known_bytes(X) > cluster.memory:
            raise ValueError(
                f"X has a partition of {known_bytes(X) / 2**30:.2g} GB, more than the "
                f"{cluster.memory / 2**30:.2g} GB that a worker may use; make partitions smaller "
                "(rechunk, repartition), or give workers more memory"
            )
        futures = cluster.compute(parts)
        reports = cluster.gather([cluster.submit("report", report, one) for one in futures])
        _check_alike(reports, labels)
        sizes = np.array([one.n for one in reports])
        filled = np.flatnonzero(sizes)
        if not len(filled):
            raise ValueError("X is empty: it must have at least one example")
        n = int(sizes.sum())
        chosen = np.linspace(0, n - 1, min(n, MOST_EXAMPLES)).astype(np.int64)
        parts, sizes = [futures[k] for k in filled], sizes[filled]
        sample = _fetched(cluster, parts, sizes, chosen)
        return cls(cluster, parts, sizes, [labels[k] for k in filled], chosen, sample)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and of columns."""
        width = as_input(self.sample).shape[1]
        return int(self.sizes.sum()), width

    @property
    def is_sampled(self) -> bool:
        """Whether the sample is smaller than the training data."""
        return len(self.chosen) < self.shape[0]


def _fetched(
    cluster: Cluster, parts: Sequence[Future], sizes: np.ndarray, chosen: np.ndarray
) -> object:
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
    """Raise ValueError if partitions have different columns, or workers different versions."""
    filled = [(one, label) for one, label in zip(reports, labels, strict=True) if one.n]
    for one, label in zip(reports, labels, strict=True):
        if one.version != __version__:
            raise ValueError(
                f"X: {label} was read by kernelweave {one.version}, but this is {__version__}; "
                "install the same version on all workers"
            )
    for one, label in filled[1:]:
        first, before = filled[0]
        if one.columns != first.columns:
            raise ValueError(
                f"X: {label} has {one.columns} columns, but {before} has {first.columns}; all "
                "partitions must have the same columns"
            )
        for mine, theirs in zip(one.kinds, first.kinds, strict=True):
            _check_column(mine, theirs, label, before)


def _check_column(mine: Kind, theirs: Kind, label: str, before: str) -> None:
    """Raise ValueError if a column of one partition differs from that of another."""
    name, kind, categories = mine
    if name != theirs[0]:
        raise ValueError(f"X: {label} has a column {name!r} where {before} has {theirs[0]!r}")
    if kind != theirs[1]:
        raise ValueError(f"X: column {name!r} is {kind} in {label}, but {theirs[1]} in {before}")
    if categories != theirs[2]:
        raise ValueError(
            f"X: column {name!r} has other categories in {label} than in {before}; call "
            "X.categorize() first"
        )
