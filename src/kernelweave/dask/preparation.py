"""Load the partitions of the training data on workers, and build the engine that trains on them."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from distributed import Future

from ..common.core import single_threaded_blas
from ..engines import FamilyEngine, LinearEngine, TrainingSet
from ..engines.fetched import LocalEngines
from ..engines.shard import Shard, VaryingKernels
from ..engines.sharded import ShardedEngine
from ..estimators.prepared import Prepared
from ..kernels import CompiledKernels
from ..kernels.compile.examples import Examples, Reading
from ..kernels.data.absent import absent_of_all, is_extrapolated
from ..kernels.vector.identity import IdTable
from ..model.files.checkpoint import digest
from ..problem.rounding import Bounds, RoundingBounds
from .data import Data
from .shards import DaskShards

NAME = "sharded"  # name of the engine in plans
# The client fetches more examples if all kernels are linear and an example has at most this size
# in bytes.
LIGHT_BYTES = 256


@dataclass(frozen=True, eq=False)
class RemoteExamples:
    """The training examples on the workers, which the client can fetch.

    Attributes
    ----------
    engine : ShardedEngine
        The engine that fetches and caches examples.
    digests : tuple of str
        Digest of the examples of each shard; empty without checkpoints.
    """

    engine: ShardedEngine
    digests: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.engine.n

    @property
    def tables(self) -> tuple[str, ...]:
        """The digests, which identify the examples in checkpoints."""
        return self.digests

    def take(self, index: np.ndarray) -> Examples:
        """Return the examples at the given positions."""
        return self.engine.fetched.take(index, np.flatnonzero(self.engine.alpha))

    def part(self, sources: list[int]) -> Examples:
        """Return all examples for kernels that read only some of the sources.

        A source computes a quantity, such as dot products, from some columns. Since all examples
        are fetched, this is for small training sets only.
        """
        return self.take(np.arange(self.n)).part(sources)

    def reference(self, index: np.ndarray) -> Examples:
        """Return the examples at the given positions, reduced to the data that models save."""
        return self.take(index).reference(np.arange(len(index)))


@dataclass(frozen=True, eq=False)
class WorstBounds(RoundingBounds):
    """Rounding bounds of kernels on remote examples: the largest bounds apply to all examples.

    Attributes
    ----------
    worst : array of shape (M, 2)
        For each kernel, the largest bound on its values and on their rounding errors.
    """

    worst: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))

    def bounds(self, alike: np.ndarray) -> Bounds:
        return self.worst[alike, :1], self.worst[alike, 1:]


def largest_bounds(shard: Shard, precision: float) -> np.ndarray:
    """Return the largest bounds on values and rounding errors on a shard, shape (M, 2)."""
    kernels = shard.kernels
    rounding = RoundingBounds(kernels.listing, kernels.encoded(shard.examples), precision)
    bounds = [rounding.bounds(np.array([m])) for m in range(kernels.listing.n_kernels)]
    return np.array([[np.max(size), np.max(error)] for size, error in bounds])


@dataclass(frozen=True)
class ShardOptions:
    """Options of training on shards.

    Attributes
    ----------
    cache_mb : float
        Size of the cache of the client in megabytes.
    n_jobs : int
        Number of threads of the client.
    keyed : bool
        Whether checkpoints need the digests of the examples.
    combines : bool
        Whether all solvers need mainly the weighted sum of the kernels, not single kernels.
    """

    cache_mb: float
    n_jobs: int
    keyed: bool
    combines: bool


def prepared_shards(
    compiled: CompiledKernels,
    data: Data,
    sample: Examples,
    costs: np.ndarray,
    options: ShardOptions,
) -> Prepared:
    """Load all partitions on the workers, and return an engine for them.

    Parameters
    ----------
    compiled : CompiledKernels
        The normalised kernels.
    data : Data
        The training examples.
    sample : Examples
        The sample of `data`, encoded for the kernels.
    costs : array of shape (n,)
        Costs of all examples.
    options : ShardOptions
        Cache, threads and requirements of the solvers.
    """
    combines = options.combines
    chosen = VaryingKernels(compiled, family=False)
    on_sample = TrainingSet(chosen.listing, chosen.encoded(sample))
    chosen = replace(chosen, family=combines and FamilyEngine.serves(on_sample))
    light = chosen.listing.is_linear and is_light(Shard(chosen, sample))
    linear = combines and LinearEngine.serves(on_sample)
    local = LocalEngines(chosen, linear, options.cache_mb, options.n_jobs, light)
    shards = DaskShards(data.cluster, _loaded(data, chosen), data.sizes)
    engine = ShardedEngine(shards, local)
    worst = np.max(shards.call(largest_bounds, (engine.precision,)), axis=0)
    digests = tuple(shards.call(digest_of)) if options.keyed else ()
    remote: Any = RemoteExamples(engine, digests)  # has the methods of Examples that models use
    rounding = WorstBounds(chosen.listing, remote, engine.precision, worst=worst)
    shares = costs / costs.sum()
    return Prepared(compiled, remote, sample, engine, NAME, rounding, shares)


def is_light(shard: Shard) -> bool:
    """Return whether the examples of a shard have at most `LIGHT_BYTES` on average."""
    return sys.getsizeof(shard) <= LIGHT_BYTES * shard.n


def digest_of(shard: Shard) -> str:
    """Return the digest of the examples of a shard."""
    return digest(shard.examples.tables)


def _loaded(data: Data, kernels: VaryingKernels) -> list[Future]:
    """Return the shards; raise ValueError if the examples of one cannot be read."""
    cluster, starts = data.cluster, np.cumsum(data.sizes) - data.sizes
    n_jobs = max(1, cluster.threads // len(data.parts))
    message = cluster.share((kernels, n_jobs), len(data.parts))
    parts = zip(data.parts, data.labels, starts.tolist(), strict=True)
    shards = [cluster.submit("load", load, part, message, *where) for part, *where in parts]
    cluster.gather([cluster.submit("loaded", is_there, shard) for shard in shards])
    return shards


def is_there(shard: Shard) -> bool:
    """Return True. As a task it waits until the shard is loaded, or raises the error of `load`."""
    return shard.n > 0


def load(part: object, message: bytes, label: str, start: int) -> Shard:
    """Return a partition of the training data as a `Shard`: its examples, encoded for the kernels.

    Parameters
    ----------
    part : the examples of the partition
    message : bytes
        The pickled kernels and number of threads.
    label : str
        Name of the partition in errors.
    start : int
        Position of its first example in the training data.

    Raises
    ------
    ValueError
        If the kernels cannot read an example; the message names the partition.
    """
    kernels, n_jobs = pickle.loads(message)
    reading = Reading(part, training=False, n_jobs=n_jobs)
    try:
        with single_threaded_blas():
            _check_present(kernels.compiled, reading)
            examples = _numbered(kernels.compiled.read(reading), start)
            shard = Shard(kernels, examples, n_jobs)
            _check_finite(shard)
    except ValueError as error:
        raise ValueError(f"X, {label}: {error}") from error
    return shard


def _check_present(compiled: CompiledKernels, reading: Reading) -> None:
    """Raise ValueError if an example lacks a view (the columns of a kernel) that the sample has."""
    absent = absent_of_all(compiled, reading)
    if absent is None or is_extrapolated(compiled):
        return
    for name, row, expression in zip(
        compiled.names, absent, compiled.listing.expressions, strict=True
    ):
        known = any(step[0] == "absent" for step in expression)
        if row.any() and not known:
            raise ValueError(
                f"example {int(np.argmax(row))} has only NaN in the columns of kernel {name!r}, "
                "but no example of the sample on which kernels are normalised has; impute or drop "
                "the example"
            )


def _check_finite(shard: Shard) -> None:
    sizes = shard.largest_values()
    if not np.isfinite(sizes).all():
        raise ValueError(
            f"kernel {int(np.argmin(np.isfinite(sizes)))} overflows: k(x, x) is not finite for "
            "some example; scale X down, or take smaller parameters"
        )


def _numbered(examples: Examples, start: int) -> Examples:
    """Return examples with their positions in the training data, for identity kernels."""
    tables = [
        IdTable(np.arange(start, start + examples.n)) if isinstance(table, IdTable) else table
        for table in examples.tables
    ]
    return replace(examples, tables=tuple(tables))
