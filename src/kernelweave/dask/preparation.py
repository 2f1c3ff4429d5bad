"""Kernels on the examples of a cluster, ready to be learned with."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Future

from ..common.core import single_threaded_blas
from ..engines import FamilyEngine, LinearEngine, TrainingSet
from ..engines.fetched import Near
from ..engines.shard import Shard, Varying
from ..engines.sharded import ShardedEngine
from ..estimators.base import Prepared
from ..kernels import CompiledKernels
from ..kernels.compile.examples import Examples, Reading
from ..kernels.data.absent import absent_of_all, is_extrapolated
from ..kernels.vector.identity import IdTable
from ..model.files.checkpoint import digest
from ..problem.rounding import Bounds, Digits
from .data import Data
from .shards import DaskShards

NAME = "sharded"  # of the engine, in plans
LIGHT_BYTES = 256  # of an example, up to which many of them are fetched where they need no pairs


@dataclass(frozen=True, eq=False)
class FarExamples:
    """The training examples, of which some can be fetched."""

    engine: ShardedEngine
    digests: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.engine.n

    @property
    def tables(self) -> tuple[str, ...]:
        """What tells the tables of these examples from others."""
        return self.digests

    def take(self, index: np.ndarray) -> Examples:
        """Return some examples."""
        return self.engine.fetched.take(index, np.flatnonzero(self.engine.alpha))

    def part(self, sources: list[int]) -> Examples:
        """Return all examples for some of the sources; models ask where there are few of them."""
        return self.take(np.arange(self.n)).part(sources)

    def reference(self, index: np.ndarray) -> Examples:
        """Return some examples as what new ones are compared with."""
        return self.take(index).reference(np.arange(len(index)))


@dataclass(frozen=True, eq=False)
class WorstDigits(Digits):
    """The rounding of kernels on examples elsewhere: each has that of the worst.

    Attributes
    ----------
    worst : (M, 2), the largest of the bounds of each kernel.
    """

    worst: Any = None

    def bounds(self, alike: np.ndarray) -> Bounds:
        return self.worst[alike, :1], self.worst[alike, 1:]


def worst_digits(shard: Shard, precision: float) -> np.ndarray:
    """Return the largest bounds of each kernel on a shard, shape (M, 2)."""
    kernels = shard.kernels
    digits = Digits(kernels.listing, kernels.seen(shard.examples), precision)
    bounds = [digits.bounds(np.array([m])) for m in range(kernels.listing.n_kernels)]
    return np.array([[np.max(size), np.max(error)] for size, error in bounds])


def far_prepared(
    compiled: CompiledKernels,
    data: Data,
    sample: Examples,
    costs: np.ndarray,
    *,
    cache_mb: float,
    n_jobs: int,
    keyed: bool,
    combines: bool,
) -> Prepared:
    """Read all examples where they are, and give them an engine.

    Parameters
    ----------
    sample : some of the examples, as kernels read them.
    costs : of all examples, shape (n,).
    cache_mb, n_jobs : for examples that are fetched.
    keyed : whether a checkpoint needs to know the examples.
    combines : whether methods ask little of single kernels.
    """
    chosen = Varying(compiled, family=False)
    on_sample = TrainingSet(chosen.listing, chosen.seen(sample))
    chosen = replace(chosen, family=combines and FamilyEngine.serves(on_sample))
    light = chosen.listing.is_linear and is_light(Shard(chosen, sample))
    linear = combines and LinearEngine.serves(on_sample)
    near = Near(chosen, linear, cache_mb, n_jobs, light)
    shards = DaskShards(data.cluster, _loaded(data, chosen), data.sizes)
    engine = ShardedEngine(shards, near)
    worst = np.max(shards.ask(worst_digits, (engine.precision,)), axis=0)
    digests = tuple(shards.ask(digest_of)) if keyed else ()
    far: Any = FarExamples(engine, digests)
    digits = WorstDigits(chosen.listing, far, engine.precision, worst=worst)
    shares = costs / costs.sum()
    return Prepared(compiled, far, sample, engine, NAME, digits, shares)


def is_light(shard: Shard) -> bool:
    """Return whether many examples like those of a shard are few bytes."""
    return sys.getsizeof(shard) <= LIGHT_BYTES * shard.n


def digest_of(shard: Shard) -> str:
    """Return what tells the examples of a shard from others."""
    return digest(shard.examples.tables)


def _loaded(data: Data, kernels: Varying) -> list[Future]:
    """Return the shards; raise what is wrong with the examples of one."""
    cluster, starts = data.cluster, np.cumsum(data.sizes) - data.sizes
    n_jobs = max(1, cluster.threads // len(data.parts))
    message = cluster.share((kernels, n_jobs), len(data.parts))
    parts = zip(data.parts, data.labels, starts.tolist(), strict=True)
    shards = [cluster.submit("load", load, part, message, *where) for part, *where in parts]
    cluster.gather([cluster.submit("loaded", is_there, shard) for shard in shards])
    return shards


def is_there(shard: Shard) -> bool:
    """Return that a shard was loaded."""
    return shard.n > 0


def load(part: Any, message: bytes, label: str, start: int) -> Shard:
    """Return a partition as a shard.

    Parameters
    ----------
    message : the kernels and the number of threads, packed.
    label : what errors call the partition.
    start : how many examples come before it.

    Raises
    ------
    ValueError : where kernels cannot read an example; the message names the partition.
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
    """Raise where a view is absent that is absent for none of the sample."""
    absent = absent_of_all(compiled, reading)
    if absent is None or is_extrapolated(compiled):
        return
    for name, row, expression in zip(
        compiled.names, absent, compiled.listing.expressions, strict=True
    ):
        known = any(step[0] == "absent" for step in expression)
        if row.any() and not known:
            raise ValueError(
                f"example {int(np.argmax(row))} holds NaN only in what kernel {name!r} reads, as "
                "no example does of the sample that kernels are normalised on; fill or drop it"
            )


def _check_finite(shard: Shard) -> None:
    sizes = shard.largest_values()
    if not np.isfinite(sizes).all():
        raise ValueError(
            f"kernel {int(np.argmin(np.isfinite(sizes)))} has no finite value k(x, x) for some "
            "example: the numbers in X, or parameters of the kernel, are too large; scale X down"
        )


def _numbered(examples: Examples, start: int) -> Examples:
    """Return examples with their numbers among all training examples, where kernels ask for it."""
    tables = [
        IdTable(np.arange(start, start + examples.n)) if isinstance(table, IdTable) else table
        for table in examples.tables
    ]
    return replace(examples, tables=tuple(tables))
