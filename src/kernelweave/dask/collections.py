"""Accepted Dask collections, and their partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask import delayed, is_dask_collection
from dask.array import Array
from dask.bag import Bag
from dask.delayed import Delayed

from ..common.types import Data
from ..kernels.data.views import Views
from ..sequences import Sequences

ACCEPTED = (
    "a Dask array with one chunk of columns, a Dask DataFrame, a bag of texts, the blocks of "
    "kernelweave.dask.read_sequences, or a dict of these by the names of views"
)


@dataclass(frozen=True, eq=False)
class SequenceBlocks:
    """Sequences in blocks that workers read on demand; the result of `read_sequences`.

    Parameters
    ----------
    blocks : tuple of delayed `Sequences`
    labels : tuple of str
        Names of the blocks in messages.

    Examples
    --------
    >>> from kernelweave.dask import read_sequences
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.sequences import write_sequences
    >>> write_sequences("many.fa", make_motifs(300)[0])
    >>> blocks = read_sequences("many.fa", blocksize=8000)
    >>> blocks.npartitions
    3
    >>> sum(len(block.compute()) for block in blocks.blocks)
    300
    """

    blocks: tuple[Delayed, ...]
    labels: tuple[str, ...]

    @property
    def npartitions(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    def __repr__(self) -> str:
        return f"<SequenceBlocks: {self.npartitions} blocks>"


def is_collection(X: Data) -> bool:
    """Return whether X is a Dask collection, or a dict that contains one."""
    if isinstance(X, Mapping):
        return any(is_collection(table) for table in X.values())
    return isinstance(X, SequenceBlocks) or is_dask_collection(X)


def partitions(X: Data, name: str = "X") -> list[Delayed]:
    """Return the partitions of a collection.

    Parameters
    ----------
    X : Dask collection, or dict of them
    name : str
        Name of the argument, for error messages.

    Raises
    ------
    ValueError
        If X is not a Dask collection, or is split along its columns.
    """
    if isinstance(X, SequenceBlocks):
        return list(X.blocks)
    if isinstance(X, Mapping):
        return _partitions_of_views(X)
    if isinstance(X, Array):
        _check_chunks(X, name)
        return list(X.to_delayed().ravel())
    if isinstance(X, Bag) or hasattr(X, "to_delayed"):  # bags, frames and series
        return list(X.to_delayed())
    raise ValueError(
        f"{name} must be {ACCEPTED}, got a {type(X).__name__}; for data in local memory use the "
        "local estimators, such as MKLClassifier"
    )


def labels_of(X: Data, count: int) -> list[str]:
    """Return the names of the `count` partitions of X, for error messages."""
    known = X.labels if isinstance(X, SequenceBlocks) else ()
    return [f"partition {k}" + (f" ({known[k]})" if known else "") for k in range(count)]


def _check_chunks(X: Array, name: str) -> None:
    if X.ndim not in (1, 2):
        raise ValueError(f"{name} must be a Dask array with one row per example, got {X.ndim} axes")
    if X.ndim == 2 and X.numblocks[1] > 1:
        raise ValueError(
            f"{name} is split along its columns into {X.numblocks[1]} chunks, but a partition must "
            f"contain whole rows; call {name}.rechunk({{1: -1}})"
        )
    if np.isnan(X.chunks[0]).any():
        raise ValueError(
            f"{name} has chunks of unknown sizes; call {name}.compute_chunk_sizes() first"
        )


def _partitions_of_views(X: Mapping[str, object]) -> list[Delayed]:
    parts = {view: partitions(table, f"X[{view!r}]") for view, table in X.items()}
    counts = {view: len(each) for view, each in parts.items()}
    if len(set(counts.values())) != 1:
        raise ValueError(
            f"X: views must have the same partitions, but their numbers differ: {counts}; "
            "repartition them"
        )
    tables = zip(*parts.values(), strict=True)
    return [delayed(Views)(dict(zip(parts, each, strict=True))) for each in tables]


def known_bytes(X: Data) -> int:
    """Return the size of the largest partition in bytes, or 0 if it is unknown."""
    if isinstance(X, Mapping):
        return max((known_bytes(table) for table in X.values()), default=0)
    if not isinstance(X, Array) or np.isnan(X.chunks[0]).any():
        return 0
    return int(max(X.chunks[0]) * X.dtype.itemsize * (X.shape[1] if X.ndim == 2 else 1))


def concatenated(parts: Sequence[Any]) -> Any:
    """Return the concatenation of several partitions."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, list):
        return [row for part in parts for row in part]
    if isinstance(first, Views):
        return Views({view: concatenated([part[view] for part in parts]) for view in first.names})
    if isinstance(first, Sequences):
        return Sequences.concatenated(list(parts))
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(parts)
    if sp.issparse(first):
        return sp.vstack(parts, format="csr")
    return np.concatenate(parts)
